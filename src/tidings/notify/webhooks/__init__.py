"""Webhooks: a tenant's own services are told of its events, signed, retried, and in order where that is asked for."""
