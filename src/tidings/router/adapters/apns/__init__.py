"""Apple Push Notification service."""
