"""Readers outside, on NATS: woken by what was stored, refused in plain words while it is away."""

import asyncio

import pytest

from tests.integration.nats.conftest import nats_of
from tests.support.bus import DEADLINE, BusUnderTest, running
from tests.support.nats import NatsServer
from tidings.kernel.bus import EVERYTHING, BusUnavailableError, SubjectFilter
from tidings.kernel.http.problems import answer
from tidings.kernel.ids import TenantId
from tidings.kernel.nats_bus.bus import NatsBus


async def test_who_waits_is_woken_after_a_restart_of_the_server(
    killable: BusUnderTest, own_server: NatsServer, tenant_id: TenantId
) -> None:
    """The watch is made anew; nobody waits for the next look by the clock, which is minutes away."""
    feed = killable.bus.feed
    after = await feed.cursor("now")
    async with running(killable.bus, killable.bus.relay("notification")), asyncio.timeout(DEADLINE):
        with feed.listen(tenant_id, EVERYTHING) as called:
            for value in range(3):
                await killable.publish(tenant_id, [value])
                while True:
                    called.clear()
                    page = await feed.read(tenant_id, EVERYTHING, after=after, limit=10)
                    if page.events:
                        break
                    await called.wait()
                assert [event.payload()["value"] for event in page.events] == [value]
                after = page.next_cursor
                own_server.kill()
                own_server.start()
                await _connected(nats_of(killable))


async def _connected(bus: NatsBus) -> None:
    while True:
        try:
            await bus.connection.client()
        except BusUnavailableError:
            continue
        if bus.connection.connected:
            return


async def test_while_nats_is_away_readers_are_told_to_come_back(
    killable: BusUnderTest, own_server: NatsServer, tenant_id: TenantId
) -> None:
    """503, without a word of servers; their cursor is good afterwards."""
    feed = killable.bus.feed
    after = await feed.cursor("now")
    own_server.kill()
    with pytest.raises(BusUnavailableError) as refused:
        while True:
            await feed.read(tenant_id, EVERYTHING, after=after, limit=1)
    told = answer(refused.value, path="/api/v1/events", request_id="req_1")
    assert told.status == 503
    own_server.start()
    await killable.publish(tenant_id, [1])
    async with running(killable.bus, killable.bus.relay("notification")), asyncio.timeout(DEADLINE):
        await _connected(nats_of(killable))
        while not (page := await feed.read(tenant_id, EVERYTHING, after=after, limit=5)).events:
            await asyncio.sleep(0.02)

    assert len(page.events) == 1


async def test_patterns_that_are_several_leave_nothing_out(
    under_test: BusUnderTest, bus: NatsBus, tenant_id: TenantId
) -> None:
    """JetStream reads by one; the rest of a tenant's events is passed over, in pages that may be empty."""
    after = await bus.feed.cursor("now")
    for value in range(30):
        subject = ("a.b.v1", "c.d.v1", "e.f.v1")[value % 3]
        await under_test.publish(tenant_id, [value], subject=subject)
    await under_test.relay()
    wanted, found, pages = SubjectFilter(["a.b.v1", "e.>"]), [], 0
    while True:
        page = await bus.feed.read(tenant_id, wanted, after=after, limit=4)
        found += [event.payload()["value"] for event in page.events]
        after, pages = page.next_cursor, pages + 1
        if page.at_end:
            break

    assert found == [value for value in range(30) if value % 3 != 1]
    assert pages >= 7
