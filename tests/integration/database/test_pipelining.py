"""Pipelined transactions: BEGIN and COMMIT travel with statements, and all that holds of transactions holds of them."""

import asyncio
from typing import Any

import pytest

from tests.integration.database.test_transactions import PID, query
from tests.support.statements import counting
from tidings.kernel import errors
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TENANT, TenantId

WHO = query(
    "SELECT current_user || ' ' || current_setting('app.tenant_ids', true) || ' ' || current_setting('plan_cache_mode')"
)
KEYS = query("SELECT key FROM notification.idempotency_keys ORDER BY key")
WRITE = query(
    "INSERT INTO notification.idempotency_keys (tenant_id, scope, key, request_hash) VALUES (:mine, 's', :key, 'h') RETURNING key"
)
SLEEP = query("SELECT pg_sleep(:seconds)")


async def _keys(db: Database, tenant_id: TenantId) -> list[str]:
    async with db.tenants([tenant_id]) as tx:
        return [row["key"] for row in await tx.fetch(KEYS)]


async def _write(db: Database, tenant_id: TenantId, key: str, *, mine: TenantId | None = None) -> list[Any]:
    """A transaction of one statement."""
    async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
        tx.commit_with_next()
        return list(await tx.fetch(WRITE, mine=mine or tenant_id, key=key))


async def test_one_statement_is_one_round_trip(db: Database, tenant_id: TenantId) -> None:
    """As soon as its connection has prepared it; what it gives back is the statement's."""
    await _write(db, tenant_id, "first")
    with counting(db) as asked:
        assert [row["key"] for row in await _write(db, tenant_id, "second")] == ["second"]
        await asyncio.sleep(0.01)  # The driver tells of it in a moment.
    assert asked.round_trips == 1
    assert await _keys(db, tenant_id) == ["first", "second"]


async def test_the_settings_hold_from_the_first_statement_to_the_last(
    db: Database, tenant_id: TenantId
) -> None:
    """And no longer: the connection goes back clean."""
    for _ in range(2):
        async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
            for _ in range(2):
                assert await tx.fetch_value(WHO) == f"tidings_runtime {tenant_id} force_generic_plan"
        async with db.worker() as worker:
            assert await worker.fetch_value(WHO) == "tidings_worker  auto"


async def test_no_row_of_another_tenant_passes(db: Database, tenant_id: TenantId) -> None:
    """Refused with the statement, before the commit that travels behind it."""
    other = TENANT.new(SystemClock().now())
    for key in ("unprepared", "prepared", "again"):
        with pytest.raises(errors.DatabaseError):
            await _write(db, tenant_id, key, mine=other)
        await _write(db, tenant_id, f"own {key}")
    assert await _keys(db, other) == []
    assert await _keys(db, tenant_id) == ["own again", "own prepared", "own unprepared"]


async def test_of_a_transaction_that_fails_nothing_stays(db: Database, tenant_id: TenantId) -> None:
    """Whether its last statement failed, with the commit behind it, or the code between two."""
    await _write(db, tenant_id, "taken")
    with pytest.raises(errors.AlreadyExistsError):
        async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
            await tx.fetch(WRITE, mine=tenant_id, key="before")
            tx.commit_with_next()
            await tx.fetch(WRITE, mine=tenant_id, key="taken")
    with pytest.raises(LookupError):
        async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
            await tx.fetch(WRITE, mine=tenant_id, key="lost")
            raise LookupError
    assert await _keys(db, tenant_id) == ["taken"]


async def test_after_the_last_statement_there_is_no_other(db: Database, tenant_id: TenantId) -> None:
    """What would run outside of the transaction, without its tenants, does not run."""
    await _write(db, tenant_id, "first")
    with pytest.raises(errors.DatabaseError, match="was committed"):
        async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
            tx.commit_with_next()
            await tx.fetch(WRITE, mine=tenant_id, key="second")
            await tx.fetch(WRITE, mine=tenant_id, key="third")
    assert await _keys(db, tenant_id) == ["first", "second"]


async def test_without_a_statement_the_server_is_not_asked(db: Database, tenant_id: TenantId) -> None:
    """And the driver's connection is not to be had before the transaction has begun."""
    with counting(db) as asked:
        async with db.tenants([tenant_id], pipelined=True):
            pass
        with pytest.raises(RuntimeError, match="begins with its first statement"):
            async with db.tenants([tenant_id], pipelined=True) as tx:
                await tx.connection.fetch("SELECT 1")
        await asyncio.sleep(0.01)
    assert asked.round_trips == 0


async def test_a_value_that_can_not_be_sent_leaves_nothing_on_the_wire(
    db: Database, tenant_id: TenantId
) -> None:
    """The driver refuses it before a byte is sent: what was to travel with it must not travel with the next statement."""
    await _write(db, tenant_id, "first")
    bad: Any = 7
    for first in (True, False):
        with pytest.raises(errors.DatabaseError):
            async with db.tenants([tenant_id], by_index=True, pipelined=True) as tx:
                if not first:
                    await tx.fetch(WRITE, mine=tenant_id, key="before")
                tx.commit_with_next()
                await tx.fetch(WRITE, mine=tenant_id, key=bad)
        async with db.worker() as worker:
            assert await worker.fetch_value(WHO) == "tidings_worker  auto"
    assert await _keys(db, tenant_id) == ["first"]


async def test_a_connection_that_died_in_the_pool_is_replaced(db: Database, tenant_id: TenantId) -> None:
    """By the first statement, unless it was to commit: then it is not known whether it did."""
    async with db.tenants([tenant_id], pipelined=True) as tx:
        pid = await tx.fetch_value(PID)
    pool: Any = db._pool
    [dead] = [connection for connection in pool._idle if connection.get_server_pid() == pid]
    dead._transport.abort()
    async with db.tenants([tenant_id], pipelined=True) as tx:
        assert await tx.fetch_value(PID) != pid


async def test_one_that_is_cancelled_leaves_the_connection_to_nobody(
    db: Database, tenant_id: TenantId
) -> None:
    """Neither a transaction nor its settings are inherited."""

    async def wait() -> None:
        async with db.tenants([tenant_id], pipelined=True) as tx:
            await tx.fetch(SLEEP, seconds=0.0)
            tx.commit_with_next()
            await tx.fetch(SLEEP, seconds=30.0)

    task = asyncio.create_task(wait())
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with db.worker() as worker:
        assert await worker.fetch_value(WHO) == "tidings_worker  auto"
