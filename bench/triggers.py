"""Events that come in, triggers that are evaluated, and planned work that is due beside a million that is not.

Events of ten tenants come over HTTP in batches of a hundred, each with a person and three variables; a trigger of each
tenant plans a message for a local hour. What is planned is then made due. The raw limit is the same content inserted by
bare asyncpg in sets of the same size: nobody takes an event in faster than Postgres writes its row. All sides run in
turns, in one process without workers. `main` measures once with the bus in Postgres and once with its stream on NATS.
"""

import asyncio
import contextlib
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import httpx2
import uvloop
from tests.support.nats import running_nats

from bench.house import House, Resident
from bench.workload import KEY, PEOPLE, VERSION
from tidings.bootstrap import System

ROUNDS: Final = 3
TENANTS: Final = 10
#: Events of one round, and in one request.
EVENTS: Final = 4_000
_BATCH: Final = 100
#: What is planned and not due.
BESIDE: Final = 1_000_000
_RAW = """
INSERT INTO notification.received_event_ledger (tenant_id, identity_hash, event_id, expires_at)
SELECT $1, sha256(convert_to(id || $3, 'UTF8')), id, now() FROM unnest($2::text[]) AS given (id)
"""
_BESIDE = """
INSERT INTO notification.notification_scheduled
    (tenant_id, id, kind, priority, source_event_id, recipient_id, payload_ciphertext, run_after, trigger_id, trigger_version)
SELECT $1, 'sch_' || lpad(n::text, 26, '0'), 'trigger', 'normal', 'evt_' || lpad(n::text, 26, '0'), NULL,
       decode(repeat('00', 600), 'hex'), now() + interval '30 days' + n * interval '1 second', 'trg_bench', 1
FROM generate_series($2::integer, $3::integer) AS n
"""
_TYPE = "application/cloudevents-batch+json"


def measure(beside: int = BESIDE) -> dict[str, float]:
    """Events, triggers and planned rows a second, with the bus in Postgres. Call it in the main thread."""
    found = _medians(beside)
    return {
        **_bus_figures(found),
        "planned_due_per_s": found["due"],
        "planned_due_beside_a_million_per_s": found["due_beside"],
        "planned_due_beside_a_million_ratio": found["due_beside"] / found["due"],
    }


def measure_on_nats() -> dict[str, float]:
    """The part that the bus has a share in, with its stream on NATS; what is due does not pass it."""
    with running_nats() as server:
        found = _medians(None, TIDINGS_BUS_URL=server.url().reveal())
    return {f"nats_{name}": value for name, value in _bus_figures(found).items()}


def _bus_figures(found: Mapping[str, float]) -> dict[str, float]:
    return {
        "events_raw_inserts_per_s": found["raw"],
        "events_in_per_s": found["in"],
        "events_in_ratio_to_raw": found["in"] / found["raw"],
        "events_relayed_per_s": found["relayed"],
        "triggers_evaluated_per_s": found["evaluated"],
        "triggers_evaluated_ratio_to_raw": found["evaluated"] / found["raw"],
    }


def _medians(beside: int | None, **extra: str) -> dict[str, float]:
    """The median of each figure; without `beside` nothing is planned beside."""
    vendors: dict[str, dict[str, object]] = {"smtp": {"host": "127.0.0.1", "port": 9, "security": "none"}}
    with House(workers=0, vendors=vendors, extra=extra) as house:
        residents = house.residents([f"told-{n}" for n in range(TENANTS)])
        house.publish_for_all(residents, KEY, "email", VERSION)
        found = uvloop.run(_measure(house, residents, beside))
    return {name: statistics.median(values) for name, values in found.items() if values}


