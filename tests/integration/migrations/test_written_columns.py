"""No column promises what nothing does: each is written by some statement of the product, or says here why not yet."""

from typing import Final

import pytest

from tests.support.postgres import TestDatabase
from tests.support.rows import read_tables
from tests.support.written_columns import written_columns

#: Whole tables, or all tables of a schema, that belong to what is still to come.
_TO_COME: Final = {
    "kernel.hot_seen": "events from outside, which arrive more than once",
}
#: Single columns.
_WHY_NOT: Final = {
    "bff_backoffice.outbox.last_error": "a bus behind a network",
    "bff_backoffice.outbox.publish_attempts": "a bus behind a network",
    "chan.delivery_outbox.subject": "one subject, which is its default",
    "chan.outbox.publish_attempts": "a bus behind a network",
    "chan.outbox.last_error": "a bus behind a network",
    "chan.webhook_inbound.tenant_id": "a request may bring events of several tenants; each event has its own",
    "chan.fallback_executions.recorded_in": "the transaction, which is its default",
    "kernel.bus_stream.singleton": "one row",
    "notification.delivery_attempts.latency_ms": "rows of before; the router writes down the calls",
    "notification.delivery_attempts.raw_response_ref": "rows of before; the router writes down the calls",
    "notification.delivery_attempts.vendor_message_id": "rows of before; the router writes down the calls",
    "notification.digest_windows.claimed_until": "a claim ends with its worker, and needs no time",
    "notification.webhook_deliveries.claimed_by": "a worker claims the endpoint",
    "notification.webhook_deliveries.claimed_until": "a claim ends with its worker, and needs no time",
    "notification.webhook_deliveries.payload_ref": "what is told is small, and lies sealed in the row",
    "notification.webhook_subscriptions.consecutive_failures": "stands with the endpoint, where it changes",
    "notification.outbox.publish_attempts": "a bus behind a network",
    "notification.outbox.last_error": "a bus behind a network",
}
#: A default that is a moment writes the column.
_MOMENTS: Final = ("now()", "clock_timestamp()")


async def _unwritten(database: TestDatabase) -> set[str]:
    async with database.owner() as owner:
        tables = await read_tables(owner)
        moments = {
            row["name"]
            for row in await owner.fetch(
                "SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name, "
                "pg_get_expr(d.adbin, d.adrelid) AS value "
                "FROM pg_attrdef AS d JOIN pg_class AS c ON c.oid = d.adrelid "
                "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
                "JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = d.adnum"
            )
            if any(moment in row["value"] for moment in _MOMENTS)
        }
    written = written_columns()
    return {
        f"{table.name}.{column.name}"
        for table in tables
        for column in table.columns
        if not column.identity
        and (table.name.split(".")[1], column.name) not in written
        and f"{table.name}.{column.name}" not in moments
    }


def _to_come(column: str) -> bool:
    schema, table, _ = column.split(".")
    return schema in _TO_COME or f"{schema}.{table}" in _TO_COME


async def test_every_column_is_written(fresh_database: TestDatabase) -> None:
    """Fill it, or drop it; a column for later says here for what."""
    found = {column for column in await _unwritten(fresh_database) if not _to_come(column)}

    assert found - set(_WHY_NOT) == set(), "nothing in src/ writes these"
    assert set(_WHY_NOT) - found == set(), "these are written by now, or gone: take the line away"


async def test_what_is_to_come_is_not_there_yet(fresh_database: TestDatabase) -> None:
    """A table that something writes has to say so of each of its columns."""
    unwritten = await _unwritten(fresh_database)
    missing = {column.rpartition(".")[0] for column in unwritten}

    for name in _TO_COME:
        assert any(table == name or table.startswith(f"{name}.") for table in missing), name


async def test_a_new_column_is_noticed(fresh_database: TestDatabase) -> None:
    """With a constant for a default, too: a default is a promise that something else may stand there."""
    async with fresh_database.owner() as owner:
        await owner.execute(
            "ALTER TABLE chan.conversations ADD COLUMN mood text, ADD COLUMN stars int DEFAULT 5"
        )

    found = await _unwritten(fresh_database)

    assert {"chan.conversations.mood", "chan.conversations.stars"} <= found
    assert "chan.conversations.status" not in found


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("notifications", "status"),
        ("suppression_counts", "n"),
        ("schema_migrations", "oldest_release"),
        ("recipient_profiles", "viber_id_hash"),
        ("outbox", "envelope"),
    ],
)
def test_what_is_written_is_found(table: str, column: str) -> None:
    """By an INSERT, an UPDATE, a trigger's function, or a statement whose schema is filled in."""
    assert (table, column) in written_columns()
