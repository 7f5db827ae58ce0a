"""Events that were set aside in a group: one that failed, and those of its lane behind it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

from tidings.kernel.db import WorkerTx
from tidings.kernel.events import envelope_of, from_stored
from tidings.kernel.ids import DEAD_LETTER
from tidings.kernel.postgres_bus.event_stream import Arrival
from tidings.kernel.sql import Queries

#: How long a dead letter is kept.
KEEP_DEAD_LETTERS = timedelta(days=14)
#: Lanes tried in one turn, and events of one lane: a turn has to end while the lease lasts.
_LANES = 50
_PER_LANE = 100

_QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An event that failed, or that waits behind one that did."""

    arrival: Arrival
    #: Handler calls so far; 0 for one that only waits.
    attempts: int
    #: None for one that only waits.
    next_attempt_at: datetime | None
    #: The code or class of the error; None for one that only waits.
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ParkedLane:
    """A lane whose time to be tried again has come."""

    #: Its first events in order, each with its attempts so far.
    events: tuple[tuple[Arrival, int], ...]


@dataclass(slots=True)
class Settlement:
    """What one turn of a consumer came to; written down in one transaction with the cursor."""

    #: Events that had their effect, for the counter.
    consumed: int = 0
    #: Events of the stream that are set aside now.
    parked: list[Failure] = field(default_factory=list)
    #: Events set aside before that had their effect now.
    unparked: list[Arrival] = field(default_factory=list)
    #: Events set aside before that failed again.
    postponed: list[Failure] = field(default_factory=list)
    #: Of both kinds of failures those without an attempt left.
    dead: list[Arrival] = field(default_factory=list)


async def due_lanes(tx: WorkerTx, *, group: str, now: datetime) -> list[ParkedLane]:
    """Lanes to be tried again now."""
    rows = await tx.fetch(_QUERIES.due_events, group=group, now=now, lanes=_LANES, per_lane=_PER_LANE)
    found = [
        (Arrival(position=row["position"], event=from_stored(row["envelope"], row["payload"])), row)
        for row in rows
    ]
    lanes = []
    for _, members in groupby(found, key=lambda pair: pair[0].event.lane):
        events = []
        for arrival, row in members:
            if row["later"]:
                break  # A dead letter that was replayed stands before one that still has to wait.
            events.append((arrival, row["attempts"]))
        lanes.append(ParkedLane(events=tuple(events)))
    return lanes


async def behind_parked(tx: WorkerTx, arrivals: Sequence[Arrival], *, group: str) -> tuple[Arrival, ...]:
    """The same, each with the knowledge whether its lane waits for an event that is set aside."""
    lanes = {arrival.event.lane for arrival in arrivals}
    rows = await tx.fetch(_QUERIES.parked_lanes, group=group, lanes=sorted(lanes)) if lanes else []
    waiting = {row["lane"] for row in rows}
    return tuple(
        replace(arrival, behind_parked=True) if arrival.event.lane in waiting else arrival
        for arrival in arrivals
    )


async def settle(tx: WorkerTx, settlement: Settlement, *, group: str, now: datetime) -> None:
    """Write down what a turn came to; five statements at most, none on a turn without failures."""
    if settlement.parked:
        await _park(tx, settlement.parked, group=group, now=now)
    if settlement.postponed:
        await tx.execute(_QUERIES.postpone_events, group=group, **_failures(settlement.postponed))
    if settlement.unparked:
        await tx.execute(_QUERIES.unpark_events, group=group, positions=_positions(settlement.unparked))
    if settlement.dead:
        await tx.execute(
            _QUERIES.bury_events,
            group=group,
            positions=_positions(settlement.dead),
            ids=[DEAD_LETTER.new(now) for _ in settlement.dead],
            event_ids=[arrival.event.id for arrival in settlement.dead],
            subjects=[arrival.event.subject for arrival in settlement.dead],
            now=now,
            expires_at=now + KEEP_DEAD_LETTERS,
        )
    left = {arrival.event.lane for arrival in (*settlement.unparked, *settlement.dead)}
    if left:
        await tx.execute(_QUERIES.promote_lanes, group=group, lanes=sorted(left), now=now)


async def _park(tx: WorkerTx, failures: Sequence[Failure], *, group: str, now: datetime) -> None:
    events = [failure.arrival.event for failure in failures]
    await tx.execute(
        _QUERIES.park_events,
        group=group,
        now=now,
        tenant_ids=[event.tenant_id for event in events],
        lanes=[event.lane for event in events],
        envelopes=[envelope_of(event) for event in events],
        payloads=[event.data for event in events],
        **_failures(failures),
    )


def _failures(failures: Sequence[Failure]) -> dict[str, list[object]]:
    return {
        "positions": [failure.arrival.position for failure in failures],
        "attempts": [failure.attempts for failure in failures],
        "next_attempts": [failure.next_attempt_at for failure in failures],
        "errors": [failure.error for failure in failures],
    }


def _positions(arrivals: Iterable[Arrival]) -> list[int]:
    return [arrival.position for arrival in arrivals]
