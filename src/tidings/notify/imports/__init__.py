"""Imports: files of suppressions, recipients and preferences, taken in line by line."""
