"""What every bus promises, asked of every implementation; the promises are listed in `kernel/bus.py`."""

import asyncio
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial

import pytest

from tests.support.bus import DEADLINE, BusUnderTest, Effects, nats_bus, note, postgres_bus, running
from tests.support.clock import ManualClock
from tests.support.postgres import TestDatabase
from tidings.kernel.bus import NoSuchDeadLetterError, tenant_by_tenant
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, TenantsTx
from tidings.kernel.errors import BadValueError, DatabaseBusyError
from tidings.kernel.events import Event
from tidings.kernel.ids import DEAD_LETTER, TENANT, TenantId

Maker = Callable[[TestDatabase, Database, Clock], AbstractAsyncContextManager[BusUnderTest]]


@pytest.fixture(params=["postgres", "nats"])
def make(request: pytest.FixtureRequest) -> Maker:
    if request.param == "postgres":
        return postgres_bus
    return partial(nats_bus, request.getfixturevalue("nats_server"))


@pytest.fixture
async def under_test(make: Maker, worker_database: TestDatabase, db: Database) -> AsyncIterator[BusUnderTest]:
    """A bus with the machine's clock."""
    async with make(worker_database, db, SystemClock()) as made:
        yield made


@pytest.fixture
def hand() -> ManualClock:
    return ManualClock(SystemClock().now())


@pytest.fixture
async def by_hand(
    make: Maker, worker_database: TestDatabase, db: Database, hand: ManualClock
) -> AsyncIterator[BusUnderTest]:
    """A bus whose retries wait for a clock that the test moves."""
    async with make(worker_database, db, hand) as made:
        yield made


@pytest.fixture
def other_tenant() -> TenantId:
    return TENANT.new(SystemClock().now())


