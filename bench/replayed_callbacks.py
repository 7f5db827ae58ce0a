"""Callbacks replayed: every one twice and shuffled comes to the state of the ordered single run.

One made-up history is told two times, to tenants that are alike, over one Postgres with fsync on.

- In order: each callback once, by its time; before somebody is spoken of again, all that followed from the last word is done.
- Shuffled: each callback twice, in any order, over two hundred connections, with three jobs that apply and at times die before
  they can note it. Ladders go on and notify hears of it at the same time, now of outcomes first and now of receipts. About a
  third of the messages is spoken of before it is written down that a vendor took them.

Real are the hooks with the signatures and forms of `http`, `sendgrid`, `twilio` and `whatsapp_cloud`, the intake, the jobs, the
ladders, spend, profiles, the status map, the bus, and notify's consumers of outcomes and receipts. The vendors are played by the
sandbox's dialects. Then all that callbacks can change is compared; what is left out, because it can't be the same, stands in
`bench.replay.state`. A difference is an error.

Figures: requests accepted and events applied a second in both runs, each beside a raw insert of as many rows as in
`bench.callbacks`. In the ordered run taking in and applying take turns and sets are small; in the shuffled one both happen at
once, half of the requests are repeats, and the time of applying is that of the whole run.

`python -m bench.replayed_callbacks [--events 100000] [--seed 1]` shows this alone.
"""

import argparse
import tempfile
from pathlib import Path

import asyncpg
import uvloop

from bench.callbacks import raw_inserts
from bench.replay.history import make_history
from bench.replay.runs import ordered, shuffled
from bench.replay.state import State, differences, read_state
from bench.replay.world import World, first_moment_of_today
from tidings.kernel import logs
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

EVENTS = 100_000
SEED = 1


async def _measure(runtime_url: str, owner_url: str, folder: Path, many: int, seed: int) -> dict[str, float]:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()
    history = make_history(many, seed=seed)
    raw_events, raw_receipts = await raw_inserts(owner_url, max(many // 500, 1) * 500)
    db = Database(runtime_url, PoolSettings(max_size=16))
    await db.open()
    try:
        day = first_moment_of_today()
        one, other = (
            World(db, history, run=run, runtime_url=runtime_url, folder=folder, day=day) for run in ("a", "b")
        )
        once = await ordered(one)
        twice = await shuffled(other, seed=seed)
        first, second = await read_state(one), await read_state(other)
    finally:
        await db.close()
    found = differences(first, second)
    if {one.heard.accepted, other.heard.accepted, other.heard.repeated} != {history.events}:
        found.append(
            f"{other.heard.accepted} accepted and {other.heard.repeated} repeated of {history.events}"
        )
    if found:
        raise AssertionError("\n".join(["the shuffled run came to another state", *found]))
    return {
        "replayed_callbacks": float(len(history.requests)),
        "replayed_rows_compared": float(_size(first)),
        "replayed_rows_that_differ": 0.0,
        "replayed_looks_for_messages_in_vain": float(other.heard.late_looks),
        "replayed_ordered_accepted_per_second": once.accepted,
        "replayed_ordered_accepted_share_of_raw_insert": once.accepted / raw_events,
        "replayed_ordered_applied_per_second": once.applied,
        "replayed_ordered_applied_share_of_raw_insert": once.applied / raw_receipts,
        "replayed_shuffled_accepted_per_second": twice.accepted,
        "replayed_shuffled_accepted_share_of_raw_insert": twice.accepted / raw_events,
        "replayed_shuffled_applied_per_second": twice.applied,
        "replayed_shuffled_applied_share_of_raw_insert": twice.applied / raw_receipts,
    }


def _size(state: State) -> int:
    return sum(rows.total() for rows in state.values())


def measure(many: int = EVENTS, *, seed: int = SEED) -> dict[str, float]:
    """How fast both runs were; an `AssertionError` that names the differences where they came to different states."""
    # Every death of a job is a warning, and they are meant to die.
    logs.configure(level="error")
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o711)
        data_dir = DataDir(folder / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)  # as `tidings up` runs it: fsync on
        postgres.start()
        try:
            return uvloop.run(
                _measure(postgres.url("tidings_runtime"), postgres.url("tidings_owner"), folder, many, seed)
            )
        finally:
            postgres.stop()
            data_dir.close()


def main() -> None:
    """Measure, show."""
    asked = argparse.ArgumentParser(
        description="Every callback twice and shuffled, beside once and in order."
    )
    asked.add_argument("--events", type=int, default=EVENTS, help="callbacks, of an event or a few each")
    asked.add_argument("--seed", type=int, default=SEED, help="of the history and of the shuffle")
    chosen = asked.parse_args()
    for name, value in measure(chosen.events, seed=chosen.seed).items():
        print(f"{name:48} {value:>12,.3f}" if 0 < value < 100 else f"{name:48} {value:>12,.0f}")


if __name__ == "__main__":
    main()
