"""Writes what became of a set; an answer that was learned is not forgotten because the database is away."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from tidings.contracts.delivery import DeliveryResult
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.jobs import Pauses
from tidings.kernel.logs import get_logger
from tidings.router.executions import store
from tidings.router.executions.alarm import Alarm
from tidings.router.executions.columns import columns_of
from tidings.router.executions.model import ExecutionId, Note, Observer, moment
from tidings.router.executions.store import Claimed
from tidings.router.ladder.model import Again, End, Next, Wait

_log = get_logger("executions")
#: What could not be written is looked at again after this; no vendor is called for it before it is.
_LOOK_AGAIN = timedelta(minutes=5)


class Recorder:
    """One statement a set, fenced by the claim."""

    def __init__(
        self,
        db: Database,
        *,
        clock: Clock,
        alarm: Alarm,
        observer: Observer,
        patience: timedelta = timedelta(minutes=10),
    ) -> None:
        """`patience`: how long to try while the database is away."""
        self._db = db
        self._clock = clock
        self._alarm = alarm
        self._observer = observer
        self._patience = patience.total_seconds()

    async def record(self, tenant_id: TenantId, worker: str, notes: Sequence[Note]) -> None:
        """Write it, or give the ladders back where that can't be done."""
        if not notes:
            return
        now = moment(self._clock)
        columns = columns_of(tenant_id, notes, now=now)
        try:
            kept = await self._write(tenant_id, worker, columns, now)
        except (DatabaseUnavailableError, DatabaseBusyError):
            await self._give_back(tenant_id, worker, notes)
            return
        except DatabaseError as error:
            self._observer.failed("record")
            _log.error("outcomes_not_recorded", tenant_id=tenant_id, count=len(notes), error=str(error))
            if len(notes) == 1:
                await self._give_back(tenant_id, worker, notes)
                return
            # One of them is to blame; the others must not share its fate.
            middle = len(notes) // 2
            await self.record(tenant_id, worker, notes[:middle])
            await self.record(tenant_id, worker, notes[middle:])
            return
        self._tell(notes, kept, now)

    async def _write(
        self, tenant_id: TenantId, worker: str, columns: dict[str, list[object]], now: datetime
    ) -> set[ExecutionId]:
        give_up_at = self._clock.monotonic() + self._patience
        pauses = Pauses(first=0.05, longest=2.0)
        while True:
            try:
                async with self._db.tenant(tenant_id, by_index=True) as tx:
                    return await store.record_outcomes(tx, columns, worker=worker, now=now)
            except (DatabaseUnavailableError, DatabaseBusyError):
                # A commit whose answer was lost may have been one: then the fence lets nothing pass twice.
                self._observer.failed("record")
                if self._clock.monotonic() >= give_up_at:
                    raise
                await self._clock.sleep(pauses.after_failure())

    async def _give_back(self, tenant_id: TenantId, worker: str, notes: Sequence[Note]) -> None:
        claims = [Claimed(tenant_id, note.live.id) for note in notes]
        await give_back(self._db, claims, worker=worker, due_at=self._clock.now() + _LOOK_AGAIN)

    def _tell(self, notes: Sequence[Note], kept: set[ExecutionId], now: datetime) -> None:
        if len(kept) < len(notes):
            self._observer.lost(len(notes) - len(kept))
            _log.warning("claims_lost", count=len(notes) - len(kept))
        ends: Counter[DeliveryResult] = Counter()
        for note in notes:
            match note.decision:
                case End(result=result):
                    ends[result] += note.live.id in kept
                case Again(at=at) | Wait(until=at):
                    self._alarm.expect(at)
                case Next():
                    self._alarm.expect(now)
        for result, count in ends.items():
            self._observer.ended(result, count)


async def give_back(db: Database, claims: Sequence[Claimed], *, worker: str, due_at: datetime) -> None:
    """Let others look at them at that moment; where even that fails they are free when this worker is gone."""
    try:
        async with db.worker() as tx:
            await store.release_claims(tx, claims, worker=worker, due_at=due_at)
    except DatabaseError as error:
        _log.error("claims_not_given_back", count=len(claims), error=str(error))
