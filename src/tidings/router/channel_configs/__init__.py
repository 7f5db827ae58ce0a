"""The router's side of channels: which vendor accounts a tenant sends through."""
