"""What becomes of what people write: conversations, confirmations of keywords, webhooks to those who were written to."""

from functools import cached_property
from typing import TYPE_CHECKING

from tidings.contracts.conversations import TenantNames
from tidings.contracts.correspondence import Correspondents, Replier
from tidings.kernel.signed_webhooks.call import WebhookCaller
from tidings.notify.correspondence.correspondents import StoredCorrespondents
from tidings.notify.correspondence.replies import NotificationReplier
from tidings.notify.tenants.store import StoredTenantNames
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.receive import QueueDeliveries
from tidings.router.conversations.sent import SentNotes
from tidings.router.inbound_routes.call import RouteCaller
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.queue_deliveries import queue_deliveries
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
    from tidings.router.conversations.jobs import ConversationJob


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
        self._parts = parts = router.parts
        self._vendors = vendors.vendors
        self._wakeups = callbacks.conversation_wakeups
        self.hashes = parts.get(AddressHashes)
        self.sent_notes = parts.get(SentNotes)
        self.correspondents = notify.parts.get(StoredCorrespondents)
        parts.add(Correspondents, self.correspondents).add(TenantNames, StoredTenantNames())
        parts.add(Replier, NotificationReplier(accept.acceptor)).add(QueueDeliveries, queue_deliveries)
        caller = parts.get(WebhookCaller)
        # Apart: trials of a webhook that hangs, again and again, hold up no message.
        trial_caller = parts.make(WebhookCaller, connections=8)
        for each in (caller, trial_caller):
            kernel.closing.push_async_callback(each.close)
        parts.get(RouteCaller)
        parts.get(WebhookTester, caller=parts.make(RouteCaller, caller=trial_caller))
        # An operator who lets tenants into a network of the house lets them speak plainly there.
        plain = bool(kernel.settings.channels.tenant_networks)
        self.changer = parts.get(RouteChanger, require_https=not plain)

    @cached_property
    def job(self) -> "ConversationJob":
        """Puts inbound messages into conversations, and heeds keywords."""
        from tidings.router.conversations.jobs import ConversationJob

        return self._parts.get(ConversationJob, poll_seconds=lambda: self._kernel.bus.wakeups.poll_seconds)

    @cached_property
    def replies(self) -> "ClaimingJob[str]":
        """Sends what a keyword is answered with."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.router.conversations.confirmation_store import REPLY_CLAIMS
        from tidings.router.conversations.keyword_confirmations import ConfirmationSender

        return self._parts.make(
            ClaimingJob,
            claims=REPLY_CLAIMS,
            work=self._parts.get(ConfirmationSender, vendors=self._vendors).send,
            name="conversation_replies",
            due_timer=DueTimer(self._wakeups.replies),
            known=self._kernel.presence.known,
        )

    @cached_property
    def deliveries(self) -> "ClaimingJob[str]":
        """Calls the webhooks that inbound messages are routed to."""
        from tidings.kernel.durable.claims import ClaimingJob
        from tidings.kernel.durable.wakeup import DueTimer
        from tidings.router.inbound_routes.deliver import Deliverer
        from tidings.router.inbound_routes.delivery_store import DELIVERY_CLAIMS

        return self._parts.make(
            ClaimingJob,
            claims=DELIVERY_CLAIMS,
            work=self._parts.get(Deliverer).deliver,
            name="inbound_deliveries",
            due_timer=DueTimer(self._wakeups.deliveries),
            known=self._kernel.presence.known,
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
