"""Pages on digests: which are being gathered, what is in one, and when they come."""
