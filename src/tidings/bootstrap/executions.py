"""Executions under way: how one is planned, what it costs, who calls the vendor, when it is looked at again."""

from collections.abc import Callable
from functools import cached_property
from secrets import SystemRandom
from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.bootstrap.observers import ExecutionMetrics
from tidings.contracts.delivery import StepPreparer
from tidings.kernel.durable.in_hand import InHand
from tidings.router.conversations.sent import SentNotes
from tidings.router.executions.call import VendorCaller
from tidings.router.executions.commit import TransitionCommitter
from tidings.router.executions.record import Recorder
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.policies.plan import Planner
from tidings.router.state_machine.machine import ExecutionStateMachine
from tidings.router.status_map.meanings import Meanings

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.router import RouterStage
    from tidings.bootstrap.vendors import VendorsStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob, ClaimSettings
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.router.executions.model import ExecutionId

_RANDOM = SystemRandom()


class ExecutionsStage:
    """From a notification that is to go out to its one outcome."""

    def __init__(
        self,
        kernel: "KernelStage",
        router: "RouterStage",
        vendors: "VendorsStage",
        *,
        preparer: StepPreparer,
        sent_notes: SentNotes,
        random_unit: Callable[[], float] = _RANDOM.random,
        due_settings: "ClaimSettings | None" = None,
    ) -> None:
        self._kernel = kernel
        self._due_timer = router.due_timer
        self._preparer = preparer
        self._due_settings = due_settings
        self._observer = observer = ExecutionMetrics(router.metrics)
        self._in_hand = InHand()
        db, clock = kernel.db, kernel.clock
        self._jitter = random_unit
        self.machine = ExecutionStateMachine()
        self.planner = Planner(
            db,
            policies=router.policies,
            accounts=vendors.accounts,
            rates=vendors.rates,
            traffic=vendors.traffic,
            clock=clock,
            random_unit=random_unit,
        )
        self._reserver = AttemptReserver(
            vendors.accounts,
            vendors.traffic,
            senders=vendors.adapters,
            rates=vendors.rates,
            clock=clock,
            random_unit=random_unit,
        )
        self.recorder = Recorder(
            db,
            clock=clock,
            due_timer=router.due_timer,
            note_sent=sent_notes.note_sent,
            observer=observer,
            stripe=stripe(Stripe.SPEND),
        )
        self._committer = TransitionCommitter(
            db, self.recorder, machine=self.machine, clock=clock, jitter=random_unit, observer=observer
        )
        self._caller = VendorCaller(
            db,
            vendors.vendors,
            self._committer,
            machine=self.machine,
            jitter=random_unit,
            traffic=vendors.traffic,
            meanings=Meanings(db, clock=clock),
            policies=router.policies,
            clock=clock,
            observer=observer,
            blobs=lambda: kernel.blobs,
            keyring=kernel.keyring,
        )
        self.router: ExecutionRouter = ExecutionRouter(
            db,
            self.planner,
            self._reserver,
            self._caller,
            self._committer,
            machine=self.machine,
            worker_id=kernel.worker_id,
            clock=clock,
            due_timer=router.due_timer,
            in_hand=self._in_hand,
        )

    @cached_property
    def due(self) -> "ClaimingJob[ExecutionId]":
        """Takes up executions whose time has come."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.router.executions.advance import Advancer
        from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS

        kernel = self._kernel
        return ClaimingJob(
            kernel.db,
            DUE_EXECUTIONS,
            Advancer(
                kernel.db,
                self._caller,
                self._committer,
                self._preparer,
                self._reserver,
                machine=self.machine,
                jitter=self._jitter,
                clock=kernel.clock,
                observer=self._observer,
            ).advance,
            name="due",
            worker_id=kernel.worker_id,
            clock=kernel.clock,
            due_timer=self._due_timer,
            known=kernel.presence.known,
            in_hand=self._in_hand,
            metrics=kernel.metrics,
            settings=self._due_settings or DUE_SETTINGS,
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free what no living worker has in hand."""
        return await self.due.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """Steps that are due."""
        return {"due": self.due}

    def sweeps(self) -> "dict[str, Sweep]":
        """Ledgers of deliveries, vendors' answers, codes that nothing is known about."""
        from tidings.router.executions.answers import AnswerSweeper
        from tidings.router.executions.sweep import sweep_ledgers
        from tidings.router.status_map.sweep import sweep_unknown

        kernel = self._kernel
        return {
            "delivery_ledgers": lambda most: sweep_ledgers(kernel.db, kernel.clock, limit=most),
            "vendor_answers": AnswerSweeper(lambda: kernel.blobs, kernel.clock).sweep,
            "unknown_codes": lambda most: sweep_unknown(kernel.db, kernel.clock, limit=most),
        }
