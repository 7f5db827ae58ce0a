"""Executions under way: how one is planned, what it costs, who calls the vendor, when it is looked at again."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.delivery import OutcomeSettler, StepPreparer
from tidings.kernel.bus import Subscription, tenant_by_tenant
from tidings.kernel.durable.in_hand import InHand
from tidings.router.conversations.sent import SentNotes
from tidings.router.executions import read_in_app, take_requests
from tidings.router.executions.answer_journal import AnswerJournal
from tidings.router.executions.jobs import DUE_EXECUTIONS, DUE_SETTINGS
from tidings.router.executions.record import Recorder
from tidings.router.executions.recover_answers import AnswerRecovery
from tidings.router.executions.reserve import AttemptReserver
from tidings.router.executions.router import ExecutionRouter
from tidings.router.executions.take_requests import RequestTaker
from tidings.router.profiles import engagement

if TYPE_CHECKING:
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.router import RouterStage
    from tidings.bootstrap.vendors import VendorsStage
    from tidings.kernel.bus import Runner
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob, ClaimSettings
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.router.executions.model import ExecutionId
    from tidings.router.statistics.roll_up import StatisticsJob


class ExecutionsStage:
    """From a notification that is to go out to its one outcome."""

    def __init__(
        self,
        kernel: "KernelStage",
        router: "RouterStage",
        vendors: "VendorsStage",
        *,
        preparer: StepPreparer,
        settler: OutcomeSettler | None = None,
    ) -> None:
        self._kernel = kernel
        self._due_timer = router.due_timer
        self._history = router.history
        self._parts = parts = router.parts.add(StepPreparer, preparer)
        self.due_settings: ClaimSettings = DUE_SETTINGS
        self._in_hand = InHand()
        parts.get(AttemptReserver, senders=vendors.adapters)
        #: What vendors have answered, until it is recorded.
        self.journal = AnswerJournal(kernel.journal)
        parts.add(AnswerJournal, self.journal)
        parts.get(AnswerRecovery)
        self.recorder = parts.get(
            Recorder, note_sent=parts.get(SentNotes).note_sent, settler=settler, stripe=stripe(Stripe.SPEND)
        )
        kernel.closing.push_async_callback(self.recorder.close)
        self.router = parts.get(ExecutionRouter, in_hand=self._in_hand)
        #: Takes hand-overs that are announced on the bus.
        self.request_taker = parts.get(RequestTaker)

    @cached_property
    def engagement(self) -> "Runner":
        """Hears what people open and click, for the order of steps."""
        return self._kernel.bus.consumer(
            Subscription(
                engagement.GROUP,
                engagement.SUBJECTS,
                ledger="chan",
                by_index=True,
                on_tenants_events=tenant_by_tenant(engagement.handler(clock=self._kernel.clock)),
            )
        )

    @cached_property
    def read_in_app(self) -> "Runner":
        """Hears what people read in their in-app inbox."""
        self._hear_of_due()
        return self._kernel.bus.consumer(
            Subscription(
                read_in_app.GROUP,
                read_in_app.SUBJECTS,
                ledger="chan",
                by_index=True,
                on_tenants_events=tenant_by_tenant(
                    read_in_app.handler(history=self._history, clock=self._kernel.clock)
                ),
            )
        )

    @cached_property
    def due(self) -> "ClaimingJob[ExecutionId]":
        """Takes up executions whose time has come."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.router.executions.advance import Advancer

        return self._parts.make(
            ClaimingJob,
            claims=DUE_EXECUTIONS,
            work_on_set=self._parts.get(Advancer).advance,
            name="due",
            known=self._kernel.presence.known,
            in_hand=self._in_hand,
            settings=self.due_settings,
        )

    @cached_property
    def statistics(self) -> "StatisticsJob":
        """Rolls up how sending went."""
        from tidings.router.statistics.roll_up import StatisticsJob

        return self._parts.get(StatisticsJob)

    @cached_property
    def requests(self) -> "Runner":
        """Hears what notify in other processes hands over."""
        # Executions that begin there are in no worker's hands: all processes of the router hear of them.
        self._hear_of_due()
        return self._kernel.bus.consumer(
            Subscription(
                take_requests.GROUP,
                take_requests.SUBJECTS,
                ledger="chan",
                by_index=True,
                on_tenants_events=self.request_taker.apply,
            )
        )

    @cached_property
    def urgent_requests(self) -> "Runner":
        """Hears of the urgent ones first; whoever comes second finds a request in the inbox.

        It begins now: what was there before it is the other group's.
        """
        return self._kernel.bus.consumer(
            Subscription(
                take_requests.URGENT_GROUP,
                take_requests.SUBJECTS,
                ledger="chan",
                by_index=True,
                start="now",
                select=take_requests.urgent_among,
                on_tenants_events=self.request_taker.apply,
            )
        )

    def _hear_of_due(self) -> None:
        """Be woken when a transaction says that executions are due."""
        self._kernel.bus.wakeups.on(
            take_requests.WAKEUP_CHANNEL, take_requests.WAKEUP_PAYLOAD, self._due_timer.wakeup
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free what no living worker has in hand."""
        return await self.due.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """Steps that are due; what people open, click and read in the application."""
        return {
            "due": self.due,
            "engagement": self.engagement,
            "read_in_app": self.read_in_app,
            "statistics": self.statistics,
        }

    def sweeps(self) -> "dict[str, Sweep]":
        """Ledgers of deliveries, vendors' answers, codes that nothing is known about."""
        from tidings.router.executions.answers import AnswerSweeper
        from tidings.router.executions.sweep import sweep_ledgers
        from tidings.router.executions.sweep_journals import JournalSweeper
        from tidings.router.status_map.sweep import sweep_unknown

        kernel = self._kernel
        return {
            "delivery_ledgers": lambda most: sweep_ledgers(kernel.db, kernel.clock, limit=most),
            "answer_journals": self._parts.get(JournalSweeper).sweep,
            "vendor_answers": self._parts.get(AnswerSweeper).sweep,
            "statistics": self.statistics.sweep,
            "unknown_codes": lambda most: sweep_unknown(kernel.db, kernel.clock, limit=most),
        }