async def test_every_group_gets_every_event_once(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """Two groups don't share; each one sees all, and nothing twice when asked again."""
    first, second = Effects("first"), Effects("second")
    consumers = [under_test.bus.consumer(under_test.subscription(group)) for group in (first, second)]
    await under_test.publish(tenant_id, range(250))

    assert await under_test.relay() == 250
    assert [await consumer.drain() for consumer in consumers] == [250, 250]
    assert [await consumer.drain() for consumer in consumers] == [0, 0]

    assert await under_test.values("first") == list(range(250))
    assert await under_test.values("second") == list(range(250))


async def test_an_event_arrives_as_it_was_published(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """Every attribute and the payload survive the way."""
    seen = []

    async def look(_: object, events: object) -> None:
        seen.append(events)

    consumer = under_test.bus.consumer(under_test.subscription(Effects("group"), on_tenant_events=look))
    published = await under_test.publish(tenant_id, [1, 2])

    await under_test.relay()
    await consumer.drain()

    assert seen == [published]


async def test_what_is_rolled_back_was_never_said(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """The event goes with the change it announced."""
    with pytest.raises(ZeroDivisionError):
        async with under_test.db.tenant(tenant_id) as tx:
            await under_test.outbox.append(tx, [under_test.event(tenant_id, 1)])
            raise ZeroDivisionError

    assert await under_test.relay() == 0


async def test_concurrent_writers_leave_no_gap_and_keep_each_lane_in_order(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Writers wait at random between insert and commit, two relays and two consumers run: all arrives, in order."""
    chance = random.Random(7)
    lanes = [(tenant, f"key-{n}") for tenant in (tenant_id, other_tenant) for n in range(4)]
    turn = {lane: asyncio.Lock() for lane in lanes}
    counts: dict[tuple[TenantId, str], int] = defaultdict(int)

    async def write() -> None:
        for _ in range(15):
            lane = chance.choice(lanes)
            # Only writers of one lane wait for each other, as a lock on the row they change would have them.
            async with turn[lane], under_test.db.tenant(lane[0]) as tx:
                for _ in range(chance.randint(1, 3)):
                    counts[lane] += 1
                    await under_test.outbox.append(tx, [under_test.event(lane[0], counts[lane], key=lane[1])])
                await asyncio.sleep(chance.random() * 0.03)

    group = Effects("group")
    runners = [
        *(under_test.bus.relay("notification") for _ in range(2)),
        *(under_test.bus.consumer(under_test.subscription(group)) for _ in range(2)),
    ]
    async with running(under_test.bus, *runners):
        await asyncio.gather(*(write() for _ in range(6)))
        found = await under_test.wait_for("group", sum(counts.values()))

    by_lane = defaultdict(list)
    for lane_name, value in found:
        by_lane[lane_name].append(value)
    assert by_lane == {f"{tenant}/{key}": list(range(1, n + 1)) for (tenant, key), n in counts.items()}


async def test_a_transaction_left_open_holds_up_nobody(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Neither one that only reads nor one that has written an event of its own; its event comes when it commits."""
    group = Effects("group")
    consumer = under_test.bus.consumer(under_test.subscription(group))
    async with under_test.database.owner() as reader:
        await reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        await reader.fetchval("SELECT txid_current()")
        async with under_test.db.tenant(other_tenant) as slow:
            await under_test.outbox.append(slow, [under_test.event(other_tenant, 99)])
            for value in range(5):
                await under_test.publish(tenant_id, [value])
                assert await under_test.relay() == 1
                assert await consumer.drain() == 1
    assert await under_test.relay() == 1
    assert await consumer.drain() == 1

    assert await under_test.values("group") == [0, 1, 2, 3, 4, 99]


async def test_two_consumers_share_a_group(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """However they compete, every event has one effect."""
    group = Effects("group")
    consumers = [under_test.bus.consumer(under_test.subscription(group)) for _ in range(3)]
    async with running(under_test.bus, under_test.bus.relay("notification"), *consumers):
        for start in range(0, 600, 20):
            await under_test.publish(tenant_id, range(start, start + 20))
        await under_test.wait_for("group", 600)

    assert await under_test.values("group") == list(range(600))


async def test_an_idle_bus_wakes_up(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """Nobody polls within the deadline: only a wake-up explains that each event arrives."""
    group = Effects("group")
    consumer = under_test.bus.consumer(under_test.subscription(group))
    async with running(under_test.bus, under_test.bus.relay("notification"), consumer):
        for value in range(5):
            await under_test.publish(tenant_id, [value])
            await under_test.wait_for("group", value + 1)


async def test_a_failing_event_holds_its_lane_and_nobody_else(
    by_hand: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId, hand: ManualClock
) -> None:
    """Those behind it wait, even those published later; once it succeeds they follow in order."""
    group = Effects("group", refused={2})
    consumer = by_hand.bus.consumer(by_hand.subscription(group))
    await by_hand.publish(tenant_id, [1, 2, 3], key="a")
    await by_hand.publish(tenant_id, [10, 20], key="b")
    await by_hand.publish(other_tenant, [100, 200], key="a")
    await by_hand.relay()
    await consumer.drain()
    await by_hand.publish(tenant_id, [4], key="a")
    await by_hand.publish(tenant_id, [30], key="b")
    await by_hand.relay()
    await consumer.drain()

    assert sorted(await by_hand.values("group")) == [1, 10, 20, 30, 100, 200]

    group.refused.clear()
    await hand.advance(timedelta(seconds=11))
    await consumer.drain()

    lane = [value for name, value in await by_hand.effects("group") if name == f"{tenant_id}/a"]
    assert lane == [1, 2, 3, 4]


async def test_after_its_last_attempt_an_event_is_a_dead_letter_and_its_lane_goes_on(
    by_hand: BusUnderTest, tenant_id: TenantId, hand: ManualClock
) -> None:
    """The letter says what failed and never quotes it; a replay gives it its effect."""
    group = Effects("group", refused={2})
    consumer = by_hand.bus.consumer(by_hand.subscription(group))
    published = await by_hand.publish(tenant_id, [1, 2, 3])
    await by_hand.relay()
    for _ in range(4):
        await consumer.drain()
        await hand.advance(timedelta(minutes=1))

    assert await by_hand.values("group") == [1, 3]
    (letter,) = await by_hand.bus.dead_letters.list()
    assert (letter.group, letter.event, letter.attempts, letter.error) == (
        "group",
        published[1],
        3,
        "Refused",
    )
    assert await by_hand.bus.dead_letters.show(letter.id) == letter
    assert await by_hand.bus.dead_letters.list(group="another") == []
    assert await by_hand.bus.dead_letters.list(after=letter.id) == []

    group.refused.clear()
    await by_hand.bus.dead_letters.replay(letter.id)
    await consumer.drain()

    assert await by_hand.values("group") == [1, 3, 2]
    assert await by_hand.bus.dead_letters.list() == []


async def test_a_replayed_letter_that_fails_again_dies_again(
    by_hand: BusUnderTest, tenant_id: TenantId, hand: ManualClock
) -> None:
    """It has all its attempts before it, and its lane waits for it meanwhile."""
    group = Effects("group", refused={1})
    consumer = by_hand.bus.consumer(by_hand.subscription(group))
    await by_hand.publish(tenant_id, [1])
    await by_hand.relay()
    for _ in range(3):
        await consumer.drain()
        await hand.advance(timedelta(minutes=1))
    (letter,) = await by_hand.bus.dead_letters.list()
    calls = group.calls

    await by_hand.bus.dead_letters.replay(letter.id)
    await consumer.drain()
    await by_hand.publish(tenant_id, [2])
    await by_hand.relay()
    await consumer.drain()
    assert await by_hand.values("group") == []
    for _ in range(3):
        await hand.advance(timedelta(minutes=1))
        await consumer.drain()

    assert group.calls == calls + 3 + 1
    assert await by_hand.values("group") == [2]
    assert len(await by_hand.bus.dead_letters.list()) == 1


async def test_a_letter_can_be_discarded_once(
    by_hand: BusUnderTest, tenant_id: TenantId, hand: ManualClock
) -> None:
    """The second time there is nothing to discard, show or replay."""
    letters = by_hand.bus.dead_letters
    consumer = by_hand.bus.consumer(by_hand.subscription(Effects("group", refused={1})))
    await by_hand.publish(tenant_id, [1])
    await by_hand.relay()
    for _ in range(3):
        await consumer.drain()
        await hand.advance(timedelta(minutes=1))
    (letter,) = await letters.list()

    await letters.discard(letter.id)

    for act in (letters.discard, letters.replay, letters.show):
        with pytest.raises(NoSuchDeadLetterError):
            await act(letter.id)
    with pytest.raises(NoSuchDeadLetterError):
        await letters.show(DEAD_LETTER.new(hand.now()))


async def test_dead_letters_are_swept_after_fourteen_days(
    by_hand: BusUnderTest, tenant_id: TenantId, hand: ManualClock
) -> None:
    """Not before."""
    consumer = by_hand.bus.consumer(by_hand.subscription(Effects("group", refused={1})))
    await by_hand.publish(tenant_id, [1])
    await by_hand.relay()
    for _ in range(3):
        await consumer.drain()
        await hand.advance(timedelta(minutes=1))

    await hand.advance(timedelta(days=13))
    assert await by_hand.bus.dead_letters.sweep() == 0
    await hand.advance(timedelta(days=1))
    assert await by_hand.bus.dead_letters.sweep() == 1


async def test_a_poisoned_event_among_many_fails_alone(by_hand: BusUnderTest, tenant_id: TenantId) -> None:
    """The set is divided until it stands alone, not handed over event by event."""
    group = Effects("group", refused={37})
    consumer = by_hand.bus.consumer(by_hand.subscription(group))
    for value in range(100):
        await by_hand.commit(tenant_id, [by_hand.event(tenant_id, value, key=f"key-{value}")])
    await by_hand.relay()

    assert await consumer.drain() == 99

    assert sorted(await by_hand.values("group")) == [value for value in range(100) if value != 37]
    assert group.calls < 30


async def test_a_group_gets_the_subjects_it_asked_for(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """A star is one word, an arrow the rest; all others are passed over for good."""
    subjects = ["tenant.created.v1", "tenant.plan.changed.v1", "batch.started.v1", "batch.item.sent.v1"]
    for value, subject in enumerate(subjects):
        await under_test.publish(tenant_id, [value], subject=subject)
    await under_test.relay()

    for name, patterns in {
        "exact": ("batch.started.v1",),
        "star": ("tenant.*.v1",),
        "rest": ("batch.>", "x.v1"),
    }.items():
        consumer = under_test.bus.consumer(under_test.subscription(Effects(name), subjects=patterns))
        await consumer.drain()

    assert await under_test.values("exact") == [2]
    assert await under_test.values("star") == [0]
    assert await under_test.values("rest") == [2, 3]


@pytest.mark.parametrize("bad", ["", "a..b", "a.>.b", "A.b", "a.b*", "a b"])
def test_a_bad_pattern_is_refused(bad: str) -> None:
    """At once, and by name."""

    async def handle(_: object, __: object) -> None: ...

    from tidings.kernel.bus import Subscription

    with pytest.raises(BadValueError, match="subjects"):
        Subscription(group="group", subjects=(bad,), ledger="notification", on_tenant_events=handle)


async def test_what_a_group_has_no_use_for_is_passed_over(
    under_test: BusUnderTest, tenant_id: TenantId, db: Database
) -> None:
    """It is asked before a transaction is opened; what it leaves aside is neither handled nor noted as consumed."""
    asked: list[int] = []

    async def odd(events: Sequence[Event]) -> list[Event]:
        asked.extend(event.payload()["value"] for event in events)
        return [event for event in events if event.payload()["value"] % 2]

    effects = Effects("choosy")
    consumer = under_test.bus.consumer(under_test.subscription(effects, select=odd))
    await under_test.publish(tenant_id, range(50))
    await under_test.relay()

    assert await consumer.drain() == 25
    assert await consumer.drain() == 0

    assert sorted(asked) == list(range(50))
    assert await under_test.values("choosy") == list(range(1, 50, 2))
    async with db.tenant(tenant_id) as tx:
        noted = await tx.connection.fetchval(
            "SELECT count(*) FROM notification.consumed_events WHERE consumer_name LIKE 'choosy%'"
        )
    assert noted == 25


async def test_a_new_group_begins_where_it_asks(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """With all that is kept, or with what comes next; later it goes on from its own place."""
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    old = under_test.bus.consumer(under_test.subscription(Effects("old"), start="beginning"))
    new = under_test.bus.consumer(under_test.subscription(Effects("new"), start="now"))
    await old.drain()
    await new.drain()
    await under_test.publish(tenant_id, [2])
    await under_test.relay()
    again = under_test.bus.consumer(under_test.subscription(Effects("new"), start="beginning"))

    await old.drain()
    await again.drain()

    assert await under_test.values("old") == [1, 2]
    assert await under_test.values("new") == [2]


async def test_one_transaction_holds_one_tenants_events(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """A set is divided by tenant; the platform's own events come in a transaction of the platform."""
    group = Effects("group")
    consumer = under_test.bus.consumer(
        under_test.subscription(group, on_tenant_events=group, on_platform_events=group)
    )
    for value in range(5):
        await under_test.publish(tenant_id, [value])
        await under_test.publish(other_tenant, [10 + value])
        await under_test.publish(None, [20 + value])
    await under_test.relay()

    assert await consumer.drain() == 15

    assert sorted(group.transactions, key=str) == sorted([tenant_id, other_tenant, None], key=str)


async def test_a_set_of_several_tenants_is_one_transaction(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """For a handler that takes them; what it does is what it does tenant by tenant."""
    together, apart = Effects("together"), Effects("apart")
    each_once = {"on_tenants_events": tenant_by_tenant(together), "on_platform_events": together}
    mixed = under_test.bus.consumer(under_test.subscription(together, **each_once))
    single = under_test.bus.consumer(
        under_test.subscription(apart, on_platform_events=apart, on_tenant_events=apart)
    )
    for value in range(5):
        await under_test.publish(tenant_id, [value])
        await under_test.publish(other_tenant, [10 + value])
        await under_test.publish(None, [20 + value])
    await under_test.relay()

    assert [await mixed.drain(), await single.drain()] == [15, 15]
    assert [await mixed.drain(), await single.drain()] == [0, 0]

    assert sorted(together.transactions, key=str) == sorted([tenant_id, other_tenant, None], key=str)
    assert sorted(await under_test.effects("together")) == sorted(await under_test.effects("apart"))
    assert len(together.seen) == 2


async def test_a_poisoned_event_of_one_tenant_holds_up_no_other(
    by_hand: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """A mixed set is halved like any other."""
    group = Effects("group", refused={3})
    consumer = by_hand.bus.consumer(by_hand.subscription(group, on_tenants_events=tenant_by_tenant(group)))
    await by_hand.publish(tenant_id, [1, 2, 3, 4])
    await by_hand.publish(tenant_id, [5], key="another")
    await by_hand.publish(other_tenant, [6, 7])
    await by_hand.relay()

    assert await consumer.drain() == 5

    assert sorted(await by_hand.values("group")) == [1, 2, 5, 6, 7]


async def test_a_locked_row_of_one_tenant_parts_a_mixed_set_by_tenant(
    by_hand: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Halves in order of arrival would each hold some of the tenant whose row is locked, and wait for it again."""
    group, sets = Effects("group"), []
    handle = tenant_by_tenant(group)

    async def busy(tx: TenantsTx, events: Sequence[Event]) -> None:
        sets.append({event.tenant_id for event in events})
        if len(sets[-1]) > 1:
            raise DatabaseBusyError("a row is locked")
        await handle(tx, events)

    consumer = by_hand.bus.consumer(by_hand.subscription(group, on_tenants_events=busy))
    for value in range(4):
        await by_hand.publish(tenant_id, [value])
        await by_hand.publish(other_tenant, [10 + value])
    await by_hand.relay()

    assert await consumer.drain() == 8

    assert sets == [{tenant_id, other_tenant}, {tenant_id}, {other_tenant}]
    assert sorted(await by_hand.values("group")) == [0, 1, 2, 3, 10, 11, 12, 13]


async def test_a_platform_handler_alone_gets_everything(
    under_test: BusUnderTest, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """In one set, whatever the tenants."""
    group = Effects("group")
    consumer = under_test.bus.consumer(under_test.subscription(group, on_platform_events=group))
    await under_test.publish(tenant_id, [1])
    await under_test.publish(other_tenant, [2])
    await under_test.publish(None, [3])
    await under_test.relay()

    assert await consumer.drain() == 3

    assert group.transactions == [None]
    assert await under_test.values("group") == [1, 2, 3]


async def test_an_event_that_nobody_can_take_is_not_lost(by_hand: BusUnderTest, hand: ManualClock) -> None:
    """One without a tenant, for a group that takes only tenants' events, ends as a dead letter."""
    consumer = by_hand.bus.consumer(by_hand.subscription(Effects("group")))
    await by_hand.publish(None, [1])
    await by_hand.relay()
    for _ in range(3):
        await consumer.drain()
        await hand.advance(timedelta(minutes=1))

    (letter,) = await by_hand.bus.dead_letters.list()
    assert letter.error == "no_handler"


async def test_a_slow_handler_keeps_its_group(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """It outlasts the lease, and no other process gets the events meanwhile."""
    started, go_on = asyncio.Event(), asyncio.Event()

    async def slow(tx: object, events: object) -> None:
        started.set()
        await go_on.wait()
        await note(tx, "group", events)  # type: ignore[arg-type]

    first = under_test.bus.consumer(under_test.subscription(Effects("group"), on_tenant_events=slow))
    second_calls = Effects("group")
    second = under_test.bus.consumer(under_test.subscription(second_calls))
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    async with running(first):
        async with asyncio.timeout(DEADLINE):
            await started.wait()
        # The lease of two seconds has to run out, in the server's time, for this to prove anything.
        async with under_test.database.owner() as connection:
            await connection.execute("SELECT pg_sleep(2.5)")
        assert await second.drain() == 0
        go_on.set()
        await under_test.wait_for("group", 1)

    assert second_calls.calls == 0


async def test_it_stops_when_told(under_test: BusUnderTest) -> None:
    """Idle parts end at once, although their next look is minutes away."""
    runners = [
        under_test.bus.relay("notification"),
        under_test.bus.consumer(under_test.subscription(Effects("group"))),
    ]
    async with asyncio.timeout(DEADLINE), running(under_test.bus, *runners):
        await asyncio.sleep(0)
