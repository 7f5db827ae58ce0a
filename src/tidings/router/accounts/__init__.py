"""Vendor accounts as they are stored: whose each is, what it costs, and which one a tenant sends through."""
