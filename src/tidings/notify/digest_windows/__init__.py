"""Digest windows: when they are flushed, how notifications join them, and how they move when a schedule changes."""
