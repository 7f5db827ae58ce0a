"""Keeps what people do with their mails, sets at a time, after they were answered: no reader waits for the database.

What is in hand when a process is killed is lost, and beyond so many at once the rest is not kept: opens and clicks are
hints. A redirect never is: it needs nothing but the token.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tidings.contracts.ids import NotificationId
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.errors import MissingReferenceError, TidingsError
from tidings.kernel.gather import Gatherer
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.outbox import Outbox
from tidings.notify.facts import store as facts_store
from tidings.notify.ids import DELIVERY_ATTEMPT
from tidings.notify.receipts import store
from tidings.notify.receipts.engagement import Engagements
from tidings.notify.receipts.model import LogLine, Seen, Subject
from tidings.notify.tracking.tokens import Mark

#: Who says so in the log, where others have a vendor's name.
OURSELVES = "tidings"
#: Only mails are watched.
_CHANNEL = "email"

_log = get_logger("tracking")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackingVisit:
    """A pixel was loaded, or a link was followed."""

    mark: Mark
    at: datetime
    #: By its own account it is no person.
    machine: bool


class VisitRecorder:
    """Keeps visits; one per process."""

    def __init__(
        self, *, db: Database, outbox: Outbox, clock: Clock, stripe: int = 0, most_waiting: int = 5000
    ) -> None:
        self._db = db
        self._clock = clock
        self._stripe = stripe
        self._engagements = Engagements(outbox=outbox, clock=clock, stripe=stripe)
        self._gatherer: Gatherer[TenantId, TrackingVisit, None] = Gatherer(
            self._keep, most_waiting=most_waiting
        )
        self._tasks: set[asyncio.Task[None]] = set()

    def note(self, mark: Mark, *, machine: bool) -> None:
        """Have it kept; this returns at once."""
        task = asyncio.create_task(self._do(TrackingVisit(mark=mark, at=self._clock.now(), machine=machine)))
        self._tasks.add(task)
        task.add_done_callback(self._done)

    async def settle(self) -> None:
        """Wait until all that was noted is kept: before the process ends, and in tests. One that falls keeps up none."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("visit_fell", error=type(error).__name__)

    async def _do(self, visit: TrackingVisit) -> None:
        try:
            await self._gatherer.do(visit.mark.tenant_id, visit)
        except TidingsError as error:
            _log.warning("visit_not_kept", code=error.code)

    async def _keep(self, tenant_id: TenantId, visits: Sequence[TrackingVisit]) -> list[Exception | None]:
        done: list[Exception | None] = [None] * len(visits)
        async with self._db.tenant(tenant_id, by_index=True) as tx:
            wanted = await _still_watched(tx, visits)
            if not wanted:
                return done
            subjects = await store.lock_subjects(
                tx, {v.mark.notification_id: v.mark.recipient_id for v in wanted}
            )
            people = [visit for visit in wanted if not visit.machine]
            first = await self._engagements.note(tx, subjects, [_seen(visit) for visit in people])
            await store.write_log(tx, [_line(seen) for seen in first])
            await self._count(tx, subjects, wanted, first)
        return done

    async def _count(
        self,
        tx: TenantTx,
        subjects: dict[NotificationId, Subject],
        visits: Sequence[TrackingVisit],
        first: Sequence[Seen],
    ) -> None:
        """What was not the first of its kind is counted, and leaves nothing else behind."""
        fresh = {(seen.notification_id, seen.what) for seen in first}
        happened: Counter[tuple[str, str, str]] = Counter()
        for visit in visits:
            subject = subjects.get(visit.mark.notification_id)
            if subject is None or subject.erased:
                continue
            what = (visit.mark.notification_id, visit.mark.kind)
            if not visit.machine and what in fresh:
                fresh.remove(what)
                continue
            how = "by_machine" if visit.machine else "again"
            happened[f"{visit.mark.kind}_{how}", subject.channel, subject.category] += 1
        await store.count(tx, happened, now=self._clock.now(), stripe=self._stripe)


async def _still_watched(tx: TenantTx, visits: Sequence[TrackingVisit]) -> list[TrackingVisit]:
    """What the tenant has switched off since is not kept; its links go on leading where they lead."""
    try:
        tracking = (await facts_store.load_tenant(tx)).policy.tracking
    except MissingReferenceError:
        return []
    kept = {"opened": tracking.opens, "clicked": tracking.clicks}
    return [visit for visit in visits if kept[visit.mark.kind]]


def _seen(visit: TrackingVisit) -> Seen:
    mark = visit.mark
    return Seen(
        notification_id=mark.notification_id,
        what=mark.kind,
        recipient_id=mark.recipient_id,
        channel=_CHANNEL,
        at=visit.at,
        source="tracking",
    )


def _line(seen: Seen) -> LogLine:
    return LogLine(
        id=DELIVERY_ATTEMPT.new(seen.at),
        notification_id=seen.notification_id,
        execution_id=None,
        attempt_id=None,
        channel=seen.channel,
        vendor=OURSELVES,
        outcome=seen.what,
        code=None,
        heard_at=seen.at,
    )
