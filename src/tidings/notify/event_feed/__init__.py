"""A tenant's events for readers outside: by pages, by a stream, and from a place that we keep for them."""
