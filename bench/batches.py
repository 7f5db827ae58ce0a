"""Batches: people a second that messages are made for, and the peak of memory, beside a raw insert of as many rows.

The runner works in a process of its own, without a dispatcher beside it: what it is given is people, and what is measured
is the ledger, the messages, their places in the queue and their events. The raw limit writes rows of messages and of a
ledger that are made already, with the same indexes, five hundred of each in a commit: nobody reads, checks or seals there.
A list with words for each person is measured too: lines a second through the import, and the batch that is made of it.
`python -m bench.batches 1000000` measures this alone; memory is printed for a tenth and for all of them.
"""

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import asyncpg
import uvloop

from tidings import settings
from tidings.bootstrap import System
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.batches.control import BatchControl
from tidings.notify.batches.drafts import BatchDrafts
from tidings.notify.batches.list_target import BatchListTarget
from tidings.notify.batches.list_variables import ListVariables
from tidings.notify.batches.model import StoredBatch
from tidings.notify.batches.orders import BatchOrders
from tidings.notify.batches.runner import RunnerSettings
from tidings.notify.batches.wire import WriteBatch
from tidings.notify.ids import BATCH
from tidings.notify.imports.model import ImportKind, ImportRequest
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of
from tidings.notify.tenants.wire import CreateTenant
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

if TYPE_CHECKING:
    from bench.house import House, Resident

PEOPLE = 20_000
_SET = 1_000
_CHUNK = 500
_ORDER: dict[str, Any] = {
    "order_number": "A-1001",
    "total": {"amount_micros": 42_500_000, "currency": "USD"},
    "items": [{"name": "Green tea", "quantity": 2}],
}


async def make_people(system: System, tenant_id: TenantId, count: int, tag: str) -> None:
    """So many people with a mail address, a language and this tag."""
    locales = ("en", "fr", "de")
    for first in range(0, count, _SET):
        specs = [
            spec_of(
                RecipientInput(
                    identity=IdentityInput(type=IdentityType.GUEST, id=f"{tag}-{number}"),
                    addresses=[AddressInput(channel="email", address=f"{tag}-{number}@example.test")],
                    tags=[tag],
                    locale=locales[number % len(locales)],
                )
            )
            for number in range(first, min(first + _SET, count))
        ]
        async with system.db.tenant(tenant_id) as tx:
            await system.accept.upserter.upsert(tx, specs)


async def crowd(house: "House", resident: "Resident", count: int) -> None:
    """The same for a tenant of a house, tagged `vip`."""
    async with house.system() as system:
        await make_people(system, resident.tenant_id, count, "vip")


async def _run(runtime_url: str, folder: str, count: int) -> dict[str, float]:
    chosen = settings.load({"TIDINGS_DATA_DIR": folder})
    async with System(chosen, runtime_url=runtime_url) as system:
        await system.platform_start.publish()
        async with system.db.platform() as tx:
            tenant = await system.access.tenants.create(
                tx, lambda new: CreateTenant(name="Bench", slug="bench-batches").event(new), actor="bench"
            )
        async with system.db.tenant(tenant.id) as tx:
            await system.kernel.keyring.provision(tx)
        tenth = count // 10
        await make_people(system, tenant.id, tenth, "tenth")
        await make_people(system, tenant.id, count, "all")
        # Nobody dispatches here.
        runner = system.batches.runner
        far = 1 << 30
        settings_of_runner = RunnerSettings(chunk=_CHUNK, most_ahead=far, most_deferred=far)
        object.__setattr__(runner, "settings", settings_of_runner)
        figures: dict[str, float] = {}
        for tag, people in (("tenth", tenth), ("all", count)):
            took = await _batch(system, tenant.id, tag, people)
            figures[f"batch_people_per_second_{tag}"] = people / took
            figures[f"batch_peak_memory_mb_{tag}"] = _peak_mb()
        for tag, people in (("tenth", tenth), ("all", count)):
            batch, took = await _list(system, tenant.id, tag, people)
            figures[f"batch_list_lines_per_second_{tag}"] = people / took
            figures[f"batch_of_a_list_people_per_second_{tag}"] = people / await _send(
                system, tenant.id, batch, people
            )
            figures[f"batch_list_peak_memory_mb_{tag}"] = _peak_mb()
        return figures


async def _list(system: System, tenant_id: TenantId, tag: str, count: int) -> tuple[StoredBatch, float]:
    """A draft, and the seconds that its list took, in which each line has a number of its own."""
    words = {name: value for name, value in _ORDER.items() if name != "order_number"}
    wish = WriteBatch(name=tag, template="order_confirmation", channel="email", variables=words)
    parts = system.notify.parts
    drafts, orders = parts.get(BatchDrafts), parts.get(BatchOrders)
    async with system.db.tenant(tenant_id) as tx:
        batch = await drafts.create(tx, wish.draft(system.clock.now()), actor="bench")
        variables = await orders.open(tx, batch)
    target = BatchListTarget(
        system.accept.upserter,
        batch,
        ListVariables(await orders.words(batch, variables)),
        keyring=system.kernel.keyring,
        clock=system.clock,
    )
    order = ImportRequest(
        tenant_id=tenant_id,
        kind=ImportKind.RECIPIENTS,
        options=tag,
        dry_run=False,
        emit_events=True,
        idempotency_key=None,
        actor="bench",
        role="tenant.admin",
    )

    async def lines() -> AsyncIterator[bytes]:
        yield b"email,order_number,total.amount_micros\n"
        for number in range(count):
            yield f"{tag}-{number}@example.test,A-{number},{number}\n".encode()

    began = time.perf_counter()
    done = await system.notify.importer.run(order, target, lines())
    if done.tally.refused:
        raise AssertionError(f"{done.tally.refused} lines were refused")
    return batch, time.perf_counter() - began


