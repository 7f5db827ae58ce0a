"""The same callbacks in order and out of it, and whether that makes a difference."""
