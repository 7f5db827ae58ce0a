"""Triggers: which event sends what to whom, and when; and what later events move or clear."""
