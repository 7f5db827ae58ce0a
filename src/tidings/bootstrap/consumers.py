"""What notify hears over the bus about messages of its own."""

from typing import TYPE_CHECKING

from tidings.bootstrap.stripes import Stripe, stripe
from tidings.kernel.bus import Subscription
from tidings.notify.channels import health
from tidings.notify.dispatch import outcome, reconsider
from tidings.notify.dispatch.unsettled import OutcomeSweeper
from tidings.notify.preference_center import confirmations
from tidings.notify.receipts import consumer as receipts
from tidings.notify.receipts.effects import AddressEffects
from tidings.router.executions.ended import StoredEnds

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Consumers:
    """One for each kind of news."""

    def __init__(self, system: "System") -> None:
        bus, outbox, clock = system.bus, system.outbox, system.clock
        effects = AddressEffects(keyring=system.keyring, suppressor=system.suppressor, clock=clock)
        settle = outcome.handler(outbox=outbox, clock=clock, stripe=stripe(Stripe.OUTCOMES), effects=effects)
        #: Settles what the bus has not brought.
        self.missed_outcomes = OutcomeSweeper(
            system.db, StoredEnds(), settle, clock=clock, metrics=system.notify_metrics
        )
        self.outcomes = bus.consumer(
            Subscription(
                group=outcome.GROUP,
                subjects=outcome.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenant_events=settle,
            )
        )
        self.receipts = bus.consumer(
            Subscription(
                group=receipts.GROUP,
                subjects=receipts.SUBJECTS,
                ledger="notification",
                by_index=True,
                on_tenant_events=receipts.handler(
                    outbox=outbox, effects=effects, clock=clock, stripe=stripe(Stripe.RECEIPTS)
                ),
            )
        )
        self.channel_health = bus.consumer(
            Subscription(
                group=health.GROUP,
                subjects=health.SUBJECTS,
                ledger="notification",
                on_tenant_events=health.handle_tenant,
                on_platform_events=health.handle_platform,
            )
        )
        self.quiet_hours = bus.consumer(
            Subscription(
                group=reconsider.GROUP,
                subjects=reconsider.SUBJECTS,
                ledger="notification",
                on_tenant_events=reconsider.handler(clock),
            )
        )
        self.confirmations = bus.consumer(
            Subscription(
                group=confirmations.GROUP,
                subjects=confirmations.SUBJECTS,
                ledger="notification",
                on_tenant_events=confirmations.handler(
                    desk=system.accepting.desk,
                    acceptor=system.accepting.acceptor,
                    keyring=system.keyring,
                    links=system.links,
                    clock=clock,
                ),
            )
        )
