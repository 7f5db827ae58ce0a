"""Transactions set their tenant, end as they should, and survive what happens to connections."""

import asyncio
import contextlib
import traceback
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.support.hanging_proxy import HangingProxy
from tests.support.postgres import TestDatabase
from tidings.kernel import errors
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import Query, number_parameters


def query(statement: str) -> Query:
    text, parameters = number_parameters(statement)
    return Query(name="test", why="A test.", text=text, parameters=parameters)


WHO = query("SELECT current_user || ' ' || coalesce(current_setting('app.tenant_id', true), '')")
PID = query("SELECT pg_backend_pid()")
WRITE = query(
    "INSERT INTO notification.idempotency_keys (tenant_id, scope, key, request_hash) VALUES (:tenant_id, 's', :key, :hash)"
)
COUNT = query("SELECT count(*) FROM notification.idempotency_keys")
SLEEP = query("SELECT pg_sleep(30)")


async def test_each_kind_of_transaction_is_who_it_says(db: Database, tenant_id: TenantId) -> None:
    """The tenant for this transaction only, or another role; afterwards the connection is nobody's."""
    async with db.tenant(tenant_id) as tenant:
        assert await tenant.fetch_value(WHO) == f"tidings_runtime {tenant_id}"
    async with db.platform() as platform:
        assert await platform.fetch_value(WHO) == "tidings_platform "
    async with db.worker() as worker:
        assert await worker.fetch_value(WHO) == "tidings_worker "


async def test_it_commits_at_the_end_and_rolls_back_on_an_exception(
    db: Database, tenant_id: TenantId
) -> None:
    """Both seen by the next transaction."""
    async with db.tenant(tenant_id) as tx:
        await tx.execute(WRITE, tenant_id=tenant_id, key="kept", hash="h")
    with pytest.raises(LookupError):
        async with db.tenant(tenant_id) as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key="lost", hash="h")
            raise LookupError

    async with db.tenant(tenant_id) as tx:
        assert await tx.fetch_value(COUNT) == 1


async def test_a_part_can_fail_alone(db: Database, tenant_id: TenantId) -> None:
    """What went before and comes after a savepoint stays."""
    async with db.tenant(tenant_id) as tx:
        await tx.execute(WRITE, tenant_id=tenant_id, key="one", hash="h")
        with pytest.raises(errors.AlreadyExistsError):
            async with tx.savepoint():
                await tx.execute(WRITE, tenant_id=tenant_id, key="one", hash="h")
        await tx.execute(WRITE, tenant_id=tenant_id, key="two", hash="h")

    async with db.tenant(tenant_id) as tx:
        assert await tx.fetch_value(COUNT) == 2


@pytest.mark.parametrize(
    "bad", ["", "tnt_", "tnt_' OR '1'='1", "'; DROP TABLE x; --", "tnt_01JCQ7WZ3V8N2M5K4H6T9R0XY'"]
)
async def test_a_tenant_that_is_none_never_reaches_the_database(db: Database, bad: str) -> None:
    """The id is part of a statement, so nothing but an id passes."""
    with pytest.raises(errors.BadValueError) as refused:
        async with db.tenant(TenantId(bad)):
            pass

    assert refused.value.field == "tenant_id"


async def test_an_unknown_caller_role_is_refused(db: Database, tenant_id: TenantId) -> None:
    """It too is part of the statement."""
    with pytest.raises(errors.BadValueError, match="caller_role"):
        async with db.tenant(tenant_id, caller_role="root'; --"):  # type: ignore[arg-type]
            pass


async def test_a_read_only_caller_role_reads_only(db: Database, tenant_id: TenantId) -> None:
    """The database refuses, and the error is ours."""
    with pytest.raises(errors.NotPermittedError):
        async with db.tenant(tenant_id, caller_role="tenant.viewer") as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key="k", hash="h")


async def test_errors_name_the_constraint_and_no_value(db: Database, tenant_id: TenantId) -> None:
    """Not in the message, and not in what it was raised from."""
    secret = "bob@example.org"
    async with db.tenant(tenant_id) as tx:
        await tx.execute(WRITE, tenant_id=tenant_id, key=secret, hash="h")
    with pytest.raises(errors.AlreadyExistsError) as exists:
        async with db.tenant(tenant_id) as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key=secret, hash="h")
    with pytest.raises(errors.ConstraintError) as refused:
        async with db.tenant(tenant_id) as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key=secret * 50, hash="h")

    assert exists.value.constraint == "uq_idempotency_keys_key"
    assert refused.value.constraint == "ck_idempotency_keys_key"
    for error in (exists.value, refused.value):
        assert secret not in f"{error} {error.__cause__} {error.__cause__!r}"


