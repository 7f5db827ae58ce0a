"""The ledger of consumed events does not grow for ever."""

from datetime import timedelta

from tests.support.bus import BusUnderTest, Effects
from tests.support.clock import ManualClock
from tidings.kernel.clock import SystemClock
from tidings.kernel.deduplicate import KEEP, ConsumedEvents
from tidings.kernel.ids import TenantId


async def test_consumed_events_are_swept_when_they_expire(
    under_test: BusUnderTest, tenant_id: TenantId
) -> None:
    """Not before: a dead letter may still be replayed."""
    consumer = under_test.bus.consumer(under_test.subscription(Effects("group")))
    await under_test.publish(tenant_id, range(30))
    await under_test.relay()
    await consumer.drain()
    ledger = ConsumedEvents("notification")
    now = SystemClock().now()

    assert await ledger.sweep(under_test.db, ManualClock(now + KEEP - timedelta(minutes=1))) == 0
    assert await ledger.sweep(under_test.db, ManualClock(now + KEEP + timedelta(minutes=1))) == 30


async def test_the_ledger_outlives_stream_and_dead_letters() -> None:
    """Seven days on the stream and fourteen as a dead letter."""
    assert timedelta(days=7 + 14) < KEEP


async def test_one_event_twice_in_a_set_has_one_effect(under_test: BusUnderTest, tenant_id: TenantId) -> None:
    """A producer that repeats itself is heard once."""
    event = under_test.event(tenant_id, 1)
    consumer = under_test.bus.consumer(under_test.subscription(Effects("group")))
    await under_test.commit(tenant_id, [event, event])
    await under_test.relay()

    assert await consumer.drain() == 1

    assert await under_test.values("group") == [1]
