"""Quiet hours: when they end, and what waits for that end when they change."""
