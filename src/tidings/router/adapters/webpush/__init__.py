"""Web Push: messages to browsers."""
