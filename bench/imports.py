"""Imports: lines a second and peak memory of a long list of suppressions, beside a raw COPY of the same rows.

The import runs in a process of its own, so that the peak is that of an import and of nothing else. The raw limit is a
COPY of rows that are made already, into a table with the same columns and indexes: nobody checks, hashes or seals there.
`python -m bench.imports 1000000` measures this alone.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import uvloop

from tidings import settings
from tidings.bootstrap import System
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT
from tidings.notify.ids import SUPPRESSION
from tidings.notify.imports.model import ImportKind, ImportRequest
from tidings.notify.imports.suppression_target import SuppressionImportOptions, SuppressionTarget
from tidings.notify.tenants.wire import CreateTenant
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

LINES = 1_000_000
_PIECE_LINES = 1_500
_COPY_LINES = 100_000
_HEAD = b"status,reason,email,created\n"


async def _lines(count: int) -> AsyncIterator[bytes]:
    yield _HEAD
    for first in range(0, count, _PIECE_LINES):
        last = min(first + _PIECE_LINES, count)
        yield b"".join(
            b"5.1.1,550 user unknown,person-%d@example-%d.test,1600000000\n" % (n, n % 500)
            for n in range(first, last)
        )


async def _import(runtime_url: str, folder: str, count: int) -> dict[str, float]:
    chosen = settings.load({"TIDINGS_DATA_DIR": folder})
    async with System(chosen, runtime_url=runtime_url) as system:
        async with system.db.platform() as tx:
            tenant = await system.access.tenants.create(
                tx, lambda new: CreateTenant(name="Bench", slug="bench-imports").event(new), actor="bench"
            )
        async with system.db.tenant(tenant.id) as tx:
            await system.kernel.keyring.provision(tx)
        order = ImportRequest(
            tenant_id=tenant.id,
            kind=ImportKind.SUPPRESSIONS,
            options="{}",
            dry_run=False,
            emit_events=False,
            idempotency_key=None,
            actor="bench",
            role="tenant.admin",
        )
        figures: dict[str, float] = {}
        # A short one first: what the process holds anyway must not count as growth.
        await system.notify.importer.run(order, _target(system), _lines(20_000))
        before = _peak_mb()
        for name in ("new", "again"):
            began = time.perf_counter()
            done = await system.notify.importer.run(order, _target(system), _lines(count))
            figures[f"import_lines_per_second_{name}"] = count / (time.perf_counter() - began)
            if done.records_done != count + 1 or done.tally.refused:
                raise AssertionError(f"the import is not whole: {done.tally}")
        figures["import_peak_memory_mb"] = _peak_mb()
        figures["import_memory_growth_mb"] = _peak_mb() - before
        return figures


def _target(system: System) -> SuppressionTarget:
    return SuppressionTarget(
        system.notify.suppressor, system.clock, SuppressionImportOptions(emit_events=False)
    )


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _copy(owner_url: str) -> float:
    now = SystemClock().now()
    tenant_id = TENANT.new(now)
    rows = [
        (tenant_id, SUPPRESSION.new(now), "email", f"sha256:{os.urandom(32).hex()}", os.urandom(70),
         "hard_bounce", "import imp_01JCQ0000000000000000000000", now)
        for _ in range(_COPY_LINES)
    ]  # fmt: skip
    columns = (
        "tenant_id", "id", "channel", "address_hash", "address_ciphertext", "reason", "notes", "created_at",
    )  # fmt: skip
    owner = await asyncpg.connect(owner_url)
    try:
        await owner.execute("CREATE TEMP TABLE raw (LIKE notification.suppressions INCLUDING ALL)")
        began = time.perf_counter()
        await owner.copy_records_to_table("raw", records=rows, columns=columns)
        return _COPY_LINES / (time.perf_counter() - began)
    finally:
        await owner.close()


async def _prepare(owner_url: str) -> None:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()


def measure(count: int = LINES) -> dict[str, float]:
    """Lines a second for new and for known addresses, their share of a raw COPY, and the peak of memory."""
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        data_dir = DataDir(Path(folder) / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)
        postgres.start()
        try:
            owner_url = postgres.url("tidings_owner")
            asyncio.run(_prepare(owner_url))
            raw = asyncio.run(_copy(owner_url))
            words = [sys.executable, "-m", "bench.imports", "--child", postgres.url("tidings_runtime")]
            said = subprocess.run(  # ourselves
                [*words, str(Path(folder) / "keys"), str(count)],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            postgres.stop()
            data_dir.close()
    figures: dict[str, float] = {"import_copy_rows_per_second": raw, **json.loads(said.stdout)}
    figures["import_share_of_copy"] = figures["import_lines_per_second_new"] / raw
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(uvloop.run(_import(sys.argv[2], sys.argv[3], int(sys.argv[4])))))
    else:
        for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else LINES).items():
            print(f"{name:44} {value:>12,.3f}" if value < 100 else f"{name:44} {value:>12,.0f}")
