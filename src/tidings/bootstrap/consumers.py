"""What notify hears over the bus about messages: outcomes, receipts, health."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.delivery import EndedExecutions
from tidings.contracts.event_versions import SUCCESSORS
from tidings.kernel.bus import Subscription, tenant_by_tenant
from tidings.notify.channels import health
from tidings.notify.dispatch import outcome
from tidings.notify.dispatch.unsettled import OutcomeSweeper
from tidings.notify.event_feed import migrations
from tidings.notify.preference_center import confirmations
from tidings.notify.quiet_hours import reconsider
from tidings.notify.receipts import consumer as receipts
from tidings.notify.receipts.address_effects import AddressEffects

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.access import AccessStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep


class ConsumersStage:
    """One consumer for each kind of event."""

    def __init__(
        self,
        kernel: "KernelStage",
        access: "AccessStage",
        notify: "NotifyStage",
        accept: "AcceptStage",
        *,
        ends: EndedExecutions,
    ) -> None:
        self._kernel = kernel
        bus, outbox, clock = kernel.bus, kernel.outbox, kernel.clock
        effects = notify.parts.get(AddressEffects)
        #: What hears outcomes, of several tenants at once, and receipts, of one at a time.
        self.on_outcomes = notify.settler.apply
        self.on_receipts = receipts.handler(
            outbox=outbox, effects=effects, clock=clock, stripe=stripe(Stripe.RECEIPTS)
        )
        #: Settles what the bus has not brought.
        self.missed_outcomes = notify.parts.get(
            OutcomeSweeper, ladders=ends, settle=self.on_outcomes, metrics=access.metrics
        )
        self.outcomes = bus.consumer(
            Subscription(
                outcome.GROUP,
                outcome.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenants_events=self.on_outcomes,
            )
        )
        self.receipts = bus.consumer(
            Subscription(
                receipts.GROUP,
                receipts.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenants_events=tenant_by_tenant(self.on_receipts),
            )
        )
        self.channel_health = bus.consumer(
            Subscription(
                health.GROUP,
                health.SUBJECTS,
                ledger="notification",
                on_tenant_events=health.handle_tenant,
                on_platform_events=health.handle_platform,
            )
        )
        self.quiet_hours = bus.consumer(
            Subscription(
                reconsider.GROUP,
                reconsider.SUBJECTS,
                ledger="notification",
                on_tenant_events=reconsider.handler(clock),
            )
        )
        confirm = confirmations.handler(
            acceptor=accept.acceptor, keyring=kernel.keyring, links=notify.links, clock=clock
        )
        self.confirmations = bus.consumer(
            Subscription(
                confirmations.GROUP,
                confirmations.SUBJECTS,
                ledger="notification",
                on_tenant_events=confirm,
            )
        )
        self.event_migrations = bus.consumer(
            Subscription(
                migrations.GROUP,
                migrations.SUBJECTS,
                ledger="notification",
                on_platform_events=migrations.handler(SUCCESSORS, clock),
            )
        )

    def jobs(self) -> "dict[str, Job]":
        """All of them."""
        return {
            "outcomes": self.outcomes,
            "receipts": self.receipts,
            "channel_health": self.channel_health,
            "quiet_hours": self.quiet_hours,
            "event_migrations": self.event_migrations,
            "confirmations": self.confirmations,
        }

    def sweeps(self) -> "dict[str, Sweep]":
        """Receipts that are old, outcomes that the bus has not brought."""
        from tidings.notify.receipts.sweep import sweep_receipts

        return {
            "receipts": lambda most: sweep_receipts(self._kernel.db, self._kernel.clock, limit=most),
            "missed_outcomes": self.missed_outcomes.sweep,
        }
