"""Appends to the hash-chained audit, in the transaction of the change that it records.

A stream is one tenant and one entity type. Its head is locked from the append to the end of the
transaction, so its rows stand in one line; append last, just before the commit, to keep that short.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from datetime import datetime
from typing import Any

from tidings.kernel.audit.origins import HashedOrigin, Origins
from tidings.kernel.audit.record import AUDIT_IDS, AUDIT_SCHEMAS, COLUMNS, AuditRow, AuditSchema, hash_of
from tidings.kernel.audit.redaction import redacted_json
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import AuditId, TenantId, time_of
from tidings.kernel.logs import redact_text
from tidings.kernel.sql import Queries

_QUERIES = {schema: Queries.beside(__file__, schema=schema) for schema in AUDIT_SCHEMAS}
_LONGEST_REASON = 2000
_LONGEST_NAME = 300


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened, as the one who did it tells it."""

    #: What kind of thing was touched: `api_key`, `fallback_policy`.
    entity_type: str
    entity_id: str
    #: A past participle: `created`, `rotated`, `key.revoked`.
    action: str
    #: The id of the user or key that did it; `system` for a job.
    actor: str
    _: KW_ONLY
    #: Anything msgspec can encode; redacted before it is written.
    before: Any = None
    after: Any = None
    #: Why, in the words of the one who did it; redacted too.
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Head:
    seq: int
    record_hash: str | None
    last_at: datetime


class AuditLog:
    """The audit of one schema."""

    def __init__(self, schema: AuditSchema, clock: Clock, *, origins: Origins | None = None) -> None:
        """`origins` knows which request is behind an entry; without it, none is."""
        self.schema = schema
        self._clock = clock
        self._origins = origins
        self._queries = _QUERIES[schema]

    async def append(self, tx: TenantTx | PlatformTx, entries: Sequence[Entry]) -> list[AuditId]:
        """Write all entries, each at the end of its stream; their ids in the order given."""
        if not entries:
            return []
        tenant_id = tx.tenant_id
        origin = await self._origins.now(tenant_id) if self._origins else HashedOrigin()
        now = self._clock.now()
        found = await tx.fetch(
            self._queries.lock_heads, entity_types=sorted({entry.entity_type for entry in entries}), now=now
        )
        heads = {row["entity_type"]: _Head(row["seq"], row["record_hash"], row["last_at"]) for row in found}
        rows: list[AuditRow] = []
        for entry in entries:
            row = self._chained(entry, tenant_id, heads[entry.entity_type], now, origin)
            heads[entry.entity_type] = _Head(row.seq, row.record_hash, row.occurred_at)
            rows.append(row)
        columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS if name != "tenant_id"}
        await tx.execute(
            self._queries.append_rows,
            **columns,
            head_type=list(heads),
            head_seq=[head.seq for head in heads.values()],
            head_hash=[head.record_hash for head in heads.values()],
            head_at=[head.last_at for head in heads.values()],
        )
        return [row.id for row in rows]

    async def read_recent(
        self,
        tx: TenantTx | PlatformTx,
        *,
        entity_type: str | None = None,
        entity_id: str | None = None,
        before: AuditId | None = None,
        limit: int = 50,
    ) -> list[AuditRow]:
        """The newest rows first; `before` is the last id of the page before."""
        rows = await tx.fetch(
            self._queries.read_recent,
            entity_type=entity_type,
            entity_id=entity_id,
            before_at=time_of(before) if before else None,
            before_id=before,
            limit=limit,
        )
        return [AuditRow.from_row(row) for row in rows]

    def _chained(
        self, entry: Entry, tenant_id: TenantId | None, head: _Head, now: datetime, origin: HashedOrigin
    ) -> AuditRow:
        # The clocks of two processes differ a little; within a stream time must not run backwards, or a row
        # would land in a partition that an anchor has closed.
        audit_id = AUDIT_IDS[self.schema].new(max(now, head.last_at))
        row = AuditRow(
            tenant_id=tenant_id,
            entity_type=entry.entity_type,
            seq=head.seq + 1,
            id=audit_id,
            occurred_at=time_of(audit_id),
            entity_id=_clean("entity_id", entry.entity_id),
            action=entry.action,
            actor=_clean("actor", entry.actor),
            before=redacted_json(entry.before),
            after=redacted_json(entry.after),
            ip_hash=origin.ip_hash,
            user_agent_hash=origin.user_agent_hash,
            trace_id=origin.trace_id,
            reason=redact_text(_clean("reason", entry.reason, _LONGEST_REASON)) if entry.reason else None,
            prev_hash=head.record_hash,
            record_hash="",
        )
        return replace(row, record_hash=hash_of(self.schema, row))


def _clean(field: str, text: str, longest: int = _LONGEST_NAME) -> str:
    if not 1 <= len(text) <= longest:
        raise BadValueError(field, f"must have 1 to {longest} characters")
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise BadValueError(field, "must be text without null characters or broken surrogates")
    return text
