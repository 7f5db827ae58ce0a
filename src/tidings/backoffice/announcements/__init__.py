"""Announcements: what changes say to the open streams of operators' devices, in the transaction of the change."""
