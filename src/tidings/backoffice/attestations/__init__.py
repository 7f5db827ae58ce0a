"""Attestations: a second factor of now, for one action."""
