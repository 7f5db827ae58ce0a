"""Caches are warmed in sets: at the start, for tenants whose settings changed, and anew when all was forgotten."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta

from tidings.kernel.announced_changes import AnnouncedChanges
from tidings.kernel.errors import DatabaseBusyError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.warm_up import CacheWarmer

_NOW = datetime(2026, 11, 16, tzinfo=UTC)
TENANTS = [TENANT.new(_NOW + timedelta(seconds=n)) for n in range(250)]


class Channel:
    """Stands for the connection that notifications come by."""

    def __init__(self) -> None:
        self.proved = True
        self.say: Callable[[str | None], None] = lambda _: None

    def hear(self, _: str, heard: Callable[[str | None], None]) -> None:
        self.say = heard


class Cache:
    def __init__(self) -> None:
        self.sets: list[list[TenantId]] = []
        self.failures = 0

    async def warm_up(self, tenant_ids: Sequence[TenantId]) -> None:
        if self.failures:
            self.failures -= 1
            raise DatabaseBusyError("busy")
        self.sets.append(list(tenant_ids))


def _warmer(
    channel: Channel, *caches: Cache, active: Sequence[TenantId] = (), most: int = 200
) -> CacheWarmer:
    async def lately(count: int) -> Sequence[TenantId]:
        return active[:count]

    changes = AnnouncedChanges(channel)  # type: ignore[arg-type]  # all that it needs
    return CacheWarmer(changes, lately, [cache.warm_up for cache in caches], most=most, pause=0.001)


async def test_those_who_were_active_lately_are_warmed_first_and_in_sets() -> None:
    channel, one, other = Channel(), Cache(), Cache()
    warmer = _warmer(channel, one, other, active=TENANTS)

    assert [await warmer.warm() for _ in range(3)] == [100, 100, 0]
    assert one.sets == other.sets == [TENANTS[:100], TENANTS[100:200]]


async def test_a_tenant_whose_settings_changed_is_warmed_and_no_other_row() -> None:
    channel, cache = Channel(), Cache()
    warmer = _warmer(channel, cache)
    await warmer.warm()

    for payload in (
        f"notification.templates {TENANTS[0]}",
        f"chan.fallback_policies {TENANTS[1]}",
        f"notification.categories {TENANTS[0]}",
        "notification.api_keys key_01M7JQ7EFHHDWW5H226882Y9T0",
        "notification.templates tnt_'; DROP",
    ):
        channel.say(payload)

    assert [await warmer.warm() for _ in range(2)] == [2, 0]
    assert cache.sets == [TENANTS[:2]]


async def test_what_waits_is_bounded() -> None:
    channel, cache = Channel(), Cache()
    warmer = _warmer(channel, cache, most=3)
    await warmer.warm()
    for tenant_id in TENANTS:
        channel.say(f"notification.templates {tenant_id}")

    assert [await warmer.warm() for _ in range(2)] == [3, 0]


async def test_it_goes_on_after_a_failure_and_warms_anew_when_all_was_forgotten() -> None:
    channel, cache = Channel(), Cache()
    warmer = _warmer(channel, cache, active=TENANTS[:2])
    cache.failures = 1
    channel.proved = False
    stop = asyncio.Event()
    running = asyncio.create_task(warmer.run(stop))

    async def until(sets: int) -> None:
        while len(cache.sets) < sets:
            await asyncio.sleep(0.001)

    await asyncio.sleep(0.01)
    assert cache.failures == 1, "nothing is warmed that would not be kept"
    channel.proved = True
    channel.say(None)
    while cache.failures:
        await asyncio.sleep(0.001)
    channel.say(f"notification.templates {TENANTS[5]}")
    await asyncio.wait_for(until(1), 5)
    channel.say(None)
    await asyncio.wait_for(until(2), 5)
    stop.set()
    await asyncio.wait_for(running, 5)

    assert cache.sets == [[TENANTS[5]], TENANTS[:2]]
