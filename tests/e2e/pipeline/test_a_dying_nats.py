"""NATS is killed while hundreds are under way, twice, and comes back: sending goes on, and every event is there once."""

import asyncio
import time
from collections import Counter

import httpx2
import msgspec
import nats
import pytest
from bench.house import House, wait_for
from nats.js.api import AckPolicy, ConsumerConfig

from tests.e2e.pipeline.ledger import Ledger, read_ledger
from tests.e2e.pipeline.senders import Senders
from tests.support.counting_vendor import CountingVendor
from tests.support.nats import NatsServer, running_nats
from tests.support.prepared_house import prepared_house
from tests.support.running import wait_until

pytestmark = pytest.mark.xdist_group("surviving")

SENT = 1_000


def test_sending_goes_on_and_each_outcome_is_told_once() -> None:
    """Accepted, sent and delivered without it; then all groups have read all events, and none twice."""
    with (
        running_nats() as server,
        CountingVendor(hold=0.2) as vendor,
        prepared_house(
            workers=2,
            vendors={"smtp": {"host": "127.0.0.1", "port": vendor.port, "security": "none"}},
            extra={"TIDINGS_BUS_URL": server.url().reveal()},
        ) as house,
    ):
        resident = house.resident("on-nats")
        senders = Senders(house.base_url, resident, count=SENT)
        sending = vendor.begin(senders.send_all())
        for share in (0.1, 0.4):
            _await_count(vendor, SENT * share)
            server.kill()
            # Sending goes on without it.
            _await_count(vendor, min(vendor.count + SENT / 8, SENT))
            assert _readiness(house) == "degraded"
            server.start()
        wait_for(sending.done, "all to be accepted")
        sending.result()
        sent = set(senders.accepted.values())
        ledger = _await_the_end(house, server)
        events = asyncio.run(_events(server))
        wait_until(lambda: _readiness(house) == "ready", "it to be ready")
        logs = "".join(program.output for program in house.programs)

    assert sent == set(vendor.came), "lost"
    assert vendor.count == SENT, "twice"
    assert {ledger.statuses[id_] for id_ in sent} == {"delivered"}
    for told in (
        ledger.proofs,
        _about(events, "notification.delivery.outcome.v1"),
        _about(events, "notification.delivered.v1"),
    ):
        assert {told[id_] for id_ in sent} == {1}
    assert ledger.dead_letters == 0
    assert not ledger.outcome_events, "nothing of it went through Postgres"
    assert "nats_away" in logs
    assert "job_fell" not in logs


def _await_count(vendor: CountingVendor, goal: float) -> None:
    wait_for(lambda: vendor.count >= goal, f"{goal:.0f} to arrive")


def _readiness(house: House) -> str:
    answer = httpx2.get(f"{house.base_url}/readyz", timeout=30)
    assert answer.status_code == 200
    status: str = answer.json()["status"]
    return status


def _await_the_end(house: House, server: NatsServer) -> Ledger:
    """Until nothing waits, in Postgres or on NATS."""

    def over() -> bool:
        ledger = read_ledger(house.postgres.url("tidings_owner"))
        return not any(ledger.waiting.values()) and asyncio.run(_unread(server)) == 0

    wait_until(over, "everything to be over", 120)
    time.sleep(0.5)
    # Anew: statuses are read a moment before what waits.
    return read_ledger(house.postgres.url("tidings_owner"))


async def _unread(server: NatsServer) -> int:
    """Events that some group has not read, or not acknowledged."""
    client = await nats.connect(server.url().reveal())
    try:
        groups = await client.jetstream().consumers_info("tidings")
        assert len(groups) > 5
        return sum((one.num_pending or 0) + (one.num_ack_pending or 0) for one in groups)
    finally:
        await client.close()


async def _events(server: NatsServer) -> list[dict[str, object]]:
    """All that is on the stream."""
    client = await nats.connect(server.url().reveal())
    try:
        stream = client.jetstream()
        unacknowledged = ConsumerConfig(ack_policy=AckPolicy.NONE)
        reader = await stream.pull_subscribe("tidings.*.>", stream="tidings", config=unacknowledged)
        found: list[dict[str, object]] = []
        info = await stream.stream_info("tidings")
        while len(found) < info.state.messages:
            found += [msgspec.json.decode(message.data) for message in await reader.fetch(500, timeout=5)]
        return found
    finally:
        await client.close()


def _about(events: list[dict[str, object]], kind: str) -> Counter[str]:
    return Counter(
        event["data"]["notification_id"]  # type: ignore[index]
        for event in events
        if event["type"] == kind
    )
