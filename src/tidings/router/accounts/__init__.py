"""Vendor accounts as they are stored: the owner of each, what it costs, and which one a tenant sends through."""
