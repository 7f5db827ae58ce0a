"""One row of the audit as a value, and the bytes that its hash is taken of.

The form is fixed for ever, or old rows could no longer be verified: the words `tidings-audit-v1`, the name
of the log, then every column but `record_hash` in the order of `_HASHED`, each as a netstring
(`5:hello,`; `-,` where it is null), in UTF-8. Times are UTC with microseconds. A netstring says its own
length, so no two different rows give the same bytes.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from tidings.kernel.db import Row
from tidings.kernel.ids import AUDIT, AuditId, IdKind, TenantId

#: The schemas that have an audit; each is a log of its own.
AuditSchema = Literal["notification", "chan", "bff_backoffice"]
AUDIT_SCHEMAS: Final[tuple[AuditSchema, ...]] = ("notification", "chan", "bff_backoffice")

#: How the rows of each log are called.
AUDIT_IDS: Final[dict[AuditSchema, IdKind[AuditId]]] = {
    "notification": AUDIT,
    "chan": IdKind("chan_audit", AuditId),
    "bff_backoffice": IdKind("bff_audit", AuditId),
}

_FORM = b"tidings-audit-v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """What happened once, linked to what happened before it."""

    #: None: the platform's own.
    tenant_id: TenantId | None
    #: Tenant and entity type name the stream, in which `seq` counts from 1.
    entity_type: str
    seq: int
    id: AuditId
    occurred_at: datetime
    entity_id: str
    action: str
    #: The user or key that did it.
    actor: str
    #: JSON, redacted.
    before: str | None
    #: JSON, redacted.
    after: str | None
    ip_hash: str | None
    user_agent_hash: str | None
    trace_id: str | None
    reason: str | None
    #: The hash of the stream's previous row; None for the first.
    prev_hash: str | None
    #: The hash of all the above.
    record_hash: str

    @classmethod
    def from_row(cls, row: Row) -> "AuditRow":
        """The row as the database gives it."""
        return cls(**{name: row[name] for name in COLUMNS})


COLUMNS: Final = tuple(AuditRow.__dataclass_fields__)
_HASHED: Final = tuple(name for name in COLUMNS if name != "record_hash")


def hash_of(log: AuditSchema, row: AuditRow) -> str:
    """What `record_hash` has to be."""
    return hashlib.sha256(netstrings(_FORM, [log, *(getattr(row, name) for name in _HASHED)])).hexdigest()


def netstrings(form: bytes, values: Iterable[Any]) -> bytes:
    """The values as bytes that can be read in one way only."""
    parts = [form]
    for value in values:
        if value is None:
            parts.append(b"-,")
            continue
        text = _text(value).encode("utf-8", "surrogatepass")
        parts.append(b"%d:%b," % (len(text), text))
    return b"".join(parts)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    return str(value)
