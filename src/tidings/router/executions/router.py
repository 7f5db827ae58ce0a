"""What the router offers notify: hand-offs begin here."""

from collections.abc import Sequence
from dataclasses import replace

from tidings.contracts import delivery
from tidings.contracts.delivery import Begin, HandOff
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.ids import TenantId
from tidings.router.executions.begin import begin
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.model import Begun, ReservedAttempt, WorkerId, moment
from tidings.router.executions.plan import Plan, Planner
from tidings.router.executions.reserve import AttemptReserver, ReservationRequest
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import VENDOR_LIMIT, StepBlocked


class ExecutionRouter:
    """The contract's `Router`."""

    def __init__(
        self,
        planner: Planner,
        booking: AttemptReserver,
        caller: VendorCaller,
        *,
        ladder: ExecutionStateMachine,
        worker_id: WorkerId,
        clock: Clock,
        due_timer: DueTimer,
        in_hand: InHand | None = None,
    ) -> None:
        """`worker_id` names the living worker that has the work in hand."""
        self._planner = planner
        self._booking = booking
        self._caller = caller
        self._ladder = ladder
        self._worker_id = worker_id
        self._clock = clock
        self._due_timer = due_timer
        self._in_hand = in_hand or InHand()

    async def plan(self, tenant_id: TenantId, hand_offs: Sequence[HandOff]) -> list[Plan]:
        """The ladders of a set, before anything is prepared; one each, in the same order."""
        return await self._planner.plan(tenant_id, hand_offs)

    async def book(self, tenant_id: TenantId, begins: Sequence[Begin]) -> list[Begin]:
        """The same, with vendors for the first steps that are ready; what can't be sent now waits for its turn."""
        places = [place for place, one in enumerate(begins) if one.first is not None]
        booked = list(begins)
        if not places:
            return booked
        now = moment(self._clock)
        wants: list[ReservationRequest] = []
        for place in places:
            one = begins[place]
            plan = one.plan
            if not isinstance(plan, Plan) or one.first is None:
                raise TypeError("book takes what plan gave")
            state = self._ladder.start(
                plan.frozen.steps,
                use_case=one.hand_off.use_case,
                expires_at=one.hand_off.expires_at,
                strategy=plan.strategy,
                now=now,
                cap=plan.cap,
            )
            wants.append(
                ReservationRequest(
                    state=state,
                    ready=((1, one.first.message),),
                    is_test=one.hand_off.is_test,
                    currency=plan.currency,
                )
            )
        for place, [answer] in zip(places, await self._booking.book(tenant_id, wants), strict=True):
            if isinstance(answer, ReservedAttempt):
                booked[place] = replace(begins[place], booked=answer)
            elif isinstance(answer, StepBlocked) and answer.reason == VENDOR_LIMIT:
                booked[place] = replace(begins[place], not_before=answer.until)
        return booked

    async def begin(self, tx: TenantTx, begins: Sequence[Begin]) -> Begun:
        """Write the ladders in the transaction that hands them over."""
        return await begin(tx, begins, ladder=self._ladder, worker=self._worker_id(), now=moment(self._clock))

    async def carry_out(self, begun: delivery.Begun) -> None:
        """After that transaction's commit: send what was prepared, record what came of it."""
        if not isinstance(begun, Begun):
            raise TypeError("carry_out takes what begin gave")
        executions = [*begun.without_steps, *(one.execution for one in begun.calls)]
        with self._in_hand.holding([execution.id for execution in executions]):
            await self._carry_out(begun)

    async def _carry_out(self, begun: Begun) -> None:
        if begun.waits_until is not None:
            self._due_timer.expect(begun.waits_until)
        if begun.without_steps:
            changes = [self._caller.recorder.after(execution) for execution in begun.without_steps]
            await self._caller.recorder.record(begun.tenant_id, begun.worker, changes)
        if begun.calls:
            await self._caller.call(begun.tenant_id, begun.worker, begun.calls)
