"""A database of one's own, from `migrate up` to the first key; and what everybody says where something is missing."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from tests.support.cli import Printed, typing_in
from tests.support.postgres import TestDatabase
from tidings import settings
from tidings.bootstrap import System
from tidings.kernel.metrics import Metrics
from tidings.notify.access.first_key import PlatformKey
from tidings.operations.partitions.job import PartitionJob
from tidings.operations.platform_start import what_is_missing

Types = Callable[..., Awaitable[Printed]]
REMEDY = "run `tidings partitions` with TIDINGS_OWNER_DATABASE_URL"


def _system(database: TestDatabase, folder: Path) -> System:
    return System(settings.load({"TIDINGS_DATA_DIR": str(folder)}), runtime_url=database.runtime_url)


@pytest.fixture
def types(capsys: pytest.CaptureFixture[str]) -> Types:
    """Type a command in this data dir and with this environment, which later commands do not have."""

    async def type_(house: Path, *words: str, **environment: str) -> Printed:
        with pytest.MonkeyPatch.context() as changed:
            return await asyncio.to_thread(typing_in(house, changed, capsys, **environment), *words)

    return type_


@pytest.fixture
def owner_types(types: Types) -> Types:
    """Type a command as the owner of a database."""

    async def type_(database: TestDatabase, *words: str) -> Printed:
        return await types(Path("/nowhere"), *words, TIDINGS_OWNER_DATABASE_URL=database.owner_url)

    return type_


async def _drop_present(database: TestDatabase, parent: str) -> str:
    """Drop the partition of the present month; its name."""
    async with database.owner() as owner:
        name: str = await owner.fetchval(
            "SELECT $1 || to_char(now() AT TIME ZONE 'UTC', '_\"y\"YYYY\"m\"MM')", parent
        )
        await owner.execute(f"DROP TABLE {name}")
    return name


async def test_migrate_up_leaves_nothing_missing(blank_database: TestDatabase, owner_types: Types) -> None:
    """The schema and its partitions; a second run finds nothing to do, and `check` nothing to say."""
    first = await owner_types(blank_database, "migrate", "up")
    checked = await owner_types(blank_database, "migrate", "check")
    again = await owner_types(blank_database, "migrate", "up")

    assert first.code == 0, first.err
    assert " partitions made\n" in first.out
    assert (checked.code, checked.out.splitlines()[0], checked.err) == (0, "all is well", "")
    assert again == Printed(0, "nothing to do\n", "")


async def test_a_missing_partition_is_named_with_its_remedy(
    fresh_database: TestDatabase, tmp_path: Path, types: Types, owner_types: Types
) -> None:
    """By `migrate check`, by `/readyz`, by the first command and the first request that would write there."""
    name = await _drop_present(fresh_database, "notification.audit")

    checked = await owner_types(fresh_database, "migrate", "check")
    typed = await types(
        tmp_path,
        *("api-key", "create", "first", "--platform"),
        TIDINGS_DATABASE_URL=fresh_database.runtime_url,
    )
    async with _system(fresh_database, tmp_path) as system:
        transport = httpx2.ASGITransport(app=system.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            ready = await client.get("/readyz")
        missing = await what_is_missing(system.db, system.clock)
    mended = await owner_types(fresh_database, "migrate", "up")

    words = f"1 partition is missing ({name})"
    assert (checked.code, checked.out.splitlines()[0]) == (1, f"{words} so {REMEDY}")
    assert (typed.code, typed.err) == (
        1,
        "tidings: the table notification.audit has no partition for this row, and nothing was changed; "
        "its operator runs `tidings partitions` with TIDINGS_OWNER_DATABASE_URL\n",
    )
    assert ready.status_code == 503
    assert ready.json()["parts"]["partitions"] == {"ok": False, "detail": f"{words}: {REMEDY}"}
    assert f"{words}: {REMEDY}" in missing
    assert (mended.code, mended.out) == (0, "1 partition made\n")


async def test_a_later_partition_that_is_missing_is_no_reason_to_send_nobody_here(
    fresh_database: TestDatabase, tmp_path: Path
) -> None:
    """There are weeks to act: ready, and it says so."""
    async with fresh_database.owner() as owner:
        last = await owner.fetchval(
            "SELECT max(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'notification.audit'::regclass"
        )
        await owner.execute(f"DROP TABLE {last}")

    async with _system(fresh_database, tmp_path) as system:
        transport = httpx2.ASGITransport(app=system.app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
            ready = await client.get("/readyz")

    assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
    assert last in ready.json()["parts"]["partitions"]["detail"]


async def test_all_missing_partitions_are_one_line_of_the_log(
    fresh_database: TestDatabase, tmp_path: Path
) -> None:
    async with fresh_database.owner() as owner:
        for row in await owner.fetch(
            "SELECT inhrelid::regclass::text AS name FROM pg_inherits i "
            "JOIN kernel.partitioned_tables t ON i.inhparent = to_regclass(t.parent)"
        ):
            await owner.execute(f"DROP TABLE {row['name']}")
    system = _system(fresh_database, tmp_path)
    job = PartitionJob(
        url=fresh_database.runtime_url,
        may_make=False,
        every=system.settings.jobs.partitions_every,
        clock=system.clock,
        metrics=Metrics(),
    )

    with capture_logs() as lines:
        missing = await job.run_once()

    assert len(missing) > 50
    assert [(line["event"], line["count"], line["remedy"]) for line in lines] == [
        ("partitions_missing", len(missing), REMEDY)
    ]


async def test_the_platform_starts_once(fresh_database: TestDatabase, tmp_path: Path) -> None:
    """Two at once publish one set and make one key; a third makes none, unless it is asked to."""
    async with _system(fresh_database, tmp_path) as one, _system(fresh_database, tmp_path) as other:
        before = await what_is_missing(one.db, one.clock)
        both = await asyncio.gather(
            *(each.platform_start.start(key_name="first", actor="cli:me") for each in (one, other))
        )
        third = await one.platform_start.start(key_name="first", actor="cli:me")
        more = await one.platform_start.start(key_name="first", actor="cli:me", one_more_key=True)
        after = await what_is_missing(one.db, one.clock)
        keys = [each.key for each in (*both, third, more)]
        made = next(key for key in keys[:2] if key and key.credential)
        caller = await one.access.keys.authenticate(made.credential or "")

    assert len(before) == 1
    assert before[0].endswith("run `tidings bootstrap`")
    assert [key is not None and key.credential is not None for key in keys].count(True) == 2
    assert [key.key.id == made.key.id for key in keys if key] == [True, True, True, False]
    assert (third.published, third.key) == (0, PlatformKey(key=made.key))
    assert more.key is not None
    assert more.key.credential is not None
    assert third.categories == 10
    assert after == []
    assert (caller.home, caller.role) == (None, "platform.channel.admin")


async def test_bootstrap_as_an_operator_types_it(
    fresh_database: TestDatabase, tmp_path: Path, types: Types
) -> None:
    """The key is printed once, no tenant is made, and a second run says that there is one."""
    place = {"TIDINGS_DATABASE_URL": fresh_database.runtime_url}

    silent = await types(tmp_path, "bootstrap", "--no-key", "--json", **place)
    first = await types(tmp_path, "bootstrap", **place)
    again = await types(tmp_path, "bootstrap", **place)
    tenants = await types(tmp_path, "tenant", "list", "--json", **place)

    assert (silent.code, json.loads(silent.out)["key"]) == (0, None)
    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[-1].startswith("tdk_")
    assert (again.code, "tdk_" in again.out, "--new-key makes one more" in again.out) == (
        0,
        False,
        True,
    )
    assert json.loads(tenants.out) == []
