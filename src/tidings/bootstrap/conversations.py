"""What becomes of what people write: conversations, confirmations of keywords, webhooks to those who were written to."""

import random
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from tidings.bootstrap.observers import ConversationMetrics
from tidings.notify.correspondence.correspondents import StoredCorrespondents
from tidings.notify.correspondence.replies import NotificationReplier
from tidings.router.conversations.answer import Answerer
from tidings.router.conversations.close import Closer
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.queue import dead_inbound
from tidings.router.conversations.sent import SentNotes
from tidings.router.inbound_routes.call import WebhookCaller
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.webhook_test import WebhookTester

if TYPE_CHECKING:
    from tidings.bootstrap.accept import AcceptStage
    from tidings.bootstrap.callbacks import CallbacksStage
    from tidings.bootstrap.kernel import KernelStage
    from tidings.bootstrap.notify import NotifyStage
    from tidings.bootstrap.router import RouterStage
    from tidings.bootstrap.vendors import VendorsStage
    from tidings.kernel.db import WorkerTx
    from tidings.kernel.durable.claims import ClaimingJob
    from tidings.kernel.durable.jobs import Job
    from tidings.kernel.durable.sweepers import Sweep
    from tidings.router.conversations.jobs import ConversationJob, ConversationSettings
    from tidings.router.conversations.receive import Receiver
    from tidings.router.conversations.shared_stop import SharedStops


