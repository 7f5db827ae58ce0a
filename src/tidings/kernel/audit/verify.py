"""Reads a whole audit log and names every row, head or anchor that is not as it was written.

It runs as the runtime role and has no more power than the application: the worker role tells whose rows
there are (tenant ids, nothing else), every tenant's rows are read in that tenant's own transactions, and
the platform's in the platform's. Memory stays flat: one page of one stream at a time. Writers may go on
meanwhile.
"""

from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tidings.kernel.audit.anchor_record import AnchorSigner
from tidings.kernel.audit.anchor_verify import AnchorCheck
from tidings.kernel.audit.chain import ChainFinding, Head, StreamCheck, StreamEnd
from tidings.kernel.audit.months import AttachedMonths
from tidings.kernel.audit.record import AUDIT_SCHEMAS, AuditRow, AuditSchema
from tidings.kernel.db import Database, Row
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.sql import Queries

_QUERIES = {schema: Queries.beside(__file__, schema=schema) for schema in AUDIT_SCHEMAS}
#: The platform's stream that tells which anchors were made.
ANCHOR_STREAM: Final = "audit_anchor"
_AFTER_EVERY_ID: Final = "~"


@dataclass(slots=True, kw_only=True)
class Progress:
    """What was looked at so far; the verifier counts, others watch."""

    tenants: int = 0
    streams: int = 0
    rows: int = 0
    anchors: int = 0
    #: Rows that are gone, as whole months, under an anchor that vouches for them.
    archived_rows: int = 0
    archived_under: set[str] = field(default_factory=set)


