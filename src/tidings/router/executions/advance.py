"""The use case "these ladders are due": look where each stands, have its step prepared, note the call, make it."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from tidings.contracts.delivery import PreparedStep, ReadyStep, StepAsk, StepPreparer
from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger
from tidings.router.executions import store
from tidings.router.executions.call import Caller
from tidings.router.executions.model import ATTEMPT, ExecutionId, Live, Note, Observer, moment
from tidings.router.executions.record import give_back
from tidings.router.executions.store import Claimed
from tidings.router.ladder.model import Call, WorkerDied

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
        *,
        clock: Clock,
        luck: Callable[[], float],
        observer: Observer,
    ) -> None:
        self._db = db
        self._caller = caller
        self._preparer = preparer
        self._clock = clock
        self._luck = luck
        self._observer = observer

    async def advance(self, tenant_id: TenantId, worker: str, ids: Sequence[ExecutionId]) -> None:
        """Whatever goes wrong before a vendor is called, the ladders are given back."""
        try:
            calls = await self._ready(tenant_id, worker, ids)
        except Exception as error:  # noqa: BLE001  # whatever it is, the claims must not be kept for nothing
            self._observer.failed("advance")
            _log.error("steps_not_prepared", tenant_id=tenant_id, count=len(ids), error=type(error).__name__)
            # Those that were recorded meanwhile are not ours any more, and stay as they are.
            claims = [Claimed(tenant_id, one) for one in ids]
            await give_back(self._db, claims, worker=worker, due_at=self._clock.now() + _LOOK_AGAIN)
            return
        if calls:
            await self._caller.call(tenant_id, worker, calls)

    async def _ready(
        self, tenant_id: TenantId, worker: str, ids: Sequence[ExecutionId]
    ) -> list[tuple[Live, OutboundMessage]]:
        async with self._db.tenant(tenant_id, by_index=True) as tx:
            lives = await store.load_claimed(tx, ids, worker=worker)
        asking, notes = self._look(lives)
        prepared: Sequence[PreparedStep] = ()
        if asking:
            prepared = await self._preparer.prepare(tenant_id, [_ask(live) for live in asking])
        calls: list[tuple[Live, OutboundMessage]] = []
        now = moment(self._clock)
        for live, step in zip(asking, prepared, strict=True):
            if isinstance(step, ReadyStep):
                calls.append((self._called(live, now), step.message))
            else:
                decision = self._caller.ladder.after(live.here, step, now=now, luck=self._luck())
                vendor = live.here.steps[live.here.step - 1].vendor
                notes.append(Note(live=live, decision=decision, happened=step, vendor=vendor))
        if calls:
            async with self._db.tenant(tenant_id, by_index=True) as tx:
                ours = await store.mark_attempts(tx, [live for live, _ in calls], worker=worker, now=now)
            calls = [one for one in calls if one[0].id in ours]
        await self._caller.recorder.record(tenant_id, worker, notes)
        return calls

    def _called(self, live: Live, now: datetime) -> Live:
        """The same ladder, with the call that is about to be made."""
        deadline = self._caller.ladder.step_deadline(live.here, now=now)
        here = replace(live.here, tries=live.here.tries + 1, step_deadline_at=deadline)
        return replace(live, here=here, attempt_id=ATTEMPT.new(now), attempt_started_at=now)

    def _look(self, lives: Sequence[Live]) -> tuple[list[Live], list[Note]]:
        """Those whose step is to be prepared, and what is known about the others already."""
        now = self._clock.now()
        asking: list[Live] = []
        notes: list[Note] = []
        for live in lives:
            if live.attempt_id is not None:
                died = WorkerDied()
                decision = self._caller.ladder.after(live.here, died, now=now, luck=self._luck())
                step = live.here.steps[live.here.step - 1]
                notes.append(Note(live=live, decision=decision, happened=died, vendor=step.vendor))
                continue
            look = self._caller.ladder.look(live.here, now=now)
            if isinstance(look, Call):
                asking.append(live)
            else:
                notes.append(Note(live=live, decision=look))
        return asking, notes


def _ask(live: Live) -> StepAsk:
    here = live.here
    return StepAsk(
        notification_id=live.notification_id,
        recipient_id=live.recipient_id,
        step=here.step,
        channel=here.steps[here.step - 1].channel,
    )
