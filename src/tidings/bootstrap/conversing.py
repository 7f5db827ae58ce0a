"""What becomes of what people write: conversations, confirmations of keywords, webhooks to those who were written to."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from tidings.bootstrap.observers import ConversationMetrics
from tidings.kernel.db import WorkerTx
from tidings.kernel.durable.jobs import Job
from tidings.kernel.durable.sweepers import Sweep
from tidings.kernel.outbox import Outbox
from tidings.notify.correspondence.correspondents import StoredCorrespondents
from tidings.notify.correspondence.replies import IntakeReplier
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.tenants.names import StoredTenantNames
from tidings.router.conversations import deps as conversations_deps
from tidings.router.conversations import sweep
from tidings.router.conversations.answer import Answerer
from tidings.router.conversations.claimed_work import ClaimedWork
from tidings.router.conversations.close import Closer
from tidings.router.conversations.dead_letters import DeadInbound
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.jobs import ConversationJob
from tidings.router.conversations.receive import Receiver
from tidings.router.conversations.replies import ReplySender
from tidings.router.conversations.reply_store import Replies
from tidings.router.conversations.resolve import Resolver
from tidings.router.conversations.sent import SentNotes
from tidings.router.conversations.shared_stop import SharedStops
from tidings.router.conversations.wakeups import ConversationWakeups
from tidings.router.inbound_routes import deps as inbound_routes_deps
from tidings.router.inbound_routes.call import WebhookCaller
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.deliver import Deliverer
from tidings.router.inbound_routes.delivery_store import Deliveries
from tidings.router.inbound_routes.redeliver import Redeliverer
from tidings.router.inbound_routes.sweep import release_numbers, sweep_deliveries
from tidings.router.inbound_routes.trial import Trier
from tidings.router.profiles.hear import StoredMailboxNews

if TYPE_CHECKING:
    from tidings.bootstrap.system import System


class Conversing:
    """Everything between an inbound message and whoever it is for."""

    def __init__(self, system: "System", wakeups: ConversationWakeups) -> None:
        observer = ConversationMetrics(system.router_metrics)
        db, clock, keyring = system.db, system.clock, system.keyring
        outbox = Outbox("chan")
        hashes = AddressHashes(db, keyring)
        self.sent_notes = SentNotes(hashes, outbox=outbox, clock=clock)
        correspondents = StoredCorrespondents(
            keyring=keyring,
            upserter=RecipientUpserter(keyring=keyring, mailboxes=StoredMailboxNews(), clock=clock),
            suppressor=system.suppressor,
            outbox=system.outbox,
            clock=clock,
        )
        self._caller = WebhookCaller(system.secrets, clock=clock, guard=system.tenant_guard)
        # Apart: whoever tries a webhook that hangs, again and again, holds up no message.
        self._trial_caller = WebhookCaller(
            system.secrets, clock=clock, guard=system.tenant_guard, connections=8
        )
        self._replies = ClaimedWork(
            db,
            Replies(),
            ReplySender(db, system.outbound.vendors, keyring=keyring, clock=clock, observer=observer).send,
            wake=wakeups.replies,
            worker_id=lambda: system.presence.id,
            clock=clock,
            known=system.presence.known,
        )
        self._deliveries = ClaimedWork(
            db,
            Deliveries(),
            Deliverer(db, self._caller, keyring=keyring, clock=clock, observer=observer).deliver,
            wake=wakeups.deliveries,
            worker_id=lambda: system.presence.id,
            clock=clock,
            known=system.presence.known,
        )
        self.jobs: Mapping[str, Job] = {
            "conversations": ConversationJob(
                db,
                Resolver(db, keyring, hashes),
                Receiver(
                    keyring=keyring,
                    hashes=hashes,
                    policies=system.policies,
                    correspondents=correspondents,
                    names=StoredTenantNames(),
                    outbox=outbox,
                    clock=clock,
                ),
                SharedStops(hashes=hashes, correspondents=correspondents, outbox=outbox, clock=clock),
                wakeups=wakeups,
                clock=clock,
                observer=observer,
                poll_seconds=lambda: system.bus.wakeups.poll_seconds,
            ),
            "conversation_replies": self._replies,
            "inbound_deliveries": self._deliveries,
        }
        self.conversations = conversations_deps.Deps(
            db=db,
            clock=clock,
            keyring=keyring,
            audit=system.router_audit,
            answerer=Answerer(
                db,
                replier=IntakeReplier(
                    desk=system.accepting.desk, intake=system.accepting.intake, clock=clock
                ),
                correspondents=correspondents,
                accounts=system.outbound.accounts,
                keyring=keyring,
                audit=system.router_audit,
            ),
            closer=Closer(outbox=outbox, audit=system.router_audit, clock=clock),
            dead=DeadInbound(audit=system.router_audit, clock=clock),
            wakeups=wakeups,
        )
        changer = RouteChanger(
            secrets=system.secrets,
            audit=system.router_audit,
            clock=clock,
            # Whoever lets tenants into a network of the house lets them speak plainly there.
            require_https=not system.settings.channels.tenant_networks,
        )
        self.inbound_routes = inbound_routes_deps.Deps(
            db=db,
            idempotency=system.idempotency,
            changer=changer,
            redeliverer=Redeliverer(audit=system.router_audit, clock=clock),
            trier=Trier(db, self._trial_caller, clock=clock),
            deliveries_wakeup=wakeups.deliveries,
        )
        self.sweeps: Mapping[str, Sweep] = {
            "idle_conversations": lambda most: sweep.close_idle(db, outbox, clock, limit=most),
            "old_conversations": lambda most: sweep.sweep_conversations(db, clock, limit=most),
            "inbound_messages": lambda most: sweep.sweep_inbound(db, clock, limit=most),
            "freed_numbers": lambda most: release_numbers(db, changer, clock, limit=most),
            "inbound_deliveries": partial(_sweep_deliveries, system),
        }

    async def free_orphans(self, tx: WorkerTx) -> int:
        """Free what no living worker has in hand."""
        return await self._replies.free_orphans(tx) + await self._deliveries.free_orphans(tx)

    async def close(self) -> None:
        """End all connections."""
        await self._caller.close()
        await self._trial_caller.close()


async def _sweep_deliveries(system: "System", most: int) -> int:
    return await sweep_deliveries(system.db, system.clock, limit=most)
