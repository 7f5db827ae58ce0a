"""Batches: one template to many people, each of them exactly once."""
