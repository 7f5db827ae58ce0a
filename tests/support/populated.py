"""A database with rows in every table, at any schema: what migrations meet in production."""

import copy
import shutil
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg

from tests.support.postgres import TestDatabase
from tests.support.rows import NobodyMayWriteError, Table, acting_as, make_row, read_tables, write_row
from tidings.kernel.ids import TENANT
from tidings.operations.migrations.discover import MIGRATIONS_FOLDER
from tidings.operations.partitions import make_missing

#: Rows of each tenant in each table.
EACH = 2
#: Suppressions of each tenant, over channels and reasons, every fifth released.
MANY = 400


def files_up_to(folder: Path, number: int) -> Path:
    """This release's migrations up to a number, with their down files."""
    (folder / "down").mkdir(parents=True)
    for path in MIGRATIONS_FOLDER.glob("[0-9]*.sql"):
        if int(path.name[:4]) <= number:
            shutil.copy(path, folder)
    for path in (MIGRATIONS_FOLDER / "down").glob("*.sql"):
        if int(path.name[:4]) <= number:
            shutil.copy(path, folder / "down")
    return folder


class Snapshot:
    """Several tenants whose rows stand in every table that the schema has at the time."""

    def __init__(self, database: TestDatabase, tenants: int = 3) -> None:
        self._database = database
        self.tenants = [TENANT.new(datetime.now(UTC)) for _ in range(tenants)]
        self._first: dict[str, dict[str, dict[str, Any]]] = {tenant: {} for tenant in self.tenants}
        self._suppressed = False
        #: Tables whose rows have their optional columns filled, too.
        self.full: set[str] = set()

    def of(self, database: TestDatabase) -> "Snapshot":
        """The same in a copy of the database."""
        other = copy.deepcopy(self)
        other._database = database
        return other

    async def fill(self) -> None:
        """Write rows into every table, in the form that it has now; tables that only migrations fill stay as they are."""
        async with self._database.owner() as owner:
            await make_missing(owner, datetime.now(UTC))
            tables = await read_tables(owner)
        async with self._database.runtime() as runtime:
            for table in tables:
                if not table.name.startswith("kernel.schema_migrations"):
                    await self._fill(runtime, table)
            if not self._suppressed:
                await self._suppress(runtime)

    async def _fill(self, runtime: asyncpg.Connection, table: Table) -> None:
        for tenant in self.tenants if table.has_tenant else self.tenants[:1]:
            for turn in range(EACH):
                if await self._write(runtime, table, tenant, full=turn > 0):
                    self.full.add(table.name)
        if not table.has_tenant and (row := self._first[self.tenants[0]].get(table.name)):
            for others in self._first.values():
                others[table.name] = row

    async def _write(self, runtime: asyncpg.Connection, table: Table, tenant: str, *, full: bool) -> bool:
        """Write one row; whether it is a full one. A table with one row for each tenant keeps its first."""
        ulid = TENANT.new(datetime.now(UTC))[4:]
        known = self._first[tenant]
        for whole in (True, False) if full else (False,):
            row = make_row(table, tenant, ulid, known, full=whole)
            try:
                await write_row(runtime, table, row, tenant)
            except NobodyMayWriteError:
                return False
            except (asyncpg.IntegrityConstraintViolationError, asyncpg.DataError, KeyError):
                if table.name in known:
                    continue
                raise
            known.setdefault(table.name, row)
            return whole
        return False

    async def _suppress(self, runtime: asyncpg.Connection) -> None:
        self._suppressed = True
        for tenant in self.tenants:
            async with acting_as(runtime, "tidings_runtime", tenant):
                await runtime.execute(
                    "INSERT INTO notification.suppressions (tenant_id, id, channel, address_hash, reason, "
                    "released_at, released_by) "
                    "SELECT $1, 'sup_' || lpad(n::text, 26, '0'), (ARRAY['email', 'sms'])[1 + n % 2], "
                    "'sha256:' || encode(sha256(n::text::bytea), 'hex'), "
                    "(ARRAY['manual', 'hard_bounce', 'complaint'])[1 + n % 3], "
                    "CASE WHEN n % 5 = 0 THEN now() END, CASE WHEN n % 5 = 0 THEN 'api' END "
                    "FROM generate_series(1, $2::int) AS n",
                    tenant,
                    MANY,
                )


async def fingerprints(database: TestDatabase, besides: Iterable[str] = ()) -> dict[str, dict[str, str]]:
    """Of each table: how many rows it has, and a digest of each column; read as break-glass, which sees all tenants."""
    left_out = {"kernel.schema_migrations", "kernel.schema_migrations_log", *besides}
    found: dict[str, dict[str, str]] = {}
    async with database.owner() as owner:
        tables = await read_tables(owner)
        await owner.execute("SET ROLE tidings_breakglass")
        for table in tables:
            if table.name not in left_out:
                digests = ", ".join(
                    f"md5(coalesce(string_agg(md5(t.\"{c.name}\"::text), '' ORDER BY md5(t.\"{c.name}\"::text)), ''))"
                    f' AS "{c.name}"'
                    for c in table.columns
                )
                row = await owner.fetchrow(
                    f'SELECT count(*)::text AS "count(*)", {digests} FROM {table.name} AS t'
                )
                found[table.name] = dict(row)
    return found


async def row_counts(database: TestDatabase) -> dict[str, int]:
    """How many rows each table has, over all tenants."""
    async with database.owner() as owner:
        tables = await read_tables(owner)
        await owner.execute("SET ROLE tidings_breakglass")
        asked = " UNION ALL ".join(
            f"SELECT '{table.name}' AS name, count(*) AS n FROM {table.name}"
            for table in tables
            if not table.name.startswith("kernel.schema_migrations")
        )
        return {row["name"]: row["n"] for row in await owner.fetch(asked)} if asked else {}
