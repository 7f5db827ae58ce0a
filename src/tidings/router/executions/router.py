"""What the router offers notify: hand-offs are planned, reserved and started here."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from msgspec.structs import replace

from tidings.contracts.delivery import (
    Answered,
    DeliveryPlan,
    HandOff,
    PlannedDelivery,
    SendFirstSteps,
    WaitStep,
)
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantsTx, TenantTx
from tidings.kernel.durable.in_hand import InHand
from tidings.kernel.durable.wakeup import DueTimer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.model import ExecutionChange, ReservedAttempt, WorkerId, moment
from tidings.router.executions.reserve import AttemptReserver, ReservationRequest
from tidings.router.executions.start import StartedExecutions, start, start_state
from tidings.router.policies.plan import Planner
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.state_machine.model import VENDOR_LIMIT, StepBarred, StepBlocked


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExecutionRouter:
    """The contract's `InProcessRouter`."""

    db: Database
    planner: Planner
    reserver: AttemptReserver
    caller: VendorCaller
    committer: TransitionCommitter
    _: KW_ONLY
    machine: ExecutionStateMachine
    #: Names the living worker that has the work in hand.
    worker_id: WorkerId
    clock: Clock
    due_timer: DueTimer
    in_hand: InHand = field(default_factory=InHand)

    async def plan(self, hand_offs: Sequence[HandOff]) -> list[DeliveryPlan]:
        """The plan of each, in the same order; nothing is written."""
        return await self.planner.plan(hand_offs)

    async def start(self, hand_offs: Sequence[HandOff]) -> None:
        """Plan and write the executions in a transaction of the router's own; their first steps are asked for like any later one."""
        plans = await self.planner.plan(hand_offs)
        planned = [
            PlannedDelivery(hand_off=hand_off, plan=plan)
            for hand_off, plan in zip(hand_offs, plans, strict=True)
        ]
        tenant_ids = {one.tenant_id for one in hand_offs}
        async with self.db.tenants(tenant_ids, by_index=True, pipelined=True) as tx:
            started = await self._start(tx, planned, last=True)
        await self._carry_out(started)

    async def reserve(self, deliveries: Sequence[PlannedDelivery]) -> list[PlannedDelivery]:
        """The same, with reservations for the first steps that are ready; where an account's limit or their batch's pace has no room the step waits."""
        now = moment(self.clock)
        reserved = list(deliveries)
        ready = {
            place: ReservationRequest(
                tenant_id=delivery.hand_off.tenant_id,
                state=start_state(self.machine, delivery, now=now),
                ready=((1, delivery.first),),
                is_test=delivery.hand_off.is_test,
                currency=delivery.plan.currency,
            )
            for place, delivery in enumerate(deliveries)
            if delivery.first is not None
        }
        if not ready:
            return reserved
        results = await self.reserver.reserve(list(ready.values()))
        for place, [result] in zip(ready, results, strict=True):
            if isinstance(result, ReservedAttempt):
                reserved[place] = replace(deliveries[place], reservation=result.reservation)
            elif isinstance(result, StepBlocked) and result.reason == VENDOR_LIMIT:
                reserved[place] = replace(deliveries[place], not_before=result.until, waits_for=VENDOR_LIMIT)
            elif isinstance(result, StepBarred) and isinstance(result.by, WaitStep):
                wait = result.by
                reserved[place] = replace(deliveries[place], not_before=wait.until, waits_for=wait.reason)
        return reserved

    async def start_in(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool = False
    ) -> SendFirstSteps:
        """Write the executions in notify's transaction; after its commit, await what is returned."""
        started = await self._start(tx, deliveries, last=last)
        return partial(self._carry_out, started)

    async def _start(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool
    ) -> StartedExecutions:
        worker, now = self.worker_id(), moment(self.clock)
        return await start(tx, deliveries, machine=self.machine, worker=worker, now=now, last=last)

    async def _carry_out(self, started: StartedExecutions, answered: Answered | None = None) -> None:
        """After the commit: send what was reserved, record the answers; end what has no step."""
        ids = [execution.id for execution in started.without_steps]
        ids += [outgoing.execution.id for outgoing in started.outgoing]
        with self.in_hand.holding(ids):
            if started.due_at is not None:
                self.due_timer.expect(started.due_at)
            if started.without_steps:
                now = self.clock.now()
                changes = [
                    ExecutionChange(
                        execution=execution, transition=self.machine.transition(execution.state, now=now)
                    )
                    for execution in started.without_steps
                ]
                await self.committer.commit(started.worker, changes)
            if started.outgoing:
                await self.caller.call(started.worker, started.outgoing, answered=answered)
