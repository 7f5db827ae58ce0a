"""Webhooks in the console: endpoints, their deliveries, links for customers, and the routes of inbound messages."""
