"""Channels of a tenant in the console: vendors, senders, credentials, DNS, tests."""
