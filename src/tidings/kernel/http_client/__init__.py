"""Requests over HTTP to hosts that others name: guarded on the address that is really connected to, bounded in time and size."""
