"""`make simulate`: runs seeds by hand, and tells the story of those that fail; of a single seed always."""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Iterator

from tests.simulation.pure.run import Finding, simulate, told

#: Stories that are told; the others are only named.
_MOST_STORIES = 3


def main() -> int:
    """0 where every sentence held."""
    parser = argparse.ArgumentParser(prog="make simulate")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--count", type=int, default=1, help="how many seeds")
    parser.add_argument("--on", choices=("memory", "postgres"), default="memory")
    wish = parser.parse_args()
    seeds = range(wish.seed, wish.seed + wish.count)
    started = time.monotonic()
    found = list(_in_memory(seeds)) if wish.on == "memory" else asyncio.run(_on_postgres(seeds))
    for one in found[:_MOST_STORIES]:
        _say(str(one))
    for one in found[_MOST_STORIES:]:
        _say(f"Seed {one.seed}: {one.violations[0]}")
    _say(f"{len(seeds)} seeds in {time.monotonic() - started:.1f} s, {len(found)} failed.")
    return 1 if found else 0


def _in_memory(seeds: range) -> Iterator[Finding]:
    if len(seeds) == 1:
        story = told(seeds[0])
        if story.violations:
            yield story
        else:
            _say(str(story))
        return
    for seed in seeds:
        finding = simulate(seed)
        if finding is not None:
            yield finding


async def _on_postgres(seeds: range) -> list[Finding]:
    return [finding async for finding in _run_on_postgres(seeds)]


async def _run_on_postgres(seeds: range) -> AsyncIterator[Finding]:
    from structlog.testing import capture_logs

    from tests.simulation.postgres.run import PostgresRun
    from tests.support.postgres import RunningServer
    from tidings.kernel.clock import SystemClock
    from tidings.kernel.db import Database
    from tidings.kernel.ids import TENANT

    running = await asyncio.to_thread(RunningServer.start)
    try:
        async with running.server.clone() as database:
            db = Database(database.runtime_url)
            await db.open()
            try:
                for seed in seeds:
                    run = PostgresRun(seed, db, TENANT.new(SystemClock().now()))
                    with capture_logs():
                        found = await run.go()
                    finding = Finding(seed=seed, violations=found, story=str(run.story))
                    if found:
                        yield finding
                    elif len(seeds) == 1:
                        _say(str(finding))
            finally:
                await db.close()
    finally:
        await asyncio.to_thread(running.stop)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())
