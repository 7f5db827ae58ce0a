"""Rows of the router's audit as JSON."""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.audit.record import AuditRow
from tidings.kernel.http.paging import PageQuery

#: What the router's audit speaks of.
EntityType: TypeAlias = Literal[
    "adapter_config", "callback", "circuit_breaker", "fallback_policy", "profile", "vendor_weight"
]
Word = Annotated[str, Meta(min_length=1, max_length=300)]


class ListRouterAudit(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which rows are wanted."""

    entity_type: Annotated[
        EntityType | None,
        Meta(description="Only this kind of thing; `callback` stands in the platform's own rows alone."),
    ] = None
    entity_id: Annotated[Word | None, Meta(description="Only the thing with this id.")] = None


class RouterAuditView(Struct, frozen=True, kw_only=True):
    """One thing that happened, linked to what happened before it."""

    id: str
    #: Null: the platform's own.
    tenant_id: str | None
    occurred_at: Moment
    #: The user or key that did it.
    actor: str
    #: A past participle: `created`, `rolled_back`, `opened`.
    action: str
    entity_type: str
    entity_id: str
    #: How it was and how it is now, without secrets and addresses; null where there is nothing to tell.
    before: Any
    after: Any
    #: Why, in the words of the one who did it.
    reason: str | None
    trace_id: str | None
    #: Tenant and entity type name a stream, in which this counts from 1 without a gap.
    seq: int
    #: The hash of the stream's previous row, and the hash of this one; `docs/audit.md` says of what.
    prev_hash: str | None
    record_hash: str

    @classmethod
    def of(cls, row: AuditRow) -> "RouterAuditView":
        """The row as it is shown."""
        return cls(
            id=row.id,
            tenant_id=row.tenant_id,
            occurred_at=row.occurred_at,
            actor=row.actor,
            action=row.action,
            entity_type=row.entity_type,
            entity_id=row.entity_id,
            before=_json(row.before),
            after=_json(row.after),
            reason=row.reason,
            trace_id=row.trace_id,
            seq=row.seq,
            prev_hash=row.prev_hash,
            record_hash=row.record_hash,
        )


def _json(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)
