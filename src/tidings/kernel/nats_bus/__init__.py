"""The bus with its stream on NATS JetStream: outbox → relay → JetStream → consumer groups. See `docs/bus.md`.

Groups, leases, retries and dead letters stay in Postgres, in `kernel.postgres_bus`; only what relays write and consumers
read is elsewhere. Nothing is imported here: the client is an extra, and a start without NATS must not pay for it.
"""
