"""Imports and their reports are kept for ninety days after anything last happened to them."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.clock import ManualClock
from tests.support.people import PeopleWorld, rows
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.durable.sweepers import SweepJob
from tidings.kernel.ids import TenantId
from tidings.notify.imports.sweep import KEEPS, sweep_imports

TEXT = "email,created\na@example.test,1\n" + "nobody,1\n" * 5


async def send(world: PeopleWorld, tenant_id: TenantId, **query: str) -> Any:
    headers = {"Content-Type": "text/csv", "Idempotency-Key": "k"}
    async with world.http.as_tenant(tenant_id) as client:
        done = await client.post("/api/v1/suppressions/import", content=TEXT, headers=headers, params=query)
    return done.json()


async def kept(db: Database, tenant_id: TenantId) -> list[int]:
    return [
        len(await rows(db, tenant_id, f"SELECT tenant_id FROM notification.{table}"))
        for table in ("imports", "import_problems", "import_seen", "suppressions")
    ]


async def sweep(world: PeopleWorld, limit: int) -> None:
    """As the job does it: until a turn finds less than it may take."""
    while await sweep_imports(world.db, world.system.clock, limit=limit) >= limit:
        pass


async def test_what_is_old_goes_with_its_report_and_what_it_brought_stays(
    db: Database, tmp_path: Path
) -> None:
    clock = ManualClock(SystemClock().now())
    world = PeopleWorld(db, tmp_path, clock)
    old, young = await world.tenant(), await world.tenant()
    first = await send(world, old.id)
    async with db.tenant(old.id) as tx:
        # As a dry run leaves them that nobody went on with.
        await tx.connection.execute(
            "INSERT INTO notification.import_seen SELECT $1, $2, decode(lpad(n::text, 32, '0'), 'hex') "
            "FROM generate_series(1, 7) AS n", old.id, first["id"],
        )  # fmt: skip
    await clock.advance(timedelta(days=1))
    await send(world, young.id)

    await clock.advance(KEEPS - timedelta(days=1, hours=1))
    await sweep(world, 2)
    before = await kept(db, old.id)
    await clock.advance(timedelta(hours=2))
    await sweep(world, 2)

    assert KEEPS.days == 90
    assert before == [1, 5, 7, 1]
    assert await kept(db, old.id) == [0, 0, 0, 1]
    assert await kept(db, young.id) == [1, 5, 0, 1]
    async with world.http.as_tenant(old.id) as client:
        gone = await client.get(f"/api/v1/imports/{first['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "import_not_found")
    audited = await rows(db, old.id, "SELECT entity_id FROM notification.audit WHERE entity_type = 'import'")
    assert [row["entity_id"] for row in audited] == [first["id"]]
    # Its key is free again.
    anew = await send(world, old.id)
    assert anew["id"] != first["id"]
    assert anew["unchanged"] == 1


async def test_the_sweepers_know_it(world: PeopleWorld) -> None:
    job = world.system.jobs()["sweepers"]

    assert isinstance(job, SweepJob)
    assert (await job.run_once())["imports"] >= 0
