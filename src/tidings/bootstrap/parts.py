"""The parts that handlers may name, by their types: shared ones first, then those of each service."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.channel_configs import VendorProbe
from tidings.contracts.channels import ChannelsSetUp
from tidings.contracts.conversations import ConversationTeller
from tidings.contracts.delivery import Router
from tidings.contracts.notification_templates import NotificationTemplates
from tidings.contracts.prices import PriceList
from tidings.contracts.profiles import KnownRecipients, ProfileTeller
from tidings.contracts.simulation import StepSimulation
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.parts import Parts
from tidings.notify.accept.routes import SendLimit
from tidings.notify.channels.store import StoredChannelsSetUp
from tidings.notify.imports.upload import UploadLimit
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.simulate import Simulator
from tidings.notify.notifications.step_simulation import StepSimulator
from tidings.notify.notifications.store import StoredNotificationTemplates
from tidings.notify.received_events.routes import EventsLimit
from tidings.notify.recipients.store import StoredRecipients
from tidings.router.accounts.price_list import AccountPrices
from tidings.router.channel_configs.check import AccountChecker
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.queue import dead_inbound
from tidings.router.conversations.subject_access import StoredConversations
from tidings.router.policies.check import AvailableAdapters
from tidings.router.profiles.subject_access import StoredProfiles
from tidings.router.status_map.reapply import Reapplier
from tidings.router.traffic.change_weights import WeightSetter
from tidings.router.traffic.settings import TrafficSettings
from tidings.router.vendors.built_in import KINDS, find_kind

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


def notify_parts(system: "System") -> Parts:
    """What notify's handlers may name."""
    parts = system.notify.parts
    # A stage registers its parts when it is made.
    _ = system.accept, system.composition, system.events, system.triggers, system.batches, system.webhooks
    system.inbox.register()
    for part in (
        UploadLimit(system.settings.http.max_import_bytes),
        SendLimit.of(system.settings.http.max_body_bytes),
        EventsLimit.of(system.settings.http.max_body_bytes),
        system.access.gate,
        system.access.tenants,
        system.access.key_ledger,
        system.access.keys,
    ):
        parts.add(type(part), part)
    return (
        parts.add(Canceller, parts.make(Canceller, stripe=stripe(Stripe.CANCEL)))
        .add(VendorProbe, system.vendors.desk)
        .add(Router, system.executions.router)
        .add(PriceList, AccountPrices(system.vendors.accounts))
        .add(ProfileTeller, system.router.parts.get(StoredProfiles))
        .add(ConversationTeller, system.router.parts.get(StoredConversations))
    )


def router_parts(system: "System", *, simulator: Simulator) -> Parts:
    """What the router's handlers may name; notify's `simulator` plays the steps of a policy."""
    parts = system.router.parts
    _ = system.callbacks, system.conversations, system.executions
    dead_inbound_messages = dead_inbound(audit=system.kernel.router_audit, clock=system.clock)
    return (
        parts.add(AccountChecker, parts.make(AccountChecker, public_url=system.kernel.public_url))
        .add(WeightSetter, parts.make(WeightSetter, adapters=system.router.adapter_configs.vendors()))
        .add(VendorProbe, system.vendors.desk)
        .add(ChannelsSetUp, StoredChannelsSetUp())
        .add(KnownRecipients, StoredRecipients())
        .add(NotificationTemplates, StoredNotificationTemplates())
        .add(StepSimulation, StepSimulator(simulator))
        .add(AvailableAdapters, AvailableAdapters(kinds=KINDS, find=find_kind))
        .add(DeadLetters[InboundMessageId], dead_inbound_messages)
        .add(Reapplier, system.callbacks.reapplier)
        .add(TrafficSettings, system.vendors.traffic.settings)
    )
