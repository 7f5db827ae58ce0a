"""Which process reads for a group: a row with an owner and a time, not a session's lock.

A session's lock is held for as long as the server believes in a vanished host's connection, which may be
hours. A lease runs out by itself. Its times are the server's, so that the processes' clocks don't matter.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidings.kernel.db import WorkerTx
from tidings.kernel.errors import TidingsError
from tidings.kernel.postgres_bus.event_stream import Cursor
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class LeaseLostError(TidingsError):
    """Another process reads for this group now."""

    code = "lease_lost"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderLease:
    """The right to read for a group."""

    group: str
    owner: str
    #: Grows with every claim; an older one is worth nothing.
    epoch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseClaim:
    """What came of asking for the lease."""

    #: The lease and where to go on; None while another process has it, or there is nothing to do.
    granted: tuple[ReaderLease, Cursor] | None
    #: It was taken from a process that had let it run out.
    from_another: bool
    #: There is work, and another process has the lease for so many seconds.
    held_seconds: float | None
    #: When the next event that was set aside is to be tried.
    next_attempt_at: datetime | None


async def register_group(tx: WorkerTx, *, group: str, from_now: bool, newest: int | None = None) -> None:
    """Make the group's row, unless there is one; `newest` is the end of a stream that is not in this database."""
    await tx.execute(_QUERIES.register_group, group=group, from_now=from_now, newest=newest)


async def claim_lease(
    tx: WorkerTx, *, group: str, owner: str, lease: timedelta, now: datetime, stays: bool = False
) -> LeaseClaim | None:
    """Ask for the lease, with `stays` even if there is nothing to do; None where the group is not registered."""
    row = await tx.fetch_one(
        _QUERIES.claim_lease, group=group, owner=owner, lease=lease, now=now, stays=stays
    )
    if row is None:
        return None
    granted = None
    if row["epoch"] is not None:
        granted = (
            ReaderLease(group=group, owner=owner, epoch=row["epoch"]),
            Cursor(position=row["position"], published_at=row["published_at"]),
        )
    return LeaseClaim(
        granted=granted,
        from_another=granted is not None and bool(row["from_another"]),
        held_seconds=row["held_seconds"] if granted is None else None,
        next_attempt_at=row["next_attempt_at"],
    )


async def advance_cursor(
    tx: WorkerTx, held: ReaderLease, *, to: Cursor, lease: timedelta, rest: bool = False
) -> None:
    """Move on and renew, or `rest` and release it; a `LeaseLostError` where it is no longer ours.

    Its row stays locked until `tx` ends.
    """
    row = await tx.fetch_one(
        _QUERIES.advance_cursor,
        held,
        position=to.position,
        published_at=to.published_at,
        lease=lease,
        rest=rest,
    )
    if row is None:
        raise LeaseLostError


async def renew_lease(tx: WorkerTx, held: ReaderLease, *, lease: timedelta) -> bool:
    """Whether it is still ours; if so, for longer."""
    renewed = await tx.execute(_QUERIES.renew_lease, held, lease=lease)
    return renewed == 1


async def release_lease(tx: WorkerTx, held: ReaderLease, *, announce: bool = False) -> None:
    """Release it, so that another process may claim it; `announce`: those that stand by look at once."""
    await tx.execute(_QUERIES.release_lease, held, announce=announce)
