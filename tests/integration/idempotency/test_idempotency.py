"""One key, one piece of work, one answer."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError, DatabaseUnavailableError
from tidings.kernel.idempotency import (
    Begun,
    Conflict,
    Fresh,
    Idempotency,
    InProgress,
    Replay,
    ScopedKey,
    StoredAnswer,
    hash_request,
)
from tidings.kernel.ids import TENANT, TenantId

SCOPE = "POST:/api/v1/notifications"
BODY = hash_request(b"POST", b'{"a":1}')
OTHER_BODY = hash_request(b"POST", b'{"a":2}')
ANSWER = StoredAnswer(202, '{"id":"ntf_1"}')


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture(params=["notification", "bff_backoffice"])
def keys(request: pytest.FixtureRequest, clock: ManualClock) -> Idempotency:
    return Idempotency(request.param, clock)


async def do_once(db: Database, keys: Idempotency, tenant_id: TenantId, body: str = BODY) -> Begun:
    async with db.tenant(tenant_id) as tx:
        begun = await keys.begin(tx, SCOPE, "key-1", body)
        if isinstance(begun, Fresh):
            await keys.finish(tx, SCOPE, "key-1", ANSWER)
    return begun


async def test_the_same_request_gets_the_same_answer(
    db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """The work is done once; the answer is given as often as it is asked for."""
    first = await do_once(db, keys, tenant_id)
    second = await do_once(db, keys, tenant_id)

    assert first == Fresh()
    assert second == Replay(202, '{"id":"ntf_1"}')


async def test_another_body_under_the_same_key_is_a_conflict(
    db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """The key is taken."""
    await do_once(db, keys, tenant_id)

    assert await do_once(db, keys, tenant_id, OTHER_BODY) == Conflict()
    assert await do_once(db, keys, tenant_id) == Replay(202, '{"id":"ntf_1"}')


async def test_scopes_tenants_and_the_platform_have_keys_of_their_own(
    db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """A key is unique within tenant and scope."""
    await do_once(db, keys, tenant_id)

    async with db.tenant(tenant_id) as tx:
        assert await keys.begin(tx, "another", "key-1", BODY) == Fresh()
    async with db.tenant(TENANT.new(SystemClock().now())) as tx:
        assert await keys.begin(tx, SCOPE, "key-1", BODY) == Fresh()
    async with db.platform() as platform:
        assert await keys.begin(platform, f"{SCOPE}:{tenant_id}", "key-1", BODY) == Fresh()
        await keys.finish(platform, f"{SCOPE}:{tenant_id}", "key-1", ANSWER)
    async with db.platform() as platform:
        again = await keys.begin(platform, f"{SCOPE}:{tenant_id}", "key-1", BODY)
    assert again == Replay(202, '{"id":"ntf_1"}')


async def test_of_many_at_once_one_works(db: Database, keys: Idempotency, tenant_id: TenantId) -> None:
    """The others are answered, with the result or with patience, and nobody waits in the database."""
    begun = await asyncio.gather(*(do_once(db, keys, tenant_id) for _ in range(20)))

    counted = Counter(type(one) for one in begun)
    assert counted[Fresh] == 1
    assert counted[Replay] + counted[InProgress] == 19


async def test_while_one_works_the_other_is_told_so_at_once(
    db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """Whatever its body: what the first one will be is not known yet."""
    async with db.tenant(tenant_id) as working:
        assert await keys.begin(working, SCOPE, "key-1", BODY) == Fresh()

        same = await do_once(db, keys, tenant_id)
        other = await do_once(db, keys, tenant_id, OTHER_BODY)
        again = await keys.begin(working, SCOPE, "key-1", BODY)
        await keys.finish(working, SCOPE, "key-1", ANSWER)

    assert (same, other, again) == (InProgress(), InProgress(), InProgress())
    assert await do_once(db, keys, tenant_id) == Replay(202, '{"id":"ntf_1"}')


async def test_work_that_fails_frees_its_key(db: Database, keys: Idempotency, tenant_id: TenantId) -> None:
    """Key and work are one transaction."""
    with pytest.raises(RuntimeError):
        async with db.tenant(tenant_id) as tx:
            await keys.begin(tx, SCOPE, "key-1", BODY)
            raise RuntimeError

    assert await do_once(db, keys, tenant_id) == Fresh()


async def test_a_worker_whose_connection_dies_frees_its_key(
    worker_database: TestDatabase, db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """As in a crash between the work and the answer."""
    doomed = Database(worker_database.runtime_url)
    await doomed.open()
    with pytest.raises(DatabaseUnavailableError):
        async with doomed.tenant(tenant_id) as tx:
            assert await keys.begin(tx, SCOPE, "key-1", BODY) == Fresh()
            tx.connection.terminate()
            await keys.finish(tx, SCOPE, "key-1", ANSWER)
    await doomed.close()

    async with asyncio.timeout(10):
        while isinstance(begun := await do_once(db, keys, tenant_id), InProgress):
            await asyncio.sleep(0.01)
    assert begun == Fresh()


async def test_work_over_several_transactions_is_taken_over_when_its_lock_has_run_out(
    db: Database, keys: Idempotency, clock: ManualClock, tenant_id: TenantId
) -> None:
    """The key was committed before the work was done, and the worker died."""
    async with db.tenant(tenant_id) as tx:
        await keys.begin(tx, SCOPE, "key-1", BODY)
    assert await do_once(db, keys, tenant_id) == InProgress()

    await clock.advance(timedelta(minutes=1))

    assert await do_once(db, keys, tenant_id, OTHER_BODY) == Conflict()
    assert await do_once(db, keys, tenant_id) == Fresh()


async def test_after_a_day_a_key_is_new_again(
    db: Database, keys: Idempotency, clock: ManualClock, tenant_id: TenantId
) -> None:
    """Also for another body."""
    await do_once(db, keys, tenant_id)
    await clock.advance(timedelta(hours=24) - timedelta(microseconds=1))
    assert await do_once(db, keys, tenant_id, OTHER_BODY) == Conflict()

    await clock.advance(timedelta(microseconds=1))

    assert await do_once(db, keys, tenant_id, OTHER_BODY) == Fresh()
    assert await do_once(db, keys, tenant_id, OTHER_BODY) == Replay(202, '{"id":"ntf_1"}')


async def test_many_keys_at_once(db: Database, keys: Idempotency, tenant_id: TenantId) -> None:
    """Each is judged by itself, in the order given; one named twice is fresh once."""
    await do_once(db, keys, tenant_id)
    async with db.tenant(tenant_id) as elsewhere:
        await keys.begin(elsewhere, SCOPE, "busy", BODY)
        async with db.tenant(tenant_id) as tx:
            asked = [
                ("new", BODY),
                ("key-1", OTHER_BODY),
                ("key-1", BODY),
                ("busy", BODY),
                ("new", BODY),
                ("new", OTHER_BODY),
            ]
            begun = await keys.begin_many(
                tx, [(ScopedKey(tenant_id, SCOPE, key), body) for key, body in asked]
            )
            await keys.finish_many(tx, {ScopedKey(tenant_id, SCOPE, "new"): ANSWER})

    assert begun == [
        Fresh(),
        Conflict(),
        Replay(202, '{"id":"ntf_1"}'),
        InProgress(),
        InProgress(),
        Conflict(),
    ]


async def test_finishing_what_was_not_begun_is_a_mistake(
    db: Database, keys: Idempotency, tenant_id: TenantId
) -> None:
    """Ours, and loud."""
    async with db.tenant(tenant_id) as tx:
        with pytest.raises(RuntimeError, match="not begun"):
            await keys.finish(tx, SCOPE, "never", ANSWER)


@pytest.mark.parametrize("key", ["", "x" * 256, "with space", "tab\t", "nul\x00", "ключ", "line\n"])
async def test_bad_keys_are_refused_by_name(
    db: Database, keys: Idempotency, tenant_id: TenantId, key: str
) -> None:
    """The header is named."""
    async with db.tenant(tenant_id) as tx:
        with pytest.raises(BadValueError) as refused:
            await keys.begin(tx, SCOPE, key, BODY)

    assert refused.value.field == "Idempotency-Key"


async def test_expired_keys_are_swept_in_chunks(fresh_db: Database, clock: ManualClock) -> None:
    """Across tenants, the oldest first, and none that is still good."""
    keys = Idempotency("notification", clock)
    for _ in range(5):
        await clock.advance(timedelta(minutes=1))
        await do_once(fresh_db, keys, TENANT.new(clock.now()))
    await clock.advance(timedelta(hours=24) - timedelta(minutes=1, seconds=30))

    swept = [await keys.sweep(fresh_db, limit=2) for _ in range(3)]

    assert swept == [2, 1, 0]


def test_requests_are_told_apart_by_their_parts() -> None:
    """Where one part ends and the next begins counts."""
    assert hash_request(b"a", b"bc") != hash_request(b"ab", b"c")
