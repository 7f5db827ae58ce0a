"""Preferences, without a database."""