async def _batch(system: System, tenant_id: TenantId, tag: str, count: int) -> float:
    """Seconds that all of its messages took to be made."""
    wish = WriteBatch(
        name=tag, template="order_confirmation", channel="email", filter=f"tag = '{tag}'", variables=_ORDER
    )
    drafts = system.notify.parts.get(BatchDrafts)
    async with system.db.tenant(tenant_id) as tx:
        batch = await drafts.create(tx, wish.draft(system.clock.now()), actor="bench")
    return await _send(system, tenant_id, batch, count)


async def _send(system: System, tenant_id: TenantId, batch: StoredBatch, count: int) -> float:
    """Seconds that all messages of a draft took to be made."""
    control = system.notify.parts.get(BatchControl)
    began = time.perf_counter()
    async with system.db.tenant(tenant_id) as tx:
        await control.start(tx, batch.id, actor="bench")
    while True:
        async with system.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                "UPDATE notification.dispatch_batches SET claimed_by = 'bench' WHERE id = $1", batch.id
            )
        await system.batches.runner.run(tenant_id, "bench", [batch.id])
        async with system.db.tenant(tenant_id) as tx:
            found = await tx.connection.fetchrow(
                "SELECT walked_at, (SELECT sum(n) FROM notification.batch_counts WHERE batch_id = $1 AND name = 'accepted') "
                "AS n FROM notification.dispatch_batches WHERE id = $1",
                batch.id,
            )
        if found["walked_at"] is not None:
            if found["n"] != count:
                raise AssertionError(f"{found['n']} of {count} were accepted")
            return time.perf_counter() - began


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def _raw(owner_url: str, count: int) -> float:
    """Rows of messages and of a ledger, made already, five hundred of each in a commit; people a second."""
    now = SystemClock().now()
    tenant_id, batch_id = TENANT.new(now), BATCH.new(now)
    made = [(RECIPIENT.new(now), NOTIFICATION.new(now)) for _ in range(count)]
    owner = await asyncpg.connect(owner_url)
    try:
        await owner.execute(
            "CREATE TABLE raw_messages (LIKE notification.notifications INCLUDING ALL);"
            "CREATE TABLE raw_people (LIKE notification.batch_people INCLUDING ALL)"
        )
        began = time.perf_counter()
        for first in range(0, count, _CHUNK):
            some = made[first : first + _CHUNK]
            people, ids = [one for one, _ in some], [one for _, one in some]
            async with owner.transaction():
                await owner.execute(
                    "INSERT INTO raw_messages (tenant_id, id, created_at, updated_at, queued_at, recipient_id, status, channel, "
                    "category, use_case, priority, retention_class, template_id, template_version_id, template_key, "
                    "template_semver, variables_hash, variables_ciphertext, expires_at, batch_id) "
                    "SELECT $1, id, $5, $5, $5, who, 'queued', 'email', 'transactional', 'txn', 'low', 'standard', 'tpl', 'tpv', "
                    "'order_confirmation', '1.0.0', 'sha256', $6, $5, $4 FROM unnest($2::text[], $3::text[]) AS given (id, who)",
                    tenant_id, ids, people, batch_id, now, bytes(200),
                )  # fmt: skip
                await owner.execute(
                    "INSERT INTO raw_people (tenant_id, batch_id, recipient_id, variant, state, notification_id) "
                    "SELECT $1, $4, who, 0, 'accepted', id FROM unnest($2::text[], $3::text[]) AS given (id, who)",
                    tenant_id, ids, people, batch_id,
                )  # fmt: skip
        return count / (time.perf_counter() - began)
    finally:
        await owner.execute("DROP TABLE IF EXISTS raw_messages, raw_people")
        await owner.close()


async def _prepare(owner_url: str) -> None:
    await migrate_up(owner_url)
    owner = await asyncpg.connect(owner_url)
    await make_missing(owner, SystemClock().now())
    await owner.close()


def measure(count: int = PEOPLE) -> dict[str, float]:
    """People a second, their share of a raw insert, and the peak of memory for a tenth and for all."""
    with tempfile.TemporaryDirectory(prefix="tidings-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)
        data_dir = DataDir(Path(folder) / "data")
        data_dir.open()
        postgres = EmbeddedPostgres(data_dir)  # as `tidings up` runs it: fsync on
        postgres.start()
        try:
            owner_url = postgres.url("tidings_owner")
            asyncio.run(_prepare(owner_url))
            raw = asyncio.run(_raw(owner_url, min(count, PEOPLE)))
            words = [sys.executable, "-m", "bench.batches", "--child", postgres.url("tidings_runtime")]
            said = subprocess.run(  # ourselves
                [*words, str(Path(folder) / "keys"), str(count)],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
        finally:
            postgres.stop()
            data_dir.close()
    figures: dict[str, float] = {"batch_raw_people_per_second": raw, **json.loads(said.stdout)}
    figures["batch_share_of_raw_insert"] = figures["batch_people_per_second_all"] / raw
    return figures


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(uvloop.run(_run(sys.argv[2], sys.argv[3], int(sys.argv[4])))))
    else:
        for name, value in measure(int(sys.argv[1]) if len(sys.argv) > 1 else PEOPLE).items():
            print(f"{name:44} {value:>12,.3f}" if value < 100 else f"{name:44} {value:>12,.0f}")
