"""Dispatch: what is ready is claimed fairly, decided, rendered and handed to the router."""
