"""Prefixed ULIDs, each kind a type of its own.

An id explains itself in a log line (`tnt_01JCQ…`) and a swapped argument fails to type-check. The first
48 bits are the time in milliseconds, so a row's `created_at` *is* the time inside its id and a lookup by
id alone knows its month.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, NewType, TypeVar

from ulid_transform import ulid_at_time, ulid_to_timestamp

from tidings.kernel.errors import BadValueError

TenantId = NewType("TenantId", str)
EventId = NewType("EventId", str)
AuditId = NewType("AuditId", str)
AnchorId = NewType("AnchorId", str)
DeadLetterId = NewType("DeadLetterId", str)

T = TypeVar("T", bound=str)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_LAST_MILLISECOND = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MILLISECOND

_ULID = re.compile(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")


#: Every kind by its type.
_kinds: "dict[Any, IdKind[Any]]" = {}


def kind_of(wanted: Any) -> "IdKind[Any] | None":
    """The kind of id that a type stands for; None where it stands for something else."""
    return _kinds.get(wanted)


@dataclass(frozen=True, slots=True)
class IdKind(Generic[T]):
    """One kind of id: makes new ones and reads those that arrive."""

    #: What stands before the underscore.
    prefix: str
    #: The type that type checkers tell apart.
    type: type[T]

    def __post_init__(self) -> None:
        # A plain text is no kind of its own.
        if self.type is not str:
            _kinds[self.type] = self

    def new(self, at: datetime) -> T:
        """A new id whose time is `at`, cut to the millisecond."""
        # Half a millisecond on top: the library cuts a float, and 0.0010 s must not become 0 ms.
        return self.type(f"{self.prefix}_{ulid_at_time((_milliseconds(at) + 0.5) / 1000)}")

    def parse(self, text: str, *, field: str = "id") -> T:
        """The id in `text`; a `BadValueError` naming `field` where it is none of this kind."""
        head, _, ulid = text.rpartition("_")
        if head != self.prefix or not _ULID.fullmatch(ulid):
            raise BadValueError(field, f"must be an id of the form {self.prefix}_ followed by 26 characters")
        return self.type(text)


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND


def time_of(any_id: str) -> datetime:
    """The moment inside an id, to the millisecond: the `created_at` of its row.

    An id has room for eight thousand years more than the calendar: what is made up beyond its end is at its end, where
    there is no row.
    """
    seconds, rest = divmod(min(ulid_to_timestamp(any_id[-26:]), _LAST_MILLISECOND), 1000)
    return _EPOCH + timedelta(0, seconds, rest * 1000)


TENANT = IdKind("tnt", TenantId)
EVENT = IdKind("evt", EventId)
AUDIT = IdKind("aud", AuditId)
ANCHOR = IdKind("anc", AnchorId)
DEAD_LETTER = IdKind("dlt", DeadLetterId)
