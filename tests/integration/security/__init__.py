"""Attacks that once succeeded, or that must never."""
