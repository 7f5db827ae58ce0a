"""What the relay publishes, and what it does when a confirmation is lost."""

import msgspec
import pytest

from tests.support.bus import BusUnderTest, Effects
from tidings.kernel.db import WorkerTx
from tidings.kernel.events import Event, attributes_of
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.nats_bus.errors import JetStreamError


class _Killed(Exception):
    """The process ends here."""


async def _publish_and_die(bus: NatsBus, under_test: BusUnderTest, *, most: int) -> None:
    """NATS has confirmed, and the outbox never hears of it."""
    mover = bus.stream.mover("notification")
    await mover.prepare()
    with pytest.raises(_Killed):
        async with under_test.db.worker() as tx:
            await _move(mover, tx, most)
            raise _Killed


async def _move(mover: object, tx: WorkerTx, most: int) -> None:
    moved = await mover.move(tx, settled=0, limit=most)  # type: ignore[attr-defined]
    assert moved.count == most


async def _stored(bus: NatsBus) -> int:
    state = await bus.stream.state()
    assert state is not None
    return state.messages


@pytest.mark.parametrize("before", [1, 7, 20])
async def test_what_was_published_without_our_hearing_of_it_is_not_stored_twice(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId, before: int
) -> None:
    """Published again, it is known by its id; the rest follows in its order."""
    consumer = bus.consumer(under_test.subscription(Effects("group")))
    await under_test.publish(tenant_id, range(20))
    await _publish_and_die(bus, under_test, most=before)

    assert await under_test.relay() == 20
    await under_test.publish(tenant_id, [20])
    assert await under_test.relay() == 1

    assert await _stored(bus) == 21
    assert await consumer.drain() == 21
    assert await under_test.values("group") == list(range(21))


async def test_a_gap_in_a_set_keeps_back_all_behind_it(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Another writer's message came between: what NATS refused is published in the next pass, in its order."""
    await under_test.publish(tenant_id, [1])
    await under_test.relay()
    client = await bus.connection.client()
    await client.request(f"{bus.stream.name}.elsewhere", b"not ours")
    await under_test.publish(tenant_id, range(2, 9))

    assert await under_test.relay() == 7
    await bus.consumer(under_test.subscription(Effects("group"))).drain()

    assert await under_test.values("group") == list(range(1, 9))


async def test_a_killed_relay_s_message_lets_nothing_pass_what_was_committed_late(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """A lower number comes to light after a relay has published the higher one and died: the lane keeps its order."""

    async def append(*events: Event) -> None:
        async with under_test.db.tenant(tenant_id) as tx:
            await under_test.outbox.append(tx, events)

    await append(under_test.event(tenant_id, 0, key="first"))
    await under_test.relay()
    async with under_test.db.tenant(tenant_id) as late:
        await under_test.outbox.append(late, [under_test.event(tenant_id, 1, key="late")])
        await append(under_test.event(tenant_id, 5, key="other"))
        await _publish_and_die(bus, under_test, most=1)
    await append(under_test.event(tenant_id, 2, key="late"))

    assert await under_test.relay() == 3
    await bus.consumer(under_test.subscription(Effects("group"))).drain()
    of_lane = [value for lane, value in await under_test.effects("group") if lane.endswith("/late")]
    assert of_lane == [1, 2]


async def test_an_event_is_a_cloudevent_under_the_subject_of_its_tenant(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Readers outside need no more than a client of NATS."""
    (event,) = await under_test.publish(tenant_id, [7])
    await under_test.publish(None, [8])
    await under_test.relay()
    client = await bus.connection.client()
    stream = client.jetstream()

    found = await stream.get_last_msg(bus.stream.name, f"{bus.stream.name}.{tenant_id}.thing.happened.v1")
    platform = await stream.get_last_msg(bus.stream.name, f"{bus.stream.name}._.thing.happened.v1")

    assert found.data is not None
    assert platform.data is not None
    assert found.headers is not None
    assert found.headers["Nats-Msg-Id"] == event.id
    assert found.headers["Content-Type"] == "application/cloudevents+json"
    read = msgspec.json.decode(found.data)
    assert (read["specversion"], read["id"], read["tenantid"], read["data"]) == (
        "1.0",
        event.id,
        tenant_id,
        {"value": 7},
    )
    assert msgspec.json.decode(platform.data)["data"] == {"value": 8}


async def test_what_the_group_has_applied_already_it_does_not_get(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Its row names the group; the others get it."""
    applied = under_test.event(tenant_id, 1)
    values = (
        applied.id,
        tenant_id,
        applied.subject,
        applied.ordering_key,
        applied.data,
        attributes_of(applied),
    )
    async with under_test.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO notification.outbox (id, tenant_id, subject, ordering_key, payload, envelope, applied_by) "
            "VALUES ($1, $2, $3, $4, $5, $6, 'first')",
            *values,
        )
    await under_test.publish(tenant_id, [2])
    await under_test.relay()

    await bus.consumer(under_test.subscription(Effects("first"))).drain()
    await bus.consumer(under_test.subscription(Effects("second"))).drain()

    assert await under_test.values("first") == [2]
    assert await under_test.values("second") == [1, 2]


async def test_an_event_that_is_too_large_waits_and_is_named(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """Those before it go out; nothing is left out behind its back."""
    await under_test.publish(tenant_id, [1])
    large = under_test.event(tenant_id, 2)
    swollen = Event(
        **{name: getattr(large, name) for name in large.__struct_fields__ if name != "data"},
        data=f'"{"x" * 2_000_000}"',
    )
    await under_test.commit(tenant_id, [swollen])

    with pytest.raises(JetStreamError, match=f"{large.id} has .* max_payload"):
        await under_test.relay()

    assert await _stored(bus) == 1


async def test_patterns_that_cross_are_one_consumer(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """JetStream refuses filters that can mean the same event; the group gets each once, and no other."""
    for value, subject in enumerate(["a.b.v1", "a.c.v1", "a.b.v2", "b.b.v1"]):
        await under_test.publish(tenant_id, [value], subject=subject)
    await under_test.relay()

    for name, patterns in {"cross": ("a.*.v1", "a.b.*"), "cover": ("a.>", "a.b.v1", "a.b.v1")}.items():
        await bus.consumer(under_test.subscription(Effects(name), subjects=patterns)).drain()

    assert await under_test.values("cross") == [0, 1, 2]
    assert await under_test.values("cover") == [0, 1, 2]
