"""Tables whose rows come and go are vacuumed early, whatever the server's settings are."""

from typing import Final

from tests.support.postgres import TestDatabase

_QUEUE: Final = {
    "autovacuum_vacuum_scale_factor=0",
    "autovacuum_vacuum_threshold=1000",
    "autovacuum_vacuum_cost_delay=0",
    "vacuum_index_cleanup=on",
    "vacuum_truncate=false",
}
#: Claimed by workers, read in the order of their positions, or due at a time.
_QUEUES: Final = {
    "bff_backoffice.ai_decision_deliveries",
    "bff_backoffice.lock_actions",
    "bff_backoffice.outbox",
    "chan.executions_live",
    "chan.inbound_deliveries",
    "chan.outbox",
    "kernel.bus_parked",
    "notification.digest_windows",
    "notification.dispatch_batches",
    "notification.dispatch_queue",
    "notification.dispatch_requests",
    "notification.notification_scheduled",
    "notification.outbox",
    "notification.webhook_endpoints",
}
_LEDGERS: Final = {
    "bff_backoffice.announcements",
    "bff_backoffice.consumed_events",
    "bff_backoffice.device_proofs",
    "chan.consumed_events",
    "chan.conversation_messages",
    "chan.delivery_inbox",
    "chan.delivery_outbox",
    "chan.recipient_profiles",
    "chan.webhook_inbound_dedup",
    "kernel.data_keys",
    "kernel.hot_limits",
    "kernel.hot_seen",
    "notification.batch_counts",
    "notification.batch_people",
    "notification.consumed_events",
    "notification.counters",
    "notification.dedup_ledger",
    "notification.idempotency_keys",
    "notification.inboxes",
    "notification.received_event_ledger",
    "notification.recipient_addresses",
    "notification.recipients",
    "notification.trigger_firings",
    "notification.trigger_subjects",
}


async def _options(database: TestDatabase) -> dict[str, set[str]]:
    async with database.owner() as owner:
        rows = await owner.fetch(
            "SELECT oid::regclass::text AS name, coalesce(reloptions, '{}') AS options FROM pg_class WHERE relkind = 'r'"
        )
    return {row["name"]: set(row["options"]) for row in rows}


async def test_queues_are_vacuumed_after_a_thousand_rows_with_their_indexes(
    worker_database: TestDatabase,
) -> None:
    options = await _options(worker_database)

    assert {name for name, found in options.items() if found >= _QUEUE} == _QUEUES


async def test_large_tables_whose_rows_expire_do_not_wait_for_a_fifth_of_them(
    worker_database: TestDatabase,
) -> None:
    options = await _options(worker_database)

    assert {
        name for name, found in options.items() if "autovacuum_vacuum_scale_factor=0.02" in found
    } == _LEDGERS


async def test_what_workers_claim_is_stored_as_a_queue(worker_database: TestDatabase) -> None:
    """A new queue calls `kernel.store_as_queue`; messages of conversations are claimed once and stay for months."""
    async with worker_database.owner() as owner:
        rows = await owner.fetch(
            """SELECT DISTINCT attrelid::regclass::text AS name FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
               WHERE attname = 'claimed_by' AND NOT attisdropped AND relkind = 'r' AND NOT relispartition"""
        )

    assert {row["name"] for row in rows} <= _QUEUES | {"chan.conversation_messages"}
