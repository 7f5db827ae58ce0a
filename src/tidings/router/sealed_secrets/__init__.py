"""Secrets that were entered over the API: sealed, named by accounts as `sealed://…`, shown to nobody."""
