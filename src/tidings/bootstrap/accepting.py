"""From a request into the queue."""

from typing import TYPE_CHECKING

from tidings.bootstrap.stripes import Stripe, stripe
from tidings.kernel.durable.wakeup import Wakeup
from tidings.notify.dispatch.job import EXPRESS_NAME, QUEUE_CHANNEL, QUEUE_NAME
from tidings.notify.notifications.accept import Acceptor
from tidings.notify.notifications.intake import Intake
from tidings.notify.notifications.order import OrderDesk
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.router.profiles.hear import StoredMailboxNews

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Accepting:
    """Whoever checks what is asked for, writes it down, and wakes those who send it."""

    def __init__(self, system: "System") -> None:
        clock, wakeups = system.clock, system.bus.wakeups
        # A dispatcher in this process is told at once; one elsewhere hears it from the database.
        self.dispatch_wake = wakeups.on(QUEUE_CHANNEL, QUEUE_NAME)
        self.express_wake = wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME)
        wakeups.on(QUEUE_CHANNEL, EXPRESS_NAME, self.dispatch_wake)
        self.schedule_wake = Wakeup()
        self.desk = OrderDesk(
            templates=system.templates,
            categories=system.categories,
            clock=clock,
            searchable=system.tenant_states.searchable_metadata,
        )
        self.acceptor = Acceptor(
            upserter=RecipientUpserter(keyring=system.keyring, mailboxes=StoredMailboxNews(), clock=clock),
            keyring=system.keyring,
            clock=clock,
            stripe=stripe(Stripe.ACCEPT),
        )
        self.intake = Intake(
            db=system.db,
            acceptor=self.acceptor,
            idempotency=system.idempotency,
            clock=clock,
            wake=self.wake,
        )

    def wake(self, *, express: bool) -> None:
        """Tell those who send that there is work."""
        if express:
            self.express_wake.set()
        self.dispatch_wake.set()
        self.schedule_wake.set()
