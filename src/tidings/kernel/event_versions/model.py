"""Which version of an event follows which, and how the older one is made of the newer."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import structs

from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event
from tidings.kernel.ids import EVENT, EventId, time_of

#: How long both versions are published at least.
WINDOW: Final = timedelta(days=30)
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A version of an event that takes the place of an older one."""

    #: The newer one, which is published where it happens: `order.placed.v2`.
    subject: str
    #: The older one: `order.placed.v1`.
    replaces: str
    #: Makes the data of the older one from that of the newer.
    down: Callable[[dict[str, Any]], dict[str, Any]]

    def older(self, event: Event) -> Event:
        """The event as readers of the older version know it; its id follows from the newer one's, so that it is made once."""
        return structs.replace(
            event,
            id=_id_of_older(event.id, self.replaces),
            subject=self.replaces,
            data=_encode(self.down(event.payload())).decode(),
            happened_at=event.happened_at,
            schema_version="1.0",
        )


class UnknownMigrationError(TidingsError):
    """No such event has a newer version, or no such group is known to read it."""

    code = "unknown_migration"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupProgress:
    """A group that reads an older version."""

    group: str
    #: When it said that it reads the newer one.
    completed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionWindow:
    """How far the readers of one version have come."""

    subject: str
    successor: str
    began_at: datetime
    closed_at: datetime | None
    groups: Sequence[GroupProgress]

    @property
    def ends_at(self) -> datetime:
        """Until then both are published in any case."""
        return self.began_at + WINDOW

    def is_over(self, now: datetime) -> bool:
        """Whether the older version is needed no more: the time has passed, and all groups have said so."""
        return now >= self.ends_at and all(one.completed_at is not None for one in self.groups)


def _id_of_older(id_: str, subject: str) -> EventId:
    """As new as the event itself, and the same each time."""
    digest = int.from_bytes(hashlib.sha256(f"{id_} {subject}".encode()).digest()[:10], "big")
    tail = "".join(_ALPHABET[digest >> shift & 31] for shift in range(75, -5, -5))
    made = EVENT.parse(id_[: -len(tail)] + tail)
    if time_of(made) != time_of(id_):
        raise AssertionError("the time stands before the tail")
    return made
