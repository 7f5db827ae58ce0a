"""Receipts: what vendors say of messages afterwards, and what follows from it."""