async def _measure(house: House, residents: Sequence[Resident], beside: int | None) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    async with house.system() as system:
        stop = asyncio.Event()
        alive = asyncio.create_task(system.kernel.presence.run(stop))
        await system.kernel.presence.known.wait()
        transport = httpx2.ASGITransport(app=system.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://house") as client:
            for resident in residents:
                await _post(client, resident, "/api/v1/triggers", json.dumps(_TRIGGER).encode())
            # The first round prepares statements and caches, and does not count.
            for turn in range((1 if beside is None else 2) * ROUNDS + 1):
                if beside is not None and turn == ROUNDS + 1:
                    await _plan_beside(system, residents, beside)
                figures = await _round(system, client, residents, turn)
                if turn:
                    figures["due_beside" if turn > ROUNDS else "due"] = figures.pop("released")
                    for name, value in figures.items():
                        found[name].append(value)
        stop.set()
        await alive
    return found


_TRIGGER: Final = {
    "event_type": "reservation.confirmed",
    "template": KEY,
    "channel": "email",
    "recipient": "$.data.guest",
    "variables": {"order_number": "$.subject", "items": "$.data.items"},
    "condition": "data.nights >= 2",
    "anchor": "$.data.starts_at",
    "offset": "-P2D",
    "local_time": "09:00",
    "subject": "$.subject",
    "cancelled_by": ["reservation.cancelled"],
}


def _event(turn: int, n: int) -> dict[str, Any]:
    return {
        "specversion": "1.0",
        "id": f"{turn}-{n}",
        "source": "/bench",
        "type": "reservation.confirmed",
        "subject": f"R-{turn}-{n}",
        "data": {
            "nights": 3,
            "starts_at": "2026-12-20T15:00:00Z",
            "items": [{"name": "Green tea", "quantity": 2}],
            "guest": {
                "identity": {"type": "guest", "id": f"g-{n % PEOPLE}"},
                "display_name": "Laila",
                "timezone": "Asia/Kabul",
                "addresses": [{"channel": "email", "address": f"laila.{n % PEOPLE}@example.test"}],
            },
        },
    }


async def _post(
    client: httpx2.AsyncClient,
    by: Resident,
    path: str,
    content: bytes,
    media_type: str = "application/json",
) -> None:
    headers = {"Authorization": f"Bearer {by.api_key}", "Content-Type": media_type}
    answer = await client.post(path, content=content, headers=headers)
    answer.raise_for_status()


async def _round(
    system: System, client: httpx2.AsyncClient, residents: Sequence[Resident], turn: int
) -> dict[str, float]:
    batches = [
        json.dumps([_event(turn, n) for n in range(first, first + _BATCH)]).encode()
        for first in range(0, EVENTS, _BATCH)
    ]
    raw = await _raw(system, residents, turn)
    started = time.perf_counter()
    await asyncio.gather(
        *(
            _post(client, residents[place % TENANTS], "/api/v1/events", content, _TYPE)
            for place, content in enumerate(batches)
        )
    )
    taken_in = EVENTS / (time.perf_counter() - started)
    relay = system.kernel.bus.relay("notification")
    started, moved = time.perf_counter(), 0
    while count := await relay.drain():
        moved += count
    relayed = moved / (time.perf_counter() - started)
    started = time.perf_counter()
    while await system.triggers.consumer.drain():
        pass
    evaluated = EVENTS / (time.perf_counter() - started)
    await _make_due(system, residents)
    started = time.perf_counter()
    await system.dispatch.schedule.drain()
    seconds = time.perf_counter() - started
    released = 0
    for resident in residents:
        async with system.db.tenant(resident.tenant_id) as tx:
            # They are not sent here.
            done = await tx.connection.execute(
                "DELETE FROM notification.dispatch_queue WHERE tenant_id = $1", resident.tenant_id
            )
            released += int(done.split()[-1])
    if released != EVENTS:
        raise AssertionError(f"{released} of {EVENTS} planned rows became messages")
    return {
        "raw": raw,
        "in": taken_in,
        "relayed": relayed,
        "evaluated": evaluated,
        "released": released / seconds,
    }


async def _raw(system: System, residents: Sequence[Resident], turn: int) -> float:
    started = time.perf_counter()
    for place, first in enumerate(range(0, EVENTS, _BATCH)):
        ids = [f"raw_{turn}_{n}" for n in range(first, first + _BATCH)]
        async with system.db.tenant(residents[place % TENANTS].tenant_id) as tx:
            await tx.connection.execute(_RAW, residents[place % TENANTS].tenant_id, ids, "raw")
    return EVENTS / (time.perf_counter() - started)


async def _make_due(system: System, residents: Sequence[Resident]) -> None:
    due = system.clock.now() - timedelta(seconds=1)
    for resident in residents:
        async with system.db.tenant(resident.tenant_id) as tx:
            await tx.connection.execute(
                # Without a zone, or it would be put back to the person's nine o'clock.
                "UPDATE notification.notification_scheduled SET run_after = $1, zone = NULL "
                "WHERE tenant_id = $2 AND processed_at IS NULL AND trigger_id <> 'trg_bench'",
                due,
                resident.tenant_id,
            )


async def _plan_beside(system: System, residents: Sequence[Resident], count: int) -> None:
    each, chunk = count // TENANTS, 50_000
    for resident in residents:
        for first in range(1, each + 1, chunk):
            async with system.db.tenant(resident.tenant_id) as tx:
                await tx.connection.execute(
                    _BESIDE, resident.tenant_id, first, min(first + chunk - 1, each), timeout=120
                )


def main() -> None:
    """Measure and show."""
    print(f"{EVENTS:,} events of {TENANTS} tenants, {ROUNDS} rounds, then beside {BESIDE:,} that are planned")
    for figures in (measure(), measure_on_nats()):
        for name, value in figures.items():
            print(f"{name:44} {value:>12,.2f}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
