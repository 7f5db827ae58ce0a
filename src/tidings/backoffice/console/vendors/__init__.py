"""Vendor accounts in the console: health, circuits, prices and pace, shares of channels, the meaning of codes."""
