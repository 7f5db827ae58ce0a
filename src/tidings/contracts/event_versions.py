"""Versions of events that a newer one follows; both are published until all readers have moved on (docs/events.md).

To bring a `vN+1`: declare its form in the contracts beside that of `vN`, publish it where `vN` was published, and add a line here
that makes the data of `vN` from it, with the day on which it is released.
"""

from typing import Final

from msgspec import Struct

from tidings.kernel.event_versions.model import Successor

SUCCESSORS: Final[tuple[Successor, ...]] = ()

MIGRATION_COMPLETED_SUBJECT: Final = "consumer.migration.completed.v1"


class ConsumerMigrationCompleted(Struct, frozen=True, kw_only=True):
    """A reader of events has moved on to the newer version of one, and needs the older no more."""

    #: Its name: that of a reader of the tenant who says so.
    group: str
    #: The older version: `order.placed.v1`.
    subject: str


EVENT_VERSION_EVENTS: dict[str, type[Struct]] = {MIGRATION_COMPLETED_SUBJECT: ConsumerMigrationCompleted}
