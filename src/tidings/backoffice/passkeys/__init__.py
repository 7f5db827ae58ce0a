"""Passkeys (WebAuthn): keys in operators' devices that prove who sits there."""
