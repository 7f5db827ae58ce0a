"""Devices of operators: whether they are there, how far they have come, and what they queued while they were offline."""
