"""A database for one test alone, without making one for each: emptied for the next test, replaced where its schema changed.

Making and dropping a clone takes three to six times the work, and its connections begin with empty caches.
"""

import io
from contextlib import AsyncExitStack
from typing import Literal

import asyncpg

from tests.support.emitted_events import EmittedEvents
from tests.support.postgres import TestDatabase, TestServer
from tidings.kernel.db import Database

#: Changes with every change of the schema, and with no change of rows.
_SCHEMA = """
SELECT (SELECT md5(string_agg(concat_ws(' ', oid, relname, relnamespace, relkind, relacl, reloptions, relrowsecurity,
                                         relforcerowsecurity, relispartition), ',' ORDER BY oid)) FROM pg_class)
    || (SELECT md5(string_agg(concat_ws(' ', oid, tgname, tgenabled), ',' ORDER BY oid)) FROM pg_trigger)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_attribute WHERE attrelid >= 16384)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_constraint)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_inherits)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_policy)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_proc WHERE oid >= 16384)
    || (SELECT concat_ws(' ', '', count(*), max(xmin::text::bigint)) FROM pg_namespace)
    || (SELECT concat_ws(' ', '', count(*)) FROM pg_db_role_setting WHERE setdatabase = (
            SELECT oid FROM pg_database WHERE datname = current_database()))
"""
#: The tables that rows were ever written to since they were made or truncated.
_WRITTEN = """
SELECT oid::regclass::text AS name, relforcerowsecurity AS guarded
FROM pg_class
WHERE relkind = 'r' AND oid >= 16384 AND pg_relation_size(oid) > 0
"""
#: Tables that refuse to be truncated. Of the others that do, partitions hold the rows, which do not refuse.
_APPEND_ONLY = (
    "kernel.audit_anchor_lines",
    "kernel.audit_anchors",
    "notification.consent_events",
    "notification.erasures",
)


class RecycledDatabase:
    """One clone of the template at a time; each test gets it as the migrations left it."""

    def __init__(self, server: TestServer, emitted: EmittedEvents) -> None:
        self._server = server
        self._emitted = emitted
        self._closing = AsyncExitStack()
        self._owner: asyncpg.Connection | None = None
        self._schema = ""
        #: The rows that the migrations wrote, by table.
        self._seeds: dict[str, bytes] = {}
        #: Of their tables, those whose rows row-level security hides from their owner.
        self._guarded: list[str] = []

    async def give(self) -> tuple[TestDatabase, Database]:
        """The database and the connections of the runtime role to it, for the next test."""
        if not await self._is_emptied():
            await self.close()
            await self._make()
        return self._database, self._db

    async def close(self) -> None:
        """Drop it, if there is one."""
        self._owner = None
        await self._closing.aclose()

    async def _make(self) -> None:
        self._database = await self._closing.enter_async_context(self._server.clone())
        self._owner = owner = await self._closing.enter_async_context(self._database.owner())
        self._db = await self._closing.enter_async_context(self._database.opened())
        await owner.execute("SET lock_timeout = '10s'")
        written = await owner.fetch(_WRITTEN)
        self._guarded = [row["name"] for row in written if row["guarded"]]
        async with owner.transaction():
            await owner.execute(self._guards("down"))
            self._seeds = {row["name"]: await _rows(owner, row["name"]) for row in written}
            await owner.execute(self._guards("up"))
        self._schema = await owner.fetchval(_SCHEMA)

    async def _is_emptied(self) -> bool:
        """Bring its rows back to what they were; not where its schema is another one, or where a test has cut us off."""
        owner = self._owner
        try:
            if owner is None or await owner.fetchval(_SCHEMA) != self._schema:
                return False
        except (asyncpg.PostgresConnectionError, asyncpg.InterfaceError, OSError):
            return False
        written = {row["name"] for row in await owner.fetch(_WRITTEN)}
        if any("outbox" in name or "bus_events" in name for name in written):
            await self._emitted.read_as(owner)
        async with owner.transaction():
            await owner.execute(self._guards("down"))
            if used := written - self._seeds.keys():
                await owner.execute(f"TRUNCATE {', '.join(sorted(used))} CASCADE")
            for table, rows in self._seeds.items():
                if await _rows(owner, table) != rows:
                    await owner.execute(f"TRUNCATE {table} CASCADE")
                    schema, _, name = table.partition(".")
                    await owner.copy_to_table(name, schema_name=schema, source=io.BytesIO(rows))
            await owner.execute(self._guards("up"))
            await owner.execute("SELECT setval(seqrelid, seqstart, false) FROM pg_sequence")
        return True

    def _guards(self, to: Literal["down", "up"]) -> str:
        """Lets the owner truncate every table and see the rows of the migrations, until the end of a transaction."""
        force, do = ("NO FORCE", "DISABLE") if to == "down" else ("FORCE", "ENABLE")
        return "; ".join(
            [
                *(f"ALTER TABLE {table} {force} ROW LEVEL SECURITY" for table in self._guarded),
                *(f"ALTER TABLE {table} {do} TRIGGER append_only_truncate" for table in _APPEND_ONLY),
            ]
        )


async def _rows(owner: asyncpg.Connection, table: str) -> bytes:
    rows = io.BytesIO()
    await owner.copy_from_query(f"SELECT * FROM {table} AS t ORDER BY t::text", output=rows)
    return rows.getvalue()
