"""Dispatch: what is ready is claimed fairly, decided, put into words and handed to the router."""
