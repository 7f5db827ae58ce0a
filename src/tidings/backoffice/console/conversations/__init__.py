"""Conversations with people: who waits for an answer, what was said, and the answer."""
