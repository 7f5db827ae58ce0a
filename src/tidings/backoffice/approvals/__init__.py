"""Approvals that somebody asks colleagues for: an alert of what waits, and its end."""