class ConversationsStage:
    """Everything between an inbound message and the person or program that it is for."""

    def __init__(
        self,
        kernel: "KernelStage",
        router: "RouterStage",
        notify: "NotifyStage",
        *,
        callbacks: "CallbacksStage",
        vendors: "VendorsStage",
        accept: "AcceptStage",
    ) -> None:
        self._kernel = kernel
        #: How many messages the job takes on at once; a test chooses fewer.
        self.job_settings: ConversationSettings | None = None
        #: The jitter of retried webhooks.
        self.random_unit: Callable[[], float] = random.random
        self._policies = router.policies
        self._vendors = vendors.vendors
        self._wakeups = callbacks.conversation_wakeups
        self._observer = ConversationMetrics(router.metrics)
        db, clock, keyring, audit = kernel.db, kernel.clock, kernel.keyring, kernel.router_audit
        self.hashes = AddressHashes(db, keyring)
        self.sent_notes = SentNotes(self.hashes, outbox=kernel.router_outbox, clock=clock)
        self.correspondents = StoredCorrespondents(
            keyring=keyring,
            upserter=accept.upserter,
            suppressor=notify.suppressor,
            outbox=kernel.outbox,
            clock=clock,
        )
        self._caller = WebhookCaller(kernel.secrets, clock=clock, guard=router.tenant_guard)
        # Apart: trials of a webhook that hangs, again and again, hold up no message.
        trial_caller = WebhookCaller(kernel.secrets, clock=clock, guard=router.tenant_guard, connections=8)
        for caller in (self._caller, trial_caller):
            kernel.closing.push_async_callback(caller.close)
        self.answerer = Answerer(
            db,
            replier=NotificationReplier(accept.acceptor),
            correspondents=self.correspondents,
            accounts=vendors.accounts,
            keyring=keyring,
            audit=audit,
        )
        self.closer = Closer(outbox=kernel.router_outbox, audit=audit, clock=clock)
        self.dead = dead_inbound(audit=audit, clock=clock)
        self.changer = RouteChanger(
            secrets=kernel.secrets,
            audit=audit,
            clock=clock,
            # An operator who lets tenants into a network of the house lets them speak plainly there.
            require_https=not kernel.settings.channels.tenant_networks,
        )
        self.trier = WebhookTester(db, trial_caller, clock=clock)

    @cached_property
    def receiver(self) -> "Receiver":
        """Puts a tenant's inbound messages into conversations."""
        from tidings.notify.tenants.names import StoredTenantNames
        from tidings.router.conversations.receive import Receiver
        from tidings.router.inbound_routes.queue_deliveries import queue_deliveries

        return Receiver(
            keyring=self._kernel.keyring,
            hashes=self.hashes,
            policies=self._policies,
            correspondents=self.correspondents,
            names=StoredTenantNames(),
            queue_deliveries=queue_deliveries,
            outbox=self._kernel.router_outbox,
            clock=self._kernel.clock,
        )

    @cached_property
    def shared_stops(self) -> "SharedStops":
        """Heeds a STOP on a number that several tenants share."""
        from tidings.router.conversations.shared_stop import SharedStops

        return SharedStops(
            hashes=self.hashes,
            correspondents=self.correspondents,
            outbox=self._kernel.router_outbox,
            clock=self._kernel.clock,
        )

    @cached_property
    def job(self) -> "ConversationJob":
        """Puts inbound messages into conversations, and heeds keywords."""
        from tidings.router.conversations.jobs import ConversationJob
        from tidings.router.conversations.resolve import TenantResolver

        kernel = self._kernel
        return ConversationJob(
            kernel.db,
            TenantResolver(kernel.db, kernel.keyring, self.hashes),
            self.receiver,
            self.shared_stops,
            wakeups=self._wakeups,
            clock=kernel.clock,
            observer=self._observer,
            settings=self.job_settings,
            poll_seconds=lambda: kernel.bus.wakeups.poll_seconds,
        )

    @cached_property
    def replies(self) -> "ClaimingJob[str]":
        """Sends what a keyword is answered with."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.router.conversations.confirmation_store import REPLY_CLAIMS
        from tidings.router.conversations.keyword_confirmations import ConfirmationSender

        kernel = self._kernel
        sender = ConfirmationSender(
            kernel.db, self._vendors, keyring=kernel.keyring, clock=kernel.clock, observer=self._observer
        )
        return ClaimingJob(
            kernel.db,
            REPLY_CLAIMS,
            sender.send,
            name="conversation_replies",
            due_timer=DueTimer(self._wakeups.replies),
            worker_id=kernel.worker_id,
            clock=kernel.clock,
            known=kernel.presence.known,
            metrics=kernel.metrics,
        )

    @cached_property
    def deliveries(self) -> "ClaimingJob[str]":
        """Calls the webhooks that inbound messages are routed to."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.router.inbound_routes.deliver import Deliverer
        from tidings.router.inbound_routes.delivery_store import DELIVERY_CLAIMS

        kernel = self._kernel
        deliverer = Deliverer(
            kernel.db,
            self._caller,
            keyring=kernel.keyring,
            clock=kernel.clock,
            observer=self._observer,
            jitter=self.random_unit,
        )
        return ClaimingJob(
            kernel.db,
            DELIVERY_CLAIMS,
            deliverer.deliver,
            name="inbound_deliveries",
            due_timer=DueTimer(self._wakeups.deliveries),
            worker_id=kernel.worker_id,
            clock=kernel.clock,
            known=kernel.presence.known,
            metrics=kernel.metrics,
        )

    async def free_orphans(self, tx: "WorkerTx") -> int:
        """Free what no living worker has in hand."""
        return await self.replies.free_orphans(tx) + await self.deliveries.free_orphans(tx)

    def jobs(self) -> "dict[str, Job]":
        """From an inbound message to its conversation, its confirmation, its webhook."""
        return {
            "conversations": self.job,
            "conversation_replies": self.replies,
            "inbound_deliveries": self.deliveries,
        }

    def sweeps(self) -> "dict[str, Sweep]":
        """Conversations that are idle or old, numbers that are free again."""
        from tidings.router.conversations.sweep import close_idle, sweep_conversations, sweep_inbound
        from tidings.router.inbound_routes.sweep import release_numbers, sweep_deliveries

        db, clock, outbox = self._kernel.db, self._kernel.clock, self._kernel.router_outbox
        return {
            "idle_conversations": lambda most: close_idle(db, outbox, clock, limit=most),
            "old_conversations": lambda most: sweep_conversations(db, clock, limit=most),
            "inbound_messages": lambda most: sweep_inbound(db, clock, limit=most),
            "freed_numbers": lambda most: release_numbers(db, self.changer, clock, limit=most),
            "inbound_deliveries": lambda most: sweep_deliveries(db, clock, limit=most),
        }
