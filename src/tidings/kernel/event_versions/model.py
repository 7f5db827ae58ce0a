"""Which version of an event follows which, and how the older one is made of the newer."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import structs

from tidings.kernel.errors import TidingsError
from tidings.kernel.events import Event
from tidings.kernel.ids import EVENT, EventId, time_of

#: How long both versions are published at least.
WINDOW: Final = timedelta(days=30)
#: An older version ends so long after that was decided: by then all processes know.
NOTICE: Final = timedelta(minutes=5)
#: So long after both began, processes of a release before may still publish the older one alone.
SETTLING: Final = timedelta(days=1)
_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A version of an event that takes the place of an older one."""

    #: The newer one, which is published where it happens: `order.placed.v2`.
    subject: str
    #: The older one: `order.placed.v1`.
    replaces: str
    #: Since when it is published: readers who are pinned to a day before that are told the older one.
    introduced: date
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

    def publishes_older(self, at: datetime) -> bool:
        """Whether an event of then has an older version as well."""
        return self.closed_at is None or at < self.closed_at

    def is_over(self, now: datetime) -> bool:
        """Whether the older version is needed no more: the time has passed, and all groups have said so."""
        return now >= self.ends_at and all(one.completed_at is not None for one in self.groups)


class PublishedVersions:
    """Which versions of events are published side by side, as they stood at the last look."""

    def __init__(self, successors: Iterable[Successor], windows: Iterable[VersionWindow] = ()) -> None:
        self._by_newer = {one.subject: one for one in successors}
        self._by_older = {one.replaces: one for one in self._by_newer.values()}
        self._windows = {one.subject: one for one in windows}

    def publishes_older(self, successor: Successor, at: datetime) -> bool:
        """Whether an event of then has an older version as well; until we have looked, each has."""
        window = self._windows.get(successor.replaces)
        return window is None or window.publishes_older(at)

    def has_better(self, event: Event, *, pinned: date, takes: Callable[[str], bool]) -> bool:
        """Whether a reader who is pinned to a day, and takes these subjects, is told another version of this event.

        Of the versions that they take they are told the newest one of that day, or the oldest that is published.
        """
        versions = [version for version in self._beside(event) if version == event.subject or takes(version)]
        known = [version for version in versions if self._is_of(version, pinned)]
        return (known[-1] if known else versions[0]) != event.subject

    def _beside(self, event: Event) -> list[str]:
        """The versions that this event is published in for sure, the oldest first."""
        versions = [event.subject]
        while (below := self._by_newer.get(versions[0])) and self.publishes_older(below, event.time):
            versions.insert(0, below.replaces)
        while (above := self._by_older.get(versions[-1])) and self._has_settled(above, event.time):
            versions.append(above.subject)
        return versions

    def _is_of(self, version: str, day: date) -> bool:
        """Whether a version was there on that day."""
        successor = self._by_newer.get(version)
        return successor is None or successor.introduced <= day

    def _has_settled(self, successor: Successor, at: datetime) -> bool:
        """Whether all that publish the older version publish the newer one as well."""
        window = self._windows.get(successor.replaces)
        return window is not None and at >= window.began_at + SETTLING


def _id_of_older(id_: str, subject: str) -> EventId:
    """As new as the event itself, and the same each time."""
    digest = int.from_bytes(hashlib.sha256(f"{id_} {subject}".encode()).digest()[:10], "big")
    tail = "".join(_ALPHABET[digest >> shift & 31] for shift in range(75, -5, -5))
    made = EVENT.parse(id_[: -len(tail)] + tail)
    if time_of(made) != time_of(id_):
        raise AssertionError("the time stands before the tail")
    return made
