"""The preference pages in a real browser."""
