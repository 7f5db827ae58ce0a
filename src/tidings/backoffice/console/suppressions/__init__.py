"""Addresses that are held back: found, added, released, one by one or many at once."""
