"""Vendors' real protocols, as the sandbox speaks them: one file each."""
