"""The parts that handlers may name, by their types: shared ones first, then those of each service."""

from typing import TYPE_CHECKING

from tidings.bootstrap.counter_stripes import Stripe, stripe
from tidings.contracts.channel_configs import ChannelConfigs, SharedAccounts, VendorProbe
from tidings.contracts.channels import ChannelsSetUp
from tidings.contracts.conversations import ConversationTeller
from tidings.contracts.delivery import ExecutionHistory, Router
from tidings.contracts.prices import PriceList
from tidings.contracts.profiles import KnownRecipients, MailboxNews, ProfileTeller
from tidings.contracts.simulation import StepSimulation
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.blobs.store import BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.dns import Resolver
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.hot_state import Limits
from tidings.kernel.http.own_address import OwnAddress
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.parts import Parts
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.routes import SendLimit
from tidings.notify.channels.configured_channels import StoredChannelsSetUp
from tidings.notify.imports.upload import UploadLimit
from tidings.notify.notifications.body import BodyReader
from tidings.notify.notifications.cancel import Canceller
from tidings.notify.notifications.simulate import Simulator
from tidings.notify.notifications.step_simulation import StepSimulator
from tidings.notify.recipients.stored_recipients import StoredRecipients
from tidings.router.accounts.price_list import AccountPrices
from tidings.router.adapters.registry import ADAPTERS, kind_of
from tidings.router.callbacks.routes import CallbackWakeup
from tidings.router.channel_configs.check import AccountChecker
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.subject_access import StoredConversations
from tidings.router.policies.check import AvailableAdapters
from tidings.router.profiles.proven_facts import StoredMailboxNews
from tidings.router.profiles.subject_access import StoredProfiles
from tidings.router.traffic.change_weights import WeightSetter

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


def _shared(system: "System") -> Parts:
    return (
        Parts(system.db, system.kernel.idempotency, system.kernel.keyring)
        .add(Clock, system.clock)
        .add(PlatformPepper, system.kernel.platform_pepper)
        .add(Limits, system.kernel.hot_state.limits)
        .add(Resolver, system.kernel.resolver)
        .add(VendorProbe, system.vendors.desk)
        .add(
            OwnAddress,
            OwnAddress(public_url=system.kernel.public_url, hosts=tuple(system.kernel.own_hosts)),
        )
        .add_late(BlobStore, lambda: system.kernel.blobs)
    )


def notify_parts(system: "System") -> Parts:
    """What notify's handlers may name."""
    parts = (
        _shared(system)
        .add(AuditLog, system.kernel.audit)
        .add(ChannelConfigs, system.router.adapter_configs)
        .add(SharedAccounts, system.vendors.accounts)
        .add(MailboxNews, StoredMailboxNews())
        .add(Router, system.executions.router)
        .add(Wake, system.accept.wake)
        .add(ExecutionHistory, system.router.history)
        .add(PriceList, AccountPrices(system.vendors.accounts))
        .add(
            ProfileTeller,
            StoredProfiles(
                keyring=system.kernel.keyring, audit=system.kernel.router_audit, clock=system.clock
            ),
        )
        .add(ConversationTeller, StoredConversations(system.kernel.keyring))
    )
    bodies = BodyReader(
        system.db,
        loader=system.composition.facts,
        keyring=system.kernel.keyring,
        composer=system.composition.composer,
        links=system.notify.links,
        audit=system.kernel.audit,
        blobs=lambda: system.kernel.blobs,
    )
    for part in (
        bodies,
        UploadLimit(system.settings.http.max_import_bytes),
        SendLimit.of(system.settings.http.max_body_bytes),
        system.kernel.outbox,
        system.access.gate,
        system.access.tenants,
        system.access.key_ledger,
        system.access.keys,
        system.notify.categories,
        system.notify.templates,
        system.notify.authoring,
        system.notify.links,
        system.notify.suppressor,
        system.notify.importer,
        system.notify.attachments,
        system.notify.eraser,
        system.notify.visits,
        system.composition.facts,
        system.composition.composer,
        system.composition.tracker,
        system.accept.validator,
        system.accept.acceptor,
        system.accept.writer,
        Canceller(
            outbox=system.kernel.outbox,
            audit=system.kernel.audit,
            clock=system.clock,
            stripe=stripe(Stripe.CANCEL),
        ),
    ):
        parts.add(type(part), part)
    return parts


def router_parts(system: "System", *, simulator: Simulator) -> Parts:
    """What the router's handlers may name; notify's `simulator` plays the steps of a policy."""
    parts = (
        _shared(system)
        .add(AuditLog, system.kernel.router_audit)
        .add(ChannelsSetUp, StoredChannelsSetUp())
        .add(KnownRecipients, StoredRecipients())
        .add(StepSimulation, StepSimulator(simulator))
        .add(CallbackWakeup, system.callbacks.wakeup)
        .add(DeadLetters[InboundMessageId], system.conversations.dead)
    )
    checker = AccountChecker(
        system.kernel.secrets,
        clock=system.clock,
        tenant_guard=system.router.tenant_guard,
        public_url=system.kernel.public_url,
    )
    for part in (
        system.callbacks.reapplier,
        checker,
        system.callbacks.desk,
        system.callbacks.dead,
        system.callbacks.conversation_wakeups,
        system.conversations.answerer,
        system.conversations.closer,
        system.conversations.changer,
        system.conversations.trier,
        AvailableAdapters(kinds=ADAPTERS, find=kind_of),
        WeightSetter(
            system.router.adapter_configs.vendors(), audit=system.kernel.router_audit, clock=system.clock
        ),
        system.executions.planner,
        system.executions.machine,
        system.vendors.traffic.settings,
        system.router.adapter_configs,
        system.vendors.accounts,
        system.vendors.rates,
        system.vendors.traffic,
        system.vendors.traffic_changer,
    ):
        parts.add(type(part), part)
    return parts
