"""Relays and consumers in several processes that are killed at any moment, under writers of every kind."""

import asyncio
import contextlib
import random
import sys
from collections import defaultdict
from pathlib import Path

from tests.support.bus import DEADLINE, BusUnderTest
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT, TenantId

_PROCESS = Path(__file__).with_name("member_process.py")
_SECONDS = 6.0
_LANES = 12


class _Writers:
    """Write to many lanes: one transaction after the other in each, in any order between them."""

    def __init__(self, under_test: BusUnderTest, luck: random.Random) -> None:
        self._under_test = under_test
        self._luck = luck
        self._tenants = [TENANT.new(SystemClock().now()) for _ in range(3)]
        #: What was committed, by lane and in order.
        self.committed: dict[str, list[int]] = defaultdict(list)

    async def write(self, number: int, over: asyncio.Event) -> None:
        """One lane, until it is over."""
        tenant, luck, value = self._tenants[number % 3], self._luck, 0
        while not over.is_set():
            values = range(value, value + luck.choice((1, 1, 2, 7)))
            value = values.stop
            with contextlib.suppress(LookupError):
                await self._transaction(tenant, f"key-{number}", values)
                self.committed[f"{tenant}/key-{number}"] += values
            await asyncio.sleep(luck.random() * 0.01)

    async def _transaction(self, tenant: TenantId, key: str, values: range) -> None:
        under_test, luck = self._under_test, self._luck
        events = [under_test.event(tenant, value, key=key) for value in values]
        async with under_test.db.tenant(tenant) as tx:
            if luck.random() < 0.1:
                # A part that is rolled back takes numbers and gives them up.
                with contextlib.suppress(LookupError):
                    async with tx.savepoint():
                        await under_test.outbox.append(tx, [under_test.event(tenant, -1, key=key)])
                        raise LookupError
            await under_test.outbox.append(tx, events)
            if luck.random() < 0.05:
                await asyncio.sleep(luck.random() * 1.5)  # Late to commit, with low numbers.
            if luck.random() < 0.1:
                raise LookupError


async def _member(under_test: BusUnderTest, seed: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        str(_PROCESS),
        under_test.database.runtime_url,
        "group",
        str(seed),
        under_test.url,
        cwd=Path.cwd(),
        env={"PYTHONPATH": ".:src", "PATH": ""},
        stderr=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
    )


async def test_once_and_in_order_whoever_is_killed(on_each_engine: BusUnderTest) -> None:
    """Every committed event has its effect once; those of a lane in the order of their commits."""
    under_test, seed = on_each_engine, random.randrange(2**32)
    luck = random.Random(seed)
    writers, over = _Writers(under_test, luck), asyncio.Event()
    members = [await _member(under_test, seed + n) for n in range(3)]
    try:
        writing = [asyncio.create_task(writers.write(n, over)) for n in range(_LANES)]
        deadline = asyncio.get_running_loop().time() + _SECONDS
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(0.5 + luck.random())
            victim = luck.randrange(len(members))
            members[victim].kill()
            await members[victim].wait()
            members[victim] = await _member(under_test, luck.randrange(1000))
        over.set()
        await asyncio.gather(*writing)
        total = sum(map(len, writers.committed.values()))
        async with asyncio.timeout(DEADLINE):
            while len(await under_test.effects("group")) < total:
                await asyncio.sleep(0.05)
    finally:
        for member in members:
            member.kill()
        await asyncio.gather(*(member.wait() for member in members))

    effects: dict[str, list[int]] = defaultdict(list)
    for lane, value in await under_test.effects("group"):
        effects[lane].append(value)
    for lane, values in effects.items():
        wanted = writers.committed[lane]
        odd = [
            (n, one, other)
            for n, (one, other) in enumerate(zip(values, wanted, strict=False))
            if one != other
        ]
        assert values == wanted, (
            f"seed {seed}: {lane} has {len(values)} of {len(wanted)}, first differing (place, is, should be): {odd[:12]} tail {values[-5:]} {wanted[-5:]}"
        )
    assert effects == writers.committed, f"seed {seed}"