@pytest.mark.parametrize("value", ["words of a person", "lone \ud800 surrogate", "nul \x00 byte"])
async def test_a_value_that_does_not_fit_is_not_quoted(db: Database, tenant_id: TenantId, value: str) -> None:
    """Neither by the driver, which refuses some, nor by the server; and the database is not said to be away."""
    ask = query("SELECT :number::text::integer") if value.isascii() and "\x00" not in value else None
    with pytest.raises(errors.DatabaseError) as refused:
        async with db.tenant(tenant_id) as tx:
            if ask is not None:
                await tx.fetch_value(ask, number=value)
            else:
                await tx.execute(WRITE, tenant_id=tenant_id, key=value, hash="h")

    assert not isinstance(refused.value, errors.DatabaseUnavailableError)
    assert value not in "".join(traceback.format_exception(refused.value))


async def test_a_failure_that_was_swallowed_is_not_a_commit(db: Database, tenant_id: TenantId) -> None:
    """The server rolls such a transaction back and calls it success; the caller has to hear of it."""
    with pytest.raises(errors.DatabaseError, match="nothing was committed"):
        async with db.tenant(tenant_id) as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key="one", hash="h")
            with contextlib.suppress(errors.AlreadyExistsError):
                await tx.execute(WRITE, tenant_id=tenant_id, key="one", hash="h")

    async with db.tenant(tenant_id) as tx:
        assert await tx.fetch_value(COUNT) == 0


async def test_two_statements_at_once_are_our_mistake(db: Database, tenant_id: TenantId) -> None:
    """It is not said that the database is away, which would have the work repeated for ever."""
    with pytest.raises(errors.DatabaseError, match="two statements") as refused:
        async with db.tenant(tenant_id) as tx:
            await asyncio.gather(tx.fetch_value(PID), tx.fetch_value(PID))

    assert not isinstance(refused.value, errors.DatabaseUnavailableError)


async def test_a_server_that_does_not_write_is_left(
    worker_database: TestDatabase, tenant_id: TenantId
) -> None:
    """A replica, or a primary that was demoted: the next transaction has another connection."""
    database = Database(worker_database.runtime_url, PoolSettings(min_size=1, max_size=1))
    await database.open()
    async with database.tenant(tenant_id) as tx:
        before = await tx.fetch_value(PID)
    with pytest.raises(errors.DatabaseUnavailableError):
        async with database.tenant(tenant_id) as tx:
            await tx.execute(query("SET TRANSACTION READ ONLY"))
            await tx.execute(WRITE, tenant_id=tenant_id, key="one", hash="h")

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(PID) != before
    await database.close()


