"""Writes what became of a set; an answer that was learned is not forgotten because the database is away."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias, TypeVar

from msgspec.structs import replace

from tidings.contracts.delivery import DeliveryResult
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.errors import (
    DatabaseBusyError,
    DatabaseError,
    DatabaseUnavailableError,
    PartitionMissingError,
)
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.router.conversations.sent import SentTurn
from tidings.router.executions import news, store
from tidings.router.executions.bill import spent_in
from tidings.router.executions.columns import columns_of
from tidings.router.executions.learning import observations_of
from tidings.router.executions.model import ExecutionId, Live, Note, Observer, moment
from tidings.router.executions.store import Claimed
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.model import (
    NOT_IN_TIME,
    Answered,
    Happened,
    NotCalled,
    Position,
    Turn,
    WorkerDied,
)
from tidings.router.profiles.store import learn
from tidings.router.spend import add as spend

T = TypeVar("T")

_log = get_logger("executions")
#: What could not be written is looked at again after this.
_LOOK_AGAIN = timedelta(seconds=5)
#: The same set will be written some day, as it is; a missing partition is made by an operator, or by the job.
_NOBODYS_FAULT: Final = (DatabaseUnavailableError, DatabaseBusyError, PartitionMissingError)
#: Receipts that come while we write make us read and decide anew; so often at most before others get a go at it.
_MOST_NEWS = 20


#: Hears of messages that were taken and can be answered, in the transaction that writes it.
NoteSent: TypeAlias = Callable[[TenantTx, Sequence[SentTurn], datetime], Awaitable[None]]


class Recorder:
    """Writes notes. Nobody who lost a claim writes anything; whoever has not heard the news hears it and decides anew."""

    def __init__(
        self,
        db: Database,
        *,
        ladder: Ladder,
        clock: Clock,
        luck: Callable[[], float],
        due_timer: DueTimer,
        observer: Observer,
        note_sent: NoteSent,
        stripe: int = 0,
        patience: timedelta = timedelta(minutes=10),
    ) -> None:
        """`note_sent` hears of messages that people can answer. `stripe`: which of the counts of a day this worker adds to. `patience`: how long an answer that was learned is kept while the database is away."""
        self.db = db
        self._ladder = ladder
        self._clock = clock
        self._luck = luck
        self._due_timer = due_timer
        self._observer = observer
        self._note_sent = note_sent
        self._stripe = stripe
        self._patience = patience.total_seconds()

    def after(self, live: Live, happened: Sequence[Happened] = ()) -> Note:
        """What follows from what happened to a ladder."""
        turn = self._ladder.turn(live.here, happened, now=self._clock.now(), luck=self._luck())
        return Note(live=live, turn=turn, happened=tuple(happened))

    def further(self, note: Note, happened: Sequence[Happened]) -> Note:
        """What follows when more happens before the note is written."""
        if not happened:
            return note
        first = note.turn
        then = self._ladder.turn(first.there, happened, now=self._clock.now(), luck=self._luck())
        turn = Turn(
            there=then.there,
            end=then.end,
            ask=then.ask,
            due_at=then.due_at,
            fresh=(*first.fresh, *then.fresh),
            late=(*first.late, *then.late),
            needless=then.needless,
            learned=(*first.learned, *then.learned),
        )
        return Note(
            live=note.live, turn=turn, happened=(*note.happened, *happened), answerable=note.answerable
        )

    async def record(
        self, tenant_id: TenantId, worker: str, notes: Sequence[Note]
    ) -> dict[ExecutionId, Note]:
        """Write a set; what was written of each, which may be another turn than was given. Those lost are left out.

        Where one of them can't be written, the others are, and it is given back.
        """
        written: dict[ExecutionId, Note] = {}
        for _ in range(_MOST_NEWS):
            if not notes:
                return written
            # In one order with whoever brings receipts: nobody waits in a circle.
            notes = sorted(notes, key=lambda note: note.live.id)
            try:
                kept = await self._write(tenant_id, worker, notes, moment(self._clock))
            except _NOBODYS_FAULT:
                break
            except DatabaseError as error:
                self._observer.failed("record")
                _log.error("outcomes_not_recorded", tenant_id=tenant_id, count=len(notes), error=str(error))
                if len(notes) == 1:
                    break
                # One of them is to blame; the others must not share its fate.
                middle = len(notes) // 2
                for half in (notes[:middle], notes[middle:]):
                    written.update(await self.record(tenant_id, worker, half))
                return written
            done = [note for note in notes if note.live.id in kept]
            self._tell(done)
            written.update({note.live.id: note for note in done})
            missed = [note for note in notes if note.live.id not in kept]
            if not missed:
                return written
            try:
                notes, marked = await self._again(tenant_id, worker, missed)
            except _NOBODYS_FAULT:
                notes = missed
                break
            written.update(marked)
        await self._give_back(tenant_id, worker, notes)
        return written

    async def _again(
        self, tenant_id: TenantId, worker: str, missed: Sequence[Note]
    ) -> tuple[list[Note], dict[ExecutionId, Note]]:
        """The same happenings with the news that came between, and those that had been written after all.

        What is not ours any more is left out.
        """
        by_id = {note.live.id: note for note in missed}
        fresh = await self._patiently(lambda: news.load(self.db, tenant_id, list(by_id), worker=worker))
        marked: dict[ExecutionId, Note] = {}
        found: list[Note] = []
        for live, heard in fresh:
            before = by_id[live.id]
            if before.keep and _calls(live.here) >= _calls(before.turn.there):
                # The answer to the commit was lost: our calls are noted, and still to be made.
                marked[live.id] = replace(before, live=replace(before.live, version=live.version - 1))
                continue
            if not _the_same_calls(before, live):
                # The answer to the commit was lost, and since then it was taken up again: that is another's to write.
                continue
            # The news first: they were there before we wrote.
            again = self.after(live, (*heard, *before.happened))
            found.append(replace(again, currency=before.currency, answerable=before.answerable))
        gone = len(missed) - len(found) - len(marked)
        if gone:
            self._observer.lost(gone)
            _log.warning("claims_lost", count=gone)
        return found, marked

    async def _write(
        self, tenant_id: TenantId, worker: str, notes: Sequence[Note], now: datetime
    ) -> set[ExecutionId]:
        columns = columns_of(tenant_id, notes, now=now)
        late = [(note.live.id, past.id) for note in notes for past in note.turn.late]

        async def write() -> set[ExecutionId]:
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                kept = await store.record_turns(tx, columns, worker=worker, now=now)
                if late and (given_up := [one for one in late if one[0] in kept]):
                    await store.note_clock_events(
                        tx, given_up, status="timed_out", reason=NOT_IN_TIME, now=now
                    )
                done = [note for note in notes if note.live.id in kept]
                learned = observations_of(done, now=now)
                if learned:
                    await learn(tx, learned, now=now)
                if turns := [turn for note in done for turn in note.answerable]:
                    await self._note_sent(tx, turns, now)
                # Last: whoever adds to the same day at the same time waits for our commit.
                await spend.add(tx, spent_in(done), stripe=self._stripe)
                return kept

        # A commit whose answer was lost may have been one: then the fence lets nothing pass twice.
        return await self._patiently(write)

    async def _patiently(self, do: Callable[[], Awaitable[T]]) -> T:
        """Again and again while the database is away: an answer that was learned is not forgotten."""
        give_up_at = self._clock.monotonic() + self._patience
        backoff = Backoff(first=0.05, longest=2.0)
        while True:
            try:
                return await do()
            except _NOBODYS_FAULT:
                self._observer.failed("record")
                if self._clock.monotonic() >= give_up_at:
                    raise
                await self._clock.sleep(backoff.after_failure())

    async def _give_back(self, tenant_id: TenantId, worker: str, notes: Sequence[Note]) -> None:
        claims = [Claimed(tenant_id, note.live.id) for note in notes]
        await give_back(self.db, claims, worker=worker, due_at=self._clock.now() + _LOOK_AGAIN)

    def _tell(self, notes: Sequence[Note]) -> None:
        ends: Counter[DeliveryResult] = Counter()
        for note in notes:
            if note.turn.end is not None:
                ends[note.turn.end.result] += 1
            elif not note.keep:
                self._due_timer.expect(
                    self._clock.now() if note.turn.ask else note.turn.due_at or self._clock.now()
                )
        for result, count in ends.items():
            self._observer.ended(result, count)


def _the_same_calls(before: Note, live: Live) -> bool:
    """Whether the calls under way are those that the note is about."""
    about = {
        one.call_id
        for one in before.happened
        if isinstance(one, Answered | NotCalled | WorkerDied) and one.call_id is not None
    }
    under_way = _calls(live.here)
    return under_way <= _calls(before.live.here) | about and (not about or bool(about & under_way))


def _calls(here: Position) -> set[str]:
    return {leg.calling.id for leg in here.legs if leg.calling is not None}


async def give_back(db: Database, claims: Sequence[Claimed], *, worker: str, due_at: datetime) -> None:
    """Let others look at them at that moment; where even that fails they are free when this worker is gone."""
    try:
        async with db.worker() as tx:
            await store.release_claims(tx, claims, worker=worker, due_at=due_at)
    except DatabaseError as error:
        _log.error("claims_not_given_back", count=len(claims), error=str(error))
