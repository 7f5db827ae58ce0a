"""From a request into the queue."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.kernel.durable.wakeup import Wakeup
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.group_commit import GroupCommit, Wake
from tidings.notify.accept.validator import OrderValidator
from tidings.notify.accept.writer import OrderWriter
from tidings.notify.dispatch.job import EXPRESS_NAME, QUEUE_CHANNEL, QUEUE_NAME
from tidings.notify.recipients.upsert import RecipientUpserter

if TYPE_CHECKING:
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class AcceptStage:
    """Checks what is asked for, writes it down, and wakes the dispatcher."""

    def __init__(self, kernel: "KernelStage", access: "AccessStage", notify: "NotifyStage") -> None:
        self._kernel = kernel
        wakeups = kernel.bus.wakeups
        # A dispatcher in this process is woken at once; one elsewhere hears it from the database.
        self.dispatch_wake = wakeups.on(QUEUE_CHANNEL, QUEUE_NAME)
        self.express_wake = wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME)
        wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME, self.dispatch_wake)
        self.schedule_wake = Wakeup()
        self._parts = parts = notify.parts.add(Wake, self.wake)
        self.upserter = parts.get(RecipientUpserter)
        parts.get(OrderValidator, searchable=access.tenant_states.searchable_metadata)
        parts.get(OrderWriter, stripe=stripe(Stripe.ACCEPT))
        self.group_commit = parts.get(GroupCommit)
        self.acceptor = parts.get(Acceptor)

    def acceptor_of(self, part: Stripe) -> Acceptor:
        """The same for a part of the process that accepts in transactions of its own: its counts are its own too."""
        parts = self._parts
        return parts.make(Acceptor, writer=parts.make(OrderWriter, stripe=stripe(part)))

    def wake(self, *, express: bool) -> None:
        """Wake those who send: there is work."""
        if express:
            self.express_wake.set()
        self.dispatch_wake.set()
        self.schedule_wake.set()

    def wake_dispatchers(self) -> None:
        """Wake those who send what is due now."""
        self.express_wake.set()
        self.dispatch_wake.set()

    def jobs(self) -> "dict[str, Job]":
        """None: orders are accepted where they come in."""
        return {}

    def sweeps(self) -> "dict[str, Sweep]":
        """Keys of notifications that may be sent again."""
        from tidings.notify.accept.store import sweep_ledger

        async def sweep_dedup_ledger(most: int) -> int:
            async with self._kernel.db.worker() as tx:
                return await sweep_ledger(tx, now=self._kernel.clock.now(), limit=most)

        return {"dedup_ledger": sweep_dedup_ledger}
