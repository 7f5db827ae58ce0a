"""SMTP: mail through any mail server."""
