"""`make bench`: a real Postgres in a temporary data dir, every measurement, a table and `bench/results.json`."""

import json
import os
import platform
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import uvloop

from bench import (
    batches,
    callbacks,
    console,
    digests,
    fairness,
    hot_state,
    imports,
    inbox,
    kill,
    ladders,
    learned_order,
    many_tenants,
    memory,
    pipeline,
    relay,
    render,
    replayed_callbacks,
    smtp,
    statements,
    transactions,
    trickles,
    triggers,
    webhooks,
)
from tidings.kernel.clock import SystemClock
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

RESULTS = Path(__file__).parent / "results.json"


async def _measure(runtime_url: str, owner_url: str) -> dict[str, float]:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()
    figures: dict[str, float] = {}
    figures |= await transactions.measure(runtime_url)
    figures |= await relay.measure(runtime_url)
    figures |= await smtp.measure()
    figures |= await render.measure()
    figures |= await hot_state.measure(runtime_url)
    figures |= await ladders.measure(runtime_url)
    return figures


def main() -> None:
    """Measure, show, keep."""
    busy = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        data_dir = DataDir(Path(folder) / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)  # as `tidings up` runs it: fsync on
        postgres.start()
        try:
            # The loop that the product runs on.
            figures = uvloop.run(_measure(postgres.url("tidings_runtime"), postgres.url("tidings_owner")))
        finally:
            postgres.stop()
            data_dir.close()
    # With processes of their own.
    figures |= statements.measure()
    figures |= pipeline.measure()
    figures |= many_tenants.measure()
    figures |= memory.measure()
    figures |= fairness.measure()
    figures |= trickles.measure()
    figures |= kill.measure()
    figures |= imports.measure()
    figures |= triggers.measure()
    figures |= digests.measure()
    figures |= batches.measure()
    figures |= webhooks.measure()
    figures |= inbox.measure()
    figures |= console.measure()
    figures |= callbacks.measure()
    # Fewer than `python -m bench.replayed_callbacks` replays by itself.
    figures |= replayed_callbacks.measure(20_000)
    figures |= learned_order.measure()
    print(f"{'load of the machine before, per core':44} {busy / (os.cpu_count() or 1):>12.3f}")
    for name, value in figures.items():
        print(f"{name:44} {value:>12,.3f}" if value < 100 else f"{name:44} {value:>12,.0f}")
    RESULTS.write_text(
        json.dumps(
            {
                "measured_on": datetime.now(UTC).date().isoformat(),
                "python": platform.python_version(),
                "cores": os.cpu_count(),
                "load_before": round(busy, 2),
            }
            | {name: round(value, 4) for name, value in figures.items()},
            indent=2,
        )
        + "\n"
    )


if __name__ == "__main__":
    main()
