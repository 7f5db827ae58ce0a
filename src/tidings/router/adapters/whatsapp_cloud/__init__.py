"""WhatsApp, over Meta's Cloud API."""