class AuditVerifier:
    """Verifies one log.

    `expected` are digests of anchors that were kept elsewhere. They are the only witness against an attacker who
    owns the database and has put an older copy of it in place, or cut off rows together with their anchor.
    """

    def __init__(
        self,
        db: Database,
        schema: AuditSchema,
        signer: AnchorSigner | None,
        *,
        expected: Collection[str] = (),
        page_size: int = 1000,
    ) -> None:
        self._db = db
        self._schema = schema
        self._queries = _QUERIES[schema]
        self._anchors = AnchorCheck(db, schema, signer, page_size=page_size)
        self._expected = expected
        self._page_size = page_size
        self.progress = Progress()

    async def findings(self) -> AsyncIterator[ChainFinding]:
        """Everything that is wrong, as it is found; nothing at all where the log is whole."""
        async for finding in self._anchors.findings():
            yield finding
        self.progress.anchors = len(self._anchors.digests)
        for digest in sorted(set(self._expected) - set(self._anchors.digests.values())):
            yield self._finding_of_missed_digest(digest)
        async for tenant in self.tenants():
            self.progress.tenants += 1
            try:
                tenant_id = TENANT.parse(tenant)
            except BadValueError:
                yield self.finding_of_stranger(tenant)
                continue
            async for finding in self.findings_of(tenant_id):
                yield finding
        async for finding in self.findings_of(None):
            yield finding

    async def tenants(self) -> AsyncIterator[str]:
        """The ids of all tenants that have, or had, rows in the log."""
        after = ""
        while True:
            async with self._db.worker() as tx:
                rows = await tx.fetch(self._queries.next_tenants, after=after, limit=self._page_size)
            if not rows:
                return
            for row in rows:
                yield row["tenant_id"]
            after = rows[-1]["tenant_id"]

    async def entity_types(self, tenant_id: TenantId | None) -> list[str]:
        """The streams of one tenant, or of the platform."""
        async with self._db.scoped(tenant_id) as tx:
            rows = await tx.fetch(self._queries.entity_types)
        return [row["entity_type"] for row in rows]

    async def lines(self, tenant_id: TenantId | None, entity_type: str) -> list[StreamEnd]:
        """What the anchors say about a stream, the oldest first."""
        async with self._db.scoped(tenant_id) as tx:
            rows = await tx.fetch(self._queries.read_lines, entity_type=entity_type)
        return [StreamEnd(**dict(row)) for row in rows]

    async def begin(
        self,
        tenant_id: TenantId | None,
        entity_type: str,
        *,
        from_last_line: bool = False,
        cutoff: datetime | None = None,
    ) -> StreamCheck:
        """The start of a walk along a stream, from its first row or from where the last anchor left it."""
        lines = await self.lines(tenant_id, entity_type)
        return StreamCheck(
            log=self._schema,
            tenant_id=tenant_id,
            entity_type=entity_type,
            lines=lines,
            months=await self._attached_months(),
            after=lines[-1] if from_last_line and lines else None,
            cutoff=cutoff,
        )

    async def walk(
        self, tenant_id: TenantId | None, entity_type: str, check: StreamCheck
    ) -> AsyncIterator[ChainFinding]:
        """Feed a stream to `check`, page by page, then its head."""
        while True:
            async for row in self._rows(tenant_id, entity_type, check.seq):
                self.progress.rows += 1
                for finding in check.row(row):
                    yield finding
                if tenant_id is None and entity_type == ANCHOR_STREAM and not await self._anchors.knows(row):
                    yield self._finding_of_lost_anchor(row)
            head = await self._head(tenant_id, entity_type)
            # Rows may have been appended between the last page and the head.
            if (
                head is None
                or head.seq <= check.seq
                or not await self._page(tenant_id, entity_type, check.seq, _AFTER_EVERY_ID, limit=1)
            ):
                break
        for finding in check.end(head):
            yield finding
        self.progress.streams += 1
        self.progress.archived_rows += check.archived_rows
        self.progress.archived_under |= check.archived_under

    async def findings_of(self, tenant_id: TenantId | None) -> AsyncIterator[ChainFinding]:
        """What is wrong with the streams of one tenant, or with the platform's own."""
        for entity_type in await self.entity_types(tenant_id):
            check = await self.begin(tenant_id, entity_type)
            async for finding in self.walk(tenant_id, entity_type, check):
                yield finding

    async def _rows(self, tenant_id: TenantId | None, entity_type: str, seq: int) -> AsyncIterator[AuditRow]:
        row_id = _AFTER_EVERY_ID
        while True:
            rows = await self._page(tenant_id, entity_type, seq, row_id, limit=self._page_size)
            for row in rows:
                yield AuditRow.from_row(row)
            if len(rows) < self._page_size:
                return
            seq, row_id = rows[-1]["seq"], rows[-1]["id"]

    async def _page(
        self, tenant_id: TenantId | None, entity_type: str, seq: int, row_id: str, *, limit: int
    ) -> list[Row]:
        """Rows behind the number `seq`, and behind that id where several claim the number."""
        async with self._db.scoped(tenant_id) as tx:
            return await tx.fetch(
                self._queries.read_rows, entity_type=entity_type, seq=seq, id=row_id, limit=limit
            )

    async def _head(self, tenant_id: TenantId | None, entity_type: str) -> Head | None:
        async with self._db.scoped(tenant_id) as tx:
            row = await tx.fetch_one(self._queries.read_head, entity_type=entity_type)
        return Head(seq=row["seq"], record_hash=row["record_hash"]) if row else None

    async def _attached_months(self) -> AttachedMonths:
        async with self._db.worker() as tx:
            rows = await tx.fetch(self._queries.attached_bounds)
        return AttachedMonths(row["bound"] for row in rows)

    def finding_of_stranger(self, tenant: str) -> ChainFinding:
        """What to say of a tenant id that was never one of ours."""
        return ChainFinding(
            log=self._schema,
            tenant_id=tenant,
            fault="forged",
            detail=f"rows, heads or anchor lines belong to {tenant!r}, which can't be a tenant",
        )

    def _finding_of_lost_anchor(self, row: AuditRow) -> ChainFinding:
        return ChainFinding(
            log=self._schema,
            entity_type=ANCHOR_STREAM,
            fault="anchor",
            seq=row.seq,
            id=row.entity_id,
            detail="the anchor that this row tells of is gone, or is another one now",
        )

    def _finding_of_missed_digest(self, digest: str) -> ChainFinding:
        return ChainFinding(
            log=self._schema,
            fault="anchor",
            detail=f"no anchor has the digest {digest[:12]}… that was kept elsewhere: "
            "it was removed, or this is an older copy of the database",
        )
