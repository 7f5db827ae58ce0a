"""Builds an index while others read and write, on a plain table or down a tree of partitions.

Every step looks first at what is there, so that a run after a crash goes on where the last one ended:
an invalid index is built again, a valid one that is not attached yet is attached.
"""

from dataclasses import KW_ONLY, dataclass, field

import asyncpg

from tidings.kernel.sql import Queries
from tidings.operations.migrations.errors import BadIndexError
from tidings.operations.migrations.online_index import OnlineIndex, partition_index_name, quoted
from tidings.operations.migrations.progress import IndexProgress, Report
from tidings.operations.migrations.retry_policy import LockRetryPolicy, wait_for_locks

_QUERIES = Queries.beside(__file__)
_GONE = (asyncpg.UndefinedTableError, asyncpg.UndefinedObjectError)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    oid: int
    schema: str
    name: str
    partitioned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    oid: int
    name: str
    schema: str
    #: None when the name belongs to something that is not an index.
    table: int | None
    valid: bool | None
    #: Whether it is part of an index of the parent table.
    attached: bool

    @property
    def sql(self) -> str:
        return f"{quoted(self.schema)}.{quoted(self.name)}"


@dataclass(slots=True, eq=False, repr=False)
class IndexBuilder:
    """Builds one index."""

    connection: asyncpg.Connection
    index: OnlineIndex
    _: KW_ONLY
    lock_retry: LockRetryPolicy
    report: Report
    file: str
    line: int
    _done: int = field(default=0, init=False)
    _total: int = field(default=1, init=False)

    async def build(self) -> None:
        """Build it, or finish what an earlier run began."""
        found = await self.connection.fetchrow(_QUERIES.find_table.text, self.index.schema, self.index.table)
        if found is None:
            raise BadIndexError(
                f"{self.file}, line {self.line}: there is no table "
                f"{self.index.schema}.{self.index.table} "
                f"for the index {self.index.name}."
            )
        table = _Table(**dict(found))
        if table.partitioned:
            self._total = await self.connection.fetchval(_QUERIES.count_leaves.text, table.oid)
        built = await self._build_on(table, self.index.name)
        if not built.valid:
            raise BadIndexError(
                f"{self.file}, line {self.line}: the index {built.name} has not become valid, because "
                "partitions "
                "were added or detached at the same time. Run `tidings migrate up` again."
            )

    async def _build_on(self, table: _Table, name: str) -> _Index:
        if table.partitioned:
            return await self._build_on_tree(table, name)
        built = await self._build_on_leaf(table, name)
        self._done += 1
        self.report(
            IndexProgress(
                index=self.index.name, table=table.name, done=self._done, total=max(self._total, self._done)
            )
        )
        return built

    async def _build_on_tree(self, table: _Table, name: str) -> _Index:
        """The parent's index is only a promise until every partition has its part attached."""
        await self._briefly(self.index.create(name=name, schema=table.schema, table=table.name, only=True))
        parent = await self._require(table, name)
        for row in await self.connection.fetch(_QUERIES.find_partitions.text, table.oid):
            partition = _Table(**dict(row))
            try:
                await self._build_on_partition(parent, partition)
            except _GONE:
                if await self.connection.fetchval(_QUERIES.table_exists.text, partition.oid):
                    raise
        return await self._require(table, name)

    async def _build_on_partition(self, parent: _Index, partition: _Table) -> None:
        part = await self._attached(parent, partition)
        part = await self._build_on(
            partition, part.name if part else partition_index_name(partition.name, parent.name)
        )
        # Attaching what is attached already makes Postgres look again whether the parent is complete.
        await self._briefly(f"ALTER INDEX {parent.sql} ATTACH PARTITION {part.sql}")

    async def _build_on_leaf(self, table: _Table, name: str) -> _Index:
        await wait_for_locks(self.connection)
        index = await self._find(table, name)
        if index is not None and index.valid:
            return index
        if index is not None and index.attached:
            await self.connection.execute(f"REINDEX INDEX CONCURRENTLY {index.sql}")
            return await self._require(table, name)
        if index is not None:
            await self.connection.execute(f"DROP INDEX CONCURRENTLY {index.sql}")
        try:
            await self.connection.execute(self.index.create(name=name, schema=table.schema, table=table.name))
        except asyncpg.PostgresError:
            # An invalid index costs every writer and helps no reader.
            if not self.connection.is_closed() and (left := await self._find(table, name)) and not left.valid:
                await self.connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {left.sql}")
            raise
        return await self._require(table, name)

    async def _briefly(self, sql: str) -> None:
        async def work() -> None:
            await self.connection.execute(sql)

        await self.lock_retry.set_timeout(self.connection)
        await self.lock_retry.insist(work, name=self.file, line=lambda: self.line, report=self.report)

    async def _attached(self, parent: _Index, partition: _Table) -> _Index | None:
        row = await self.connection.fetchrow(_QUERIES.find_attached_index.text, parent.oid, partition.oid)
        return _Index(**dict(row)) if row else None

    async def _find(self, table: _Table, name: str) -> _Index | None:
        row = await self.connection.fetchrow(_QUERIES.find_index.text, table.schema, name)
        if row is None:
            return None
        index = _Index(**dict(row))
        if index.table != table.oid:
            raise BadIndexError(
                f"{self.file}, line {self.line}: the name {table.schema}.{name} is taken by something "
                "else than "
                f"an index of {table.schema}.{table.name}. Rename one of them."
            )
        return index

    async def _require(self, table: _Table, name: str) -> _Index:
        index = await self._find(table, name)
        if index is None:
            raise BadIndexError(
                f"{self.file}, line {self.line}: the index {table.schema}.{name} disappeared while it "
                "was built. "
                "Run `tidings migrate up` again."
            )
        return index
