"""The use case "these ladders are due": look where each stands, have its steps prepared, note the calls, make them."""

from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from tidings.contracts.delivery import ReadyStep, StepAsk, StepPreparer
from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.kernel.tracing import span_of_set, started
from tidings.router.executions import news
from tidings.router.executions.booking import Booking, Want
from tidings.router.executions.call import Caller
from tidings.router.executions.model import Booked, Called, ExecutionId, Live, Note, Observer, moment
from tidings.router.executions.record import give_back
from tidings.router.executions.store import Claimed
from tidings.router.ladder.decide import Ladder
from tidings.router.ladder.hear import open_calls
from tidings.router.ladder.model import Barred, Happened, Turn

_log = get_logger("executions")
#: What could not be prepared, or not be looked at, is tried again after this.
_LOOK_AGAIN = timedelta(seconds=5)


class Advancer:
    """Takes claimed ladders of one tenant one step on."""

    def __init__(
        self,
        db: Database,
        caller: Caller,
        preparer: StepPreparer,
        booking: Booking,
        *,
        ladder: Ladder,
        clock: Clock,
        observer: Observer,
    ) -> None:
        self._db = db
        self._caller = caller
        self._preparer = preparer
        self._booking = booking
        self._ladder = ladder
        self._clock = clock
        self._observer = observer

    async def advance(self, tenant_id: TenantId, worker: str, ids: Sequence[ExecutionId]) -> None:
        """Whatever goes wrong before a vendor is called, the ladders are given back."""
        try:
            calls, over = await self._ready(tenant_id, worker, ids)
        except Exception as error:  # noqa: BLE001  # whatever it is, the claims must not be kept for nothing
            self._observer.failed("advance")
            _log.error("steps_not_prepared", tenant_id=tenant_id, count=len(ids), error=type(error).__name__)
            # Those that were recorded meanwhile are not ours any more, and stay as they are.
            claims = [Claimed(tenant_id, one) for one in ids]
            await give_back(self._db, claims, worker=worker, due_at=self._clock.now() + _LOOK_AGAIN)
            return
        if calls:
            await self._caller.call(tenant_id, worker, calls)
        await self._caller.call_off(tenant_id, over)

    async def _ready(
        self, tenant_id: TenantId, worker: str, ids: Sequence[ExecutionId]
    ) -> tuple[list[Called], list[Note]]:
        """Those whose calls are noted, and those of the others that are over; what happened to all of them is written."""
        since = started()
        loaded = await news.load(self._db, tenant_id, ids, worker=worker)
        traceparents = (live.traceparent for live, _ in loaded)
        with span_of_set(
            "ladders", "ladders advance", traceparents, since=since, tenant_id=tenant_id, execution_ids=ids
        ):
            return await self._noted_calls(tenant_id, worker, loaded)

    async def _noted_calls(
        self, tenant_id: TenantId, worker: str, loaded: Sequence[tuple[Live, Sequence[Happened]]]
    ) -> tuple[list[Called], list[Note]]:
        asking, notes = self._looked(loaded)
        calls: dict[ExecutionId, tuple[Booked, ...]] = {}
        if asking:
            more, calls = await self._prepared(tenant_id, asking)
            notes += more
        written = await self._caller.recorder.record(tenant_id, worker, notes)
        going = [
            Called(live=_as_written(note), calls=calls[id_])
            for id_, note in written.items()
            if note.keep and id_ in calls
        ]
        return going, [note for note in written.values() if note.turn.needless]

    def _looked(self, loaded: Sequence[tuple[Live, Sequence[Happened]]]) -> tuple[list[Note], list[Note]]:
        """Those whose steps are to be prepared, and what is known about the others already."""
        asking: list[Note] = []
        notes: list[Note] = []
        for live, heard in loaded:
            died = open_calls(live.here.legs)
            note = self._caller.recorder.after(live, (*died, *heard))
            # A call whose answer was never learned is written before another one is made.
            (asking if note.turn.ask and not died else notes).append(note)
        return asking, notes

    async def _prepared(
        self, tenant_id: TenantId, asking: Sequence[Note]
    ) -> tuple[list[Note], dict[ExecutionId, tuple[Booked, ...]]]:
        """The notes of all of them, and the calls of those that are ready."""
        asks = [(note, step) for note in asking for step in note.turn.ask]
        prepared = await self._preparer.prepare(
            tenant_id, [_ask(note.live, note.turn, s) for note, s in asks]
        )
        ready: list[list[tuple[int, OutboundMessage]]] = [[] for _ in asking]
        barred: list[list[Happened]] = [[] for _ in asking]
        places = {note.live.id: place for place, note in enumerate(asking)}
        for (note, step), answer in zip(asks, prepared, strict=True):
            place = places[note.live.id]
            if isinstance(answer, ReadyStep):
                ready[place].append((step, answer.message))
            else:
                barred[place].append(Barred(step=step, by=answer))
        wants = [
            Want(here=note.turn.there, ready=some, is_test=note.live.is_test, currency=note.live.currency)
            for note, some in zip(asking, ready, strict=True)
        ]
        booked = await self._booking.book(tenant_id, wants)
        notes: list[Note] = []
        calls: dict[ExecutionId, tuple[Booked, ...]] = {}
        for note, found, refused in zip(asking, booked, barred, strict=True):
            going = tuple(one for one in found if isinstance(one, Booked))
            held_back = (*refused, *(one for one in found if not isinstance(one, Booked)))
            noted, calls[note.live.id] = self._noted(note, held_back, going)
            notes.append(noted)
        return notes, calls

    def _noted(
        self, note: Note, held_back: tuple[Happened, ...], going: tuple[Booked, ...]
    ) -> tuple[Note, tuple[Booked, ...]]:
        """What is written before the calls, and the calls: those that are about to be made are part of it."""
        after = self._caller.recorder.further(note, held_back)
        # Time has passed since they were asked for: some may be over by now.
        going = tuple(one for one in going if one.step in after.turn.ask)
        if not going:
            return after, ()
        now = moment(self._clock)
        marked = {one.step: one.calling() for one in going}
        turn = after.turn
        there = self._ladder.called(turn.there, marked, now=now)
        held = Turn(
            there=there,
            due_at=now,
            fresh=turn.fresh,
            late=turn.late,
            learned=turn.learned,
        )
        currency = next((one.currency for one in going if one.currency is not None), None)
        return replace(after, turn=held, keep=True, currency=currency), going


def _as_written(note: Note) -> Live:
    live = note.live
    return replace(
        live, here=note.turn.there, version=live.version + 1, currency=live.currency or note.currency
    )


def _ask(live: Live, turn: Turn, step: int) -> StepAsk:
    return StepAsk(
        notification_id=live.notification_id,
        recipient_id=live.recipient_id,
        step=step,
        channel=turn.there.steps[step - 1].channel,
        taken=sum(past.step == step and past.status == "accepted" for past in turn.there.past),
    )
