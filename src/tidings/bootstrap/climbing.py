"""Ladders under way: how one is planned, what it costs, who calls, when it is looked at again."""

from secrets import SystemRandom
from typing import TYPE_CHECKING

from tidings.bootstrap.observers import ExecutionMetrics
from tidings.bootstrap.stripes import Stripe, stripe
from tidings.kernel.db import WorkerTx
from tidings.kernel.durable.in_hand import InHand
from tidings.router.executions.advance import Advancer
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.jobs import DueJob
from tidings.router.executions.plan import Planner
from tidings.router.executions.record import Recorder
from tidings.router.executions.rescue import Rescuer
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.status_map.meanings import Meanings

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Climbing:
    """From a notification that is to go out to its one outcome."""

    def __init__(self, system: "System") -> None:
        db, clock, due_timer = system.db, system.clock, system.due_timer
        vendors = system.outbound
        observer = ExecutionMetrics(system.router_metrics)
        random_unit = SystemRandom().random
        in_hand = InHand()

        def worker_id() -> str:
            return system.presence.id

        self._rescuer = Rescuer(in_hand, worker_id=worker_id, clock=clock)
        self.ladder = ExecutionStateMachine()
        self.planner = Planner(
            db,
            policies=system.policies,
            accounts=vendors.accounts,
            rates=vendors.rates,
            traffic=vendors.traffic,
            clock=clock,
            random_unit=random_unit,
        )
        booking = AttemptReserver(
            vendors.accounts,
            vendors.traffic,
            senders=vendors.adapters,
            rates=vendors.rates,
            clock=clock,
            random_unit=random_unit,
        )
        caller = VendorCaller(
            vendors.vendors,
            Recorder(
                db,
                ladder=self.ladder,
                clock=clock,
                jitter=random_unit,
                due_timer=due_timer,
                note_sent=system.conversing.sent_notes.note_sent,
                observer=observer,
                stripe=stripe(Stripe.SPEND),
            ),
            traffic=vendors.traffic,
            meanings=Meanings(db, clock=clock),
            policies=system.policies,
            clock=clock,
            observer=observer,
            blobs=lambda: system.blobs,
        )
        self.router: ExecutionRouter = ExecutionRouter(
            self.planner,
            booking,
            caller,
            ladder=self.ladder,
            worker_id=worker_id,
            clock=clock,
            due_timer=due_timer,
            in_hand=in_hand,
        )
        self.due = DueJob(
            db,
            Advancer(
                db,
                caller,
                system.composing.gate,
                booking,
                ladder=self.ladder,
                clock=clock,
                observer=observer,
            ),
            worker_id=worker_id,
            clock=clock,
            due_timer=due_timer,
            known=system.presence.known,
            in_hand=in_hand,
        )

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Free what no living worker has in hand."""
        return await self._rescuer.free_orphans(tx)
