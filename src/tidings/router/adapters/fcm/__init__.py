"""Firebase Cloud Messaging."""
