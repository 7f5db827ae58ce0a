"""Suppressions: who must not be written to."""
