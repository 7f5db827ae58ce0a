"""Digests: windows that are due become one message for all that was gathered, and people see and flush those that are open."""
