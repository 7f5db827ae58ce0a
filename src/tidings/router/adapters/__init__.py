"""Vendors: one small file each, and what they share."""
