"""API keys in the console: made, rotated and revoked; a key is shown once."""
