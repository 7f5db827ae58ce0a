"""Branding: how a tenant looks in mails and on pages."""
