"""What the database says about the writes of a `Writer`."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import asyncpg

from tests.support.running import RunningTidings, wait_until

T = TypeVar("T")


def assert_nothing_is_lost_or_doubled(
    tidings: RunningTidings, *, keys: Sequence[str], tenants: Sequence[str]
) -> None:
    """Every key and tenant that was answered is there, its event is on the bus once and had its effect once."""
    stored_keys, stored_tenants = _ask(tidings, _rows)
    assert set(keys) <= stored_keys
    assert set(tenants) <= stored_tenants
    wait_until(lambda: _ask(tidings, _outbox) == 0, "the outbox to be empty")
    # What was not answered may have happened or not; either way its event says the same.
    created = _ask(tidings, _events)
    for prefix, stored in (("api_key.created", stored_keys), ("tenant.created", stored_tenants)):
        on_bus = Counter(key for subject, key in created if subject.startswith(prefix))
        assert set(on_bus.values()) == {1}
        assert stored <= set(on_bus)
    wait_until(lambda: _ask(tidings, _with_keys) >= set(tenants), "every tenant to have its keys")
    assert _ask(tidings, _dead_letters) == 0


def _ask(tidings: RunningTidings, question: Callable[[asyncpg.Connection], Awaitable[T]]) -> T:
    async def ask() -> T:
        connection = await asyncpg.connect(tidings.demo["database_url"])
        try:
            return await question(connection)
        finally:
            await connection.close()

    return asyncio.run(ask())


async def _rows(connection: asyncpg.Connection) -> tuple[set[str], set[str]]:
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_platform")
        keys = await connection.fetch("SELECT id FROM notification.api_keys")
        tenants = await connection.fetch("SELECT tenant_id FROM notification.tenants_local")
    return {row["id"] for row in keys}, {row["tenant_id"] for row in tenants}


async def _events(connection: asyncpg.Connection) -> list[tuple[str, str]]:
    """Subject of every event, and what it is about."""
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        rows = await connection.fetch(
            "SELECT subject, coalesce(payload::json ->> 'key_id', tenant_id) AS about FROM kernel.bus_events"
        )
    return [(row["subject"], row["about"]) for row in rows]


async def _outbox(connection: asyncpg.Connection) -> int:
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        count: int = await connection.fetchval("SELECT count(*) FROM notification.outbox")
    return count


async def _with_keys(connection: asyncpg.Connection) -> set[str]:
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        rows = await connection.fetch(
            "SELECT tenant_id FROM notification.consumed_events WHERE consumer_name = 'notify.tenant_keys'"
        )
    tenants = [row["tenant_id"] for row in rows]
    assert len(tenants) == len(set(tenants))
    return set(tenants)


async def _dead_letters(connection: asyncpg.Connection) -> int:
    async with connection.transaction():
        await connection.execute("SET LOCAL ROLE tidings_worker")
        count: int = await connection.fetchval("SELECT count(*) FROM kernel.dead_letters")
    return count
