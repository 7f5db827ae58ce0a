"""Whether events move: outboxes that no relay empties, groups that do not read, events that were given up on."""

from collections.abc import Collection, Iterator, Mapping
from datetime import timedelta
from typing import Final, Protocol

from tidings.contracts.conditions import Condition, Figure, Look
from tidings.kernel.bus import BusUnavailableError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import DEAD_LETTER
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)
#: Seconds of the oldest event: from when on it is a warning, from when on critical, below which it is well.
_OUTBOX: Final = (30.0, 300.0, 10.0)
_GROUP: Final = (300.0, 3600.0, 60.0)
_DAY: Final = timedelta(days=1)


class Waiting(Protocol):
    """Knows how long the oldest event has waited."""

    async def oldest_in_outboxes(self) -> Mapping[str, float]:
        """Seconds, by schema; 0 where none waits."""
        ...

    async def oldest_of_groups(self) -> Mapping[str, float]:
        """Seconds, by group; 0 where there is none."""
        ...


class BusConditions:
    """Looks at what the relays and consumers of these services leave."""

    every = timedelta(seconds=20)

    def __init__(self, db: Database, waiting: Waiting, clock: Clock, services: Collection[str]) -> None:
        self._db = db
        self._waiting = waiting
        self._clock = clock
        #: Processes of different services see different groups, and end only their own alerts.
        self.name = "bus_" + "_".join(sorted(services))

    async def look(self) -> Look:
        """Three statements, and a question to the broker where there is one."""
        outboxes = await self._waiting.oldest_in_outboxes()
        try:
            groups = await self._waiting.oldest_of_groups()
        except BusUnavailableError:
            groups = {}
        async with self._db.worker() as tx:
            since = DEAD_LETTER.new(self._clock.now() - _DAY)
            rows = await tx.fetch(QUERIES.dead_letters, since=since)
        dead = {str(row["group_name"]): int(row["letters"]) for row in rows}
        conditions = [
            *_late("outbox_lag", "schema", outboxes, _OUTBOX),
            *_late("group_behind", "group", groups, _GROUP),
            *(_dead(group, count) for group, count in dead.items()),
        ]
        figures = [
            *(
                Figure(name="outbox_seconds", value=int(seconds), about=schema)
                for schema, seconds in outboxes.items()
            ),
            Figure(name="group_behind_seconds", value=int(max(groups.values(), default=0))),
            Figure(name="dead_events", value=sum(dead.values())),
        ]
        return Look(conditions=conditions, figures=figures)


def _late(
    category: str, what: str, oldest: Mapping[str, float], bounds: tuple[float, float, float]
) -> Iterator[Condition]:
    warning, critical, well = bounds
    for about, seconds in oldest.items():
        if seconds < well:
            continue
        yield Condition(
            category=category,
            about=about,
            severity="critical" if seconds >= critical else "warning",
            tenant_id=None,
            facts={what: about, "seconds": int(seconds)},
            is_fading=seconds < warning,
        )


def _dead(group: str, count: int) -> Condition:
    return Condition(
        category="dead_letters",
        about=f"events:{group}",
        severity="warning",
        tenant_id=None,
        facts={"kind": "events", "group": group, "count": count},
    )
