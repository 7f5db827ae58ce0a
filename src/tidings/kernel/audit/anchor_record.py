"""An anchor as a value: how far every stream of a log had come at a moment, signed.

A row's hash commits to all rows before it in its stream. Signing the last one of each stream therefore
signs everything before it, and the rows themselves may be archived. An anchor's lines name only the streams
that grew since the anchor before, and each anchor repeats the digest of the one before.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from tidings.kernel.audit.record import AuditSchema, netstrings
from tidings.kernel.db import Row
from tidings.kernel.ids import AnchorId

AnchorKind = Literal["month", "demand"]
_FORM = b"tidings-anchor-v1"
_LINE_FORM = b"tidings-anchor-line-v1"


class AnchorSigner(Protocol):
    """Who signs anchors; every Kms is one."""

    async def sign(self, message: bytes) -> bytes:
        """A signature that names the key that made it."""
        ...

    async def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether one of our keys, past or present, signed exactly this."""
        ...

    def key_id_of(self, token: bytes) -> str:
        """Which key made the signature."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorLine:
    """The last row of one stream before the anchor's end."""

    tenant_id: str | None
    entity_type: str
    seq: int
    record_hash: str
    last_at: datetime

    @property
    def place(self) -> tuple[bool, str, str]:
        """Where it stands in the anchor: tenants first, then the platform."""
        return (self.tenant_id is None, self.tenant_id or "", self.entity_type)


class Root:
    """The hash over an anchor's lines, taken one by one."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.count = 0

    def add(self, line: AnchorLine) -> None:
        """The next line, in order of `place`."""
        values = (line.tenant_id, line.entity_type, line.seq, line.record_hash, line.last_at)
        self._hash.update(netstrings(_LINE_FORM, values))
        self.count += 1

    @property
    def value(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()

    @classmethod
    def of(cls, lines: Iterable[AnchorLine]) -> "Root":
        """The root of lines in any order."""
        root = cls()
        for line in sorted(lines, key=lambda line: line.place):
            root.add(line)
        return root


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A signed statement about a whole log."""

    log: AuditSchema
    #: Counts from 1 within the log.
    number: int
    id: AnchorId
    #: `month` closes a finished month; `demand` is one in between.
    kind: AnchorKind
    #: The end of the anchor before.
    covers_from: datetime | None
    #: Rows before this moment are covered.
    covers_until: datetime
    taken_at: datetime
    stream_count: int
    #: How many rows are covered that the anchor before did not.
    row_count: int
    root: str
    prev_digest: str | None
    key_id: str
    signature: bytes

    @classmethod
    def from_row(cls, row: Row) -> "Anchor":
        """The anchor as the database gives it."""
        return cls(**{name: row[name] for name in cls.__dataclass_fields__})

    def signed_bytes(self) -> bytes:
        """What the signature is of."""
        values = (
            self.log, self.number, self.id, self.kind, self.covers_from, self.covers_until, self.taken_at,
            self.stream_count, self.row_count, self.root, self.prev_digest,
        )  # fmt: skip
        return netstrings(_FORM, values)

    @property
    def digest(self) -> str:
        """What the next anchor repeats."""
        return hashlib.sha256(self.signed_bytes()).hexdigest()
