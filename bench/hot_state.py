"""Limits: takes a second in Redis with Postgres behind it, in Postgres alone, and by the bare script.

The raw limit is the same script with the same arguments, called by a socket and nothing else: prepared bytes, a hundred
calls under way at a time, answers counted and not read. Nobody takes faster from this server with this arithmetic.
`one` is a call for one notification: the tenant's limit and the recipient's, sixteen callers at a time. `set` is a call
for a hundred, as a turn of the dispatcher makes. All ways run in turns, so that a busy neighbour slows all; a ratio is
taken within each round, and the median of the rounds is shown.
"""

import asyncio
import itertools
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta

import msgspec
from tests.support.valkey import Valkey, running_valkey

from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.hot_state_takeover import TakeoverHotState
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.limit_windows import FixedWindow, SlidingWindow, micros, to_micros
from tidings.kernel.local_hot_state import LocalHotState
from tidings.kernel.redis_hot_state.scripts import LuaScript

CALLERS = 16
SET = 100
PIPELINED = 100
SECONDS = 0.7
ROUNDS = 5
RECIPIENTS = 200_000

_CLOCK = SystemClock()
_TENANT_LIMIT = FixedWindow(10**9, timedelta(seconds=1))
_RECIPIENT_LIMIT = SlidingWindow(10**6, timedelta(minutes=1))
_numbers = itertools.count()

#: Runs for about so long; how many notifications were let through, and in which time.
Way = Callable[[float], Awaitable[float]]


async def measure(runtime_url: str) -> dict[str, float]:
    """Notifications a second that pass their limits, each way, and their shares."""
    db = Database(runtime_url, PoolSettings(min_size=CALLERS, max_size=CALLERS))
    await db.open()
    figures: dict[str, float] = {}
    try:
        with running_valkey() as valkey:
            behind = TakeoverHotState(valkey.url, db, _CLOCK)
            try:
                for name, size in (("one", 1), ("set", SET)):
                    tenant = TENANT.new(_CLOCK.now())
                    ways = {
                        "redis": _through(behind.limits, tenant, size),
                        "postgres": _through(LocalHotState(db, _CLOCK).limits, tenant, size),
                        "raw": _by_hand(valkey, size),
                    }
                    figures |= await _compare(name, ways)
            finally:
                await behind.close()
    finally:
        await db.close()
    return figures


async def _compare(name: str, ways: dict[str, Way]) -> dict[str, float]:
    rates: dict[str, list[float]] = {way: [] for way in ways}
    for work in ways.values():
        await work(0.2)
    for turn in range(ROUNDS):
        for way in list(ways)[turn % len(ways) :] + list(ways)[: turn % len(ways)]:
            rates[way].append(await ways[way](SECONDS))

    def ratio(way: str) -> float:
        return statistics.median(r / other for r, other in zip(rates["redis"], rates[way], strict=True))

    return {
        f"limits_{name}_redis_per_s": statistics.median(rates["redis"]),
        f"limits_{name}_postgres_per_s": statistics.median(rates["postgres"]),
        f"limits_{name}_raw_per_s": statistics.median(rates["raw"]),
        f"limits_{name}_ratio_to_postgres": ratio("postgres"),
        f"limits_{name}_ratio_to_raw": ratio("raw"),
    }


def _group() -> list[Take]:
    recipient = f"recipient:rcp_{next(_numbers) % RECIPIENTS:026}:hour"
    return [Take(key="tenant:second", limit=_TENANT_LIMIT), Take(key=recipient, limit=_RECIPIENT_LIMIT)]


def _through(limits: Limits, tenant: TenantId, size: int) -> Way:
    async def work(seconds: float) -> float:
        started = time.perf_counter()
        deadline = started + seconds

        async def caller() -> int:
            done = 0
            while time.perf_counter() < deadline:
                taken = await limits.take(tenant, [_group() for _ in range(size)])
                assert all(one.granted for one in taken)
                done += size
            return done

        counts = await asyncio.gather(*(caller() for _ in range(CALLERS)))
        return sum(counts) / (time.perf_counter() - started)

    return work


def _by_hand(valkey: Valkey, size: int) -> Way:
    script = LuaScript.named("limits")
    answer = b"R" + msgspec.msgpack.encode([0] * size)
    reply = len(f"${len(answer)}\r\n") + len(answer) + 2

    def call(now: int) -> bytes:
        keys = ["tidings:bench:{raw}:tenant"]
        groups = []
        for _ in range(size):
            keys.append(f"tidings:bench:{{raw}}:limit:recipient:rcp_{next(_numbers) % RECIPIENTS:026}:hour")
            fixed = (1, 1, _TENANT_LIMIT.limit, micros(_TENANT_LIMIT.window), 0, 1)
            groups.append(
                [fixed, (len(keys), 2, _RECIPIENT_LIMIT.limit, micros(_RECIPIENT_LIMIT.window), 0, 1)]
            )
        arguments = [
            str(now).encode(),
            msgspec.msgpack.encode(groups),
            b"0",
            msgspec.msgpack.encode({}),
        ]
        words = [b"EVALSHA", script.digest.encode(), str(len(keys)).encode(), *(k.encode() for k in keys)]
        parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in (*words, *arguments)]
        return b"*%d\r\n%s" % (len(parts), b"".join(parts))

    async def work(seconds: float) -> float:
        valkey.say(("SCRIPT", "LOAD", script.text))
        now = to_micros(_CLOCK.now())
        prepared = b"".join(call(now) for _ in range(PIPELINED))
        reader, writer = await asyncio.open_connection("127.0.0.1", valkey.port, limit=2**22)
        done, started = 0, time.perf_counter()
        while time.perf_counter() < started + seconds:
            writer.write(prepared)
            answers = await reader.readexactly(PIPELINED * reply)
            assert answers.startswith(b"$%d\r\nR" % len(answer))
            done += PIPELINED * size
        took = time.perf_counter() - started
        writer.close()
        await writer.wait_closed()
        return done / took

    return work
