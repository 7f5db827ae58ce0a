"""Adapters by account: found, opened, kept open, and called under a clock."""
