"""Secrets that were entered over the API: sealed, named by accounts as `sealed://…`, never shown."""
