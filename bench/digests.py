"""Digests: notifications a second that join windows, and that their flush puts into one message each.

The raw limit is the same rows changed by bare asyncpg, found by their keys in sets as large as a claim: nobody moves a
notification faster than Postgres writes its row. What joins was claimed, loaded and decided; what is flushed was loaded,
rendered as a line of its digest, superseded and told. Both sides run in turns, in one process without workers.
"""

import asyncio
import contextlib
import statistics
import time
from collections.abc import Sequence
from datetime import timedelta

import httpx2
import uvloop
from msgspec import structs

from bench.house import House, Resident
from bench.workload import KEY, PEOPLE, VERSION, bulk
from tidings.bootstrap import System
from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import DigestChoice, NotificationPolicy, TenantUpdated
from tidings.kernel.ids import TenantId, time_of

ROUNDS = 3
#: Of one round, for so many people: a few for each.
NOTIFICATIONS = 4_000
_SET = 200
_RAW = """
UPDATE notification.notifications AS n SET status = $4, updated_at = now()
FROM unnest($1::text[], $2::timestamptz[]) AS given (id, created_at)
WHERE n.tenant_id = $3 AND n.id = given.id AND n.created_at = given.created_at
"""
_HEADERS = {"Content-Type": "application/json"}


def measure() -> dict[str, float]:
    """Items a second each way, and their share of the raw limit. Call it in the main thread."""
    with House(workers=0, vendors={"smtp": {"host": "127.0.0.1", "port": 9, "security": "none"}}) as house:
        resident = house.resident("gathered")
        house.publish(resident, KEY, "email", VERSION)
        return uvloop.run(_measure(house, resident))


async def _measure(house: House, resident: Resident) -> dict[str, float]:
    found: dict[str, list[float]] = {name: [] for name in ("raw", "appended", "flushed", "digests")}
    async with house.system() as system:
        stop = asyncio.Event()
        alive = asyncio.create_task(system.kernel.presence.run(stop))
        await system.kernel.presence.known.wait()
        await _gather_social(system, resident.tenant_id)
        headers = {"Authorization": f"Bearer {resident.api_key}"}
        transport = httpx2.ASGITransport(app=system.app)
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://house", headers=headers
        ) as client:
            # The first round prepares statements and caches, and does not count.
            for turn in range(ROUNDS + 1):
                figures = await _round(system, client, resident.tenant_id, turn)
                if turn:
                    for name, value in figures.items():
                        found[name].append(value)
        stop.set()
        await alive
    return {
        "digest_raw_updates_per_s": statistics.median(found["raw"]),
        "digest_appends_per_s": statistics.median(found["appended"]),
        "digest_appends_ratio_to_raw": _ratio(found, "appended"),
        "digest_items_flushed_per_s": statistics.median(found["flushed"]),
        "digest_items_flushed_ratio_to_raw": _ratio(found, "flushed"),
        "digests_flushed_per_s": statistics.median(found["digests"]),
    }


def _ratio(found: dict[str, list[float]], name: str) -> float:
    return statistics.median(part / raw for part, raw in zip(found[name], found["raw"], strict=True))


async def _gather_social(system: System, tenant_id: TenantId) -> None:
    """Everybody gets what is social in digests."""
    async with system.db.platform() as tx:
        await system.access.tenants.change(
            tx,
            tenant_id,
            lambda known: TenantUpdated(
                tenant_id=known.id,
                version=known.version + 1,
                notification_policy=_with_digests(known.notification_policy),
            ),
            actor="bench",
        )


def _with_digests(policy: NotificationPolicy) -> NotificationPolicy:
    return structs.replace(policy, digest_schedule={"social": DigestChoice(every="minutes", minutes=1440)})


async def _round(
    system: System, client: httpx2.AsyncClient, tenant_id: TenantId, turn: int
) -> dict[str, float]:
    ids: list[NotificationId] = []
    for first in range(0, NOTIFICATIONS, 1_000):
        content = bulk(turn * NOTIFICATIONS + first, 1_000, category="social")
        answer = await client.post("/api/v1/notifications/bulk", content=content, headers=_HEADERS)
        answer.raise_for_status()
        ids += [one["id"] for one in answer.json()["results"]]
    raw = await _raw(system, tenant_id, ids)
    started = time.perf_counter()
    joined = await system.dispatch.job.drain()
    appended = joined / (time.perf_counter() - started)
    async with system.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE notification.digest_windows SET flush_at = $1 WHERE tenant_id = $2 AND state = 'open'",
            system.clock.now() - timedelta(seconds=1),
            tenant_id,
        )
    started = time.perf_counter()
    windows = await system.digests.flushing.drain()
    seconds = time.perf_counter() - started
    async with system.db.tenant(tenant_id) as tx:
        # The digests themselves are not sent here.
        await tx.connection.execute("DELETE FROM notification.dispatch_queue WHERE tenant_id = $1", tenant_id)
    return {"raw": raw, "appended": appended, "flushed": joined / seconds, "digests": windows / seconds}


async def _raw(system: System, tenant_id: TenantId, ids: Sequence[NotificationId]) -> float:
    started = time.perf_counter()
    for first in range(0, len(ids), _SET):
        some = ids[first : first + _SET]
        async with system.db.tenant(tenant_id, by_index=True) as tx:
            await tx.connection.execute(_RAW, some, [time_of(id_) for id_ in some], tenant_id, "queued")
    return len(ids) / (time.perf_counter() - started)


def main() -> None:
    """Measure and show."""
    print(f"{NOTIFICATIONS:,} notifications for {PEOPLE:,} people, {ROUNDS} rounds")
    for name, value in measure().items():
        print(f"{name:44} {value:>12,.2f}")


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
