"""Request and reply over core NATS: subjects, queue groups and inboxes; sealed, in parts where they are large, never stored."""

from tidings.kernel.nats_requests.requests import NatsRequests

__all__ = ["NatsRequests"]
