"""A row of any service's audit as JSON."""

from typing import Any

import msgspec
from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.kernel.audit.record import AuditRow
from tidings.kernel.audit.verify_owner import Verification
from tidings.kernel.mapping import by_name


class AuditView(Struct, frozen=True, kw_only=True):
    """One thing that happened, linked to what happened before it."""

    id: str
    #: Null: the platform's own.
    tenant_id: str | None
    occurred_at: Moment
    #: The user or key that did it.
    actor: str
    #: A past participle: `created`, `rotated`, `platform.acted`.
    action: str
    entity_type: str
    entity_id: str
    #: How it was and how it is now, without secrets and addresses; null where there is nothing to tell.
    before: Any
    after: Any
    #: Why, in the words of the one who did it.
    reason: str | None
    #: The request behind it: its trace, and peppered hashes of the caller's address and browser. Equal hashes of one
    #: tenant's rows are the same place. Null where a job or a command did it.
    trace_id: str | None
    ip_hash: str | None
    user_agent_hash: str | None
    #: Tenant and entity type name a stream, in which this counts from 1 without a gap.
    seq: int
    #: The hash of the stream's previous row, and the hash of this one; `docs/audit.md` says of what.
    prev_hash: str | None
    record_hash: str

    @classmethod
    def of(cls, row: AuditRow) -> "AuditView":
        """The row as it is shown."""
        return by_name(cls, row, before=_json(row.before), after=_json(row.after))


def _json(text: str | None) -> Any:
    return None if text is None else msgspec.json.decode(text)


class FindingView(Struct, frozen=True, kw_only=True):
    """One thing that is wrong with an audit."""

    entity_type: str | None
    #: `altered missing reordered forged truncated vanished head anchor`
    fault: str
    #: The number within the stream.
    seq: int | None
    id: str | None
    detail: str


class VerificationView(Struct, frozen=True, kw_only=True):
    """Whether an audit is as it was written."""

    #: Nothing is wrong with what was read.
    ok: bool
    streams: int
    rows: int
    #: False: there were more rows than are read for one answer.
    complete: bool
    findings: list[FindingView]

    @classmethod
    def of(cls, done: Verification) -> "VerificationView":
        """The verification as it is shown."""
        return by_name(
            cls,
            done,
            ok=not done.findings,
            complete=done.is_complete,
            findings=[by_name(FindingView, one) for one in done.findings],
        )
