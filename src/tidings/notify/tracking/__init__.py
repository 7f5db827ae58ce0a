"""Tracking: whether mails are opened and their links followed, where the tenant and the category allow it."""
