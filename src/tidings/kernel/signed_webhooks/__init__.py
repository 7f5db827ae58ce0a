"""Webhooks in the form of Standard Webhooks: secrets, signatures, one call and what became of it."""