async def test_a_server_that_hangs_is_given_up_on(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """Its time-outs run on the server, which may not run any more: the caller has one too."""
    address = urlsplit(worker_database.runtime_url)
    proxy = await HangingProxy.start(str(address.hostname), address.port or 0)
    database = Database(
        worker_database.runtime_url.replace(f":{address.port}/", f":{proxy.port}/"),
        PoolSettings(min_size=1, max_size=2, acquire_timeout=timedelta(seconds=0.5)),
    )
    await database.open()
    async with database.tenant(tenant_id) as tx:
        await tx.fetch_value(PID)

    proxy.hangs = True
    with pytest.raises(errors.DatabaseUnavailableError):
        async with database.tenant(tenant_id):
            pass
    proxy.hangs = False

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(PID)
    await database.close()
    await proxy.stop()


async def test_a_cancelled_request_leaves_a_clean_connection(
    worker_database: TestDatabase, tenant_id: TenantId
) -> None:
    """Cancelled in the middle of a statement; the pool of one goes on working."""
    database = Database(worker_database.runtime_url, PoolSettings(min_size=1, max_size=1))
    await database.open()
    inside = asyncio.Event()

    async def slow() -> None:
        async with database.tenant(tenant_id) as tx:
            inside.set()
            await tx.execute(SLEEP)

    task = asyncio.create_task(slow())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(WHO) == f"tidings_runtime {tenant_id}"
    await database.close()


async def test_a_connection_that_died_is_replaced(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """As after a restart of the server: the next transaction does not even notice."""
    database = Database(worker_database.runtime_url, PoolSettings(min_size=1, max_size=1))
    await database.open()
    async with database.tenant(tenant_id) as tx:
        pid = await tx.fetch_value(PID)
    async with worker_database.runtime() as other:
        await other.execute("SELECT pg_terminate_backend($1)", pid)

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(PID) != pid
    await database.close()


async def test_a_connection_that_dies_inside_is_an_outage_and_is_replaced(
    worker_database: TestDatabase, tenant_id: TenantId
) -> None:
    """The transaction under way fails as unavailable; nothing of it is kept; the next one works."""
    database = Database(worker_database.runtime_url, PoolSettings(min_size=1, max_size=1))
    await database.open()
    with pytest.raises(errors.DatabaseUnavailableError):
        async with database.tenant(tenant_id) as tx:
            await tx.execute(WRITE, tenant_id=tenant_id, key="k", hash="h")
            async with worker_database.runtime() as other:
                await other.execute("SELECT pg_terminate_backend($1)", await tx.fetch_value(PID))
            await tx.fetch_value(PID)

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(COUNT) == 0
    await database.close()


async def test_more_work_than_connections_waits_its_turn(worker_database: TestDatabase) -> None:
    """Fifty transactions over three connections, some cancelled while they wait: all the others finish."""
    database = Database(worker_database.runtime_url, PoolSettings(min_size=1, max_size=3))
    await database.open()
    pids: set[int] = set()

    async def one(turn: int) -> int:
        async with database.tenant(TENANT.new(SystemClock().now())) as tx:
            pids.add(await tx.fetch_value(PID))
            return turn

    tasks = [asyncio.create_task(one(turn)) for turn in range(50)]
    await asyncio.sleep(0)
    for task in tasks[10::7]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)

    finished = [result for result in results if isinstance(result, int)]
    assert len(finished) == 50 - len(tasks[10::7])
    assert len(pids) <= 3
    assert await one(99) == 99
    await database.close()


async def test_a_full_pool_says_so(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """After its patience it answers busy rather than waiting for ever, and recovers."""
    database = Database(
        worker_database.runtime_url,
        PoolSettings(min_size=1, max_size=1, acquire_timeout=timedelta(milliseconds=100)),
    )
    await database.open()
    async with database.tenant(tenant_id):
        with pytest.raises(errors.DatabaseBusyError, match="all database connections are in use"):
            async with database.tenant(tenant_id):
                pass

    async with database.tenant(tenant_id) as tx:
        assert await tx.fetch_value(COUNT) == 0
    await database.close()


async def test_a_lock_held_too_long_is_busy(worker_database: TestDatabase, tenant_id: TenantId) -> None:
    """Neither a hang nor a server error."""
    database = Database(worker_database.runtime_url, PoolSettings(lock_timeout=timedelta(milliseconds=50)))
    await database.open()
    async with database.tenant(tenant_id) as first:
        await first.execute(WRITE, tenant_id=tenant_id, key="k", hash="h")
        with pytest.raises(errors.DatabaseBusyError):
            async with database.tenant(tenant_id) as second:
                await second.execute(WRITE, tenant_id=tenant_id, key="k", hash="h")
    await database.close()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda url: url.rpartition("/")[0] + "/nowhere", 'database "nowhere" does not exist'),
        (
            lambda url: "postgresql://tidings_runtime:wrong@" + url.rpartition("@")[2],
            "password authentication failed",
        ),
        (lambda _: "postgresql://tidings_runtime:x@127.0.0.1:1/tidings", "can't be reached"),
    ],
)
async def test_a_database_that_can_not_be_reached(
    worker_database: TestDatabase, change: object, complaint: str
) -> None:
    """One sentence that says why, without the password."""
    database = Database(change(worker_database.runtime_url))  # type: ignore[operator]

    with pytest.raises(errors.DatabaseUnavailableError, match=complaint) as refused:
        await database.open()

    assert "wrong" not in str(refused.value)
