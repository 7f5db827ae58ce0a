"""What these tests share: accounts that people write to, the jobs that take it on, and the application in front of them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest
import pytest_asyncio

from tests.support.clock import ManualClock
from tests.support.kms import MemoryKms
from tests.support.postgres import TestDatabase, TestServer
from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.callback_forms import ReadInbound
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.correspondence import ConversationReply, Correspondent, ReplyKey, ReplyResult
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, NotificationId, RecipientId
from tidings.contracts.prices import PriceModel
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, Row
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.dead_letters import DeadLetters
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.durable.wakeup import DueTimer
from tidings.kernel.http.app import HttpApp, build_app
from tidings.kernel.http.callers import AccessGuard, Caller
from tidings.kernel.http.tenant_gate import TenantGate, TenantState
from tidings.kernel.idempotency import Idempotency
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.outbox import Outbox
from tidings.kernel.parts import Parts
from tidings.kernel.refusals import KeyReusedError
from tidings.kernel.secrets import FileSecrets, SecretsByScheme
from tidings.notify.correspondence.correspondents import StoredCorrespondents
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.suppressions.suppress import Suppressor
from tidings.notify.tenants.names import StoredTenantNames
from tidings.router.adapters.egress import Guard, anywhere
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.channel_configs.configure import AdapterConfigs
from tidings.router.conversations import routes as conversation_routes
from tidings.router.conversations.answer import Answerer
from tidings.router.conversations.confirmation_store import REPLY_CLAIMS
from tidings.router.conversations.hashes import AddressHashes
from tidings.router.conversations.jobs import ConversationJob, ConversationSettings
from tidings.router.conversations.keep_inbound import insert_inbound
from tidings.router.conversations.keyword_confirmations import ConfirmationSender
from tidings.router.conversations.model import InboundMessageId
from tidings.router.conversations.queue import dead_inbound
from tidings.router.conversations.receive import Receiver
from tidings.router.conversations.resolve import TenantResolver
from tidings.router.conversations.sent import SentMessage, SentNotes
from tidings.router.conversations.shared_stop import SharedStops
from tidings.router.conversations.wakeups import ConversationWakeups
from tidings.router.executions.model import moment
from tidings.router.inbound_routes import routes as route_routes
from tidings.router.inbound_routes.call import WebhookCaller
from tidings.router.inbound_routes.change import RouteChanger
from tidings.router.inbound_routes.deliver import Deliverer
from tidings.router.inbound_routes.delivery_store import DELIVERY_CLAIMS
from tidings.router.inbound_routes.webhook_test import WebhookTester
from tidings.router.policies.policies import Policies
from tidings.router.profiles.proven_facts import StoredMailboxNews
from tidings.router.vendors.accounts import Accounts
from tidings.router.vendors.open_adapters import OpenAdapters
from tidings.router.vendors.vendors import Vendors

OURS = "+15005550006"
LAILA = "+93701234567"
OMAR = "+93701234568"
SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="
_serials = count(1)


class PlayedReplier:
    """Notify's side of the port for answers: takes whatever it is given."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.ordered: dict[str, tuple[NotificationId, ConversationReply]] = {}

    async def reply(self, tenant_id: TenantId, reply: ConversationReply) -> ReplyResult:
        known = self.ordered.get(reply.idempotency_key)
        if known is None:
            known = self.ordered[reply.idempotency_key] = (NOTIFICATION.new(self._clock.now()), reply)
            return ReplyResult(notification_id=known[0], created=True, status="queued")
        return ReplyResult(notification_id=known[0], created=False, status="queued")

    async def replied(self, tenant_id: TenantId, *, key: ReplyKey, text: str) -> ReplyResult | None:
        known = self.ordered.get(key.idempotency_key)
        if known is None:
            return None
        if known[1].text != text:
            raise KeyReusedError
        return ReplyResult(notification_id=known[0], created=False, status="queued")


class _Callers:
    """Knows callers by what they carry: a tenant's id, or an operator and a tenant."""

    async def authenticate(self, credential: str) -> Caller:
        operator = credential.startswith("platform")
        return Caller(
            kind="key",
            id="key_operator" if operator else "key_tenant",
            home=None if operator else TenantId(credential),
            role="platform.channel.admin" if operator else "tenant.admin",
            scopes=frozenset({"router:read", "router:write"}),
            environment="live",
        )


class _AllActive:
    async def state_of(self, tenant_id: TenantId) -> TenantState | None:
        return TenantState(status="active", frozen=False)


class _NoWitness:
    async def acting(self, caller: Caller, operation: str) -> None:
        """Nobody objects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One announcement."""

    subject: str
    data: dict[str, Any]


class ConversationWorld:
    """A database, accounts, and a worker that takes on what people write."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db = db
        self.folder = folder
        self.clock = ManualClock(SystemClock().now())
        self.secrets = SecretsByScheme({"file": FileSecrets(folder)})
        self.keyring = Keyring(MemoryKms(), clock=self.clock)
        self.audit = AuditLog("chan", self.clock)
        self.outbox = Outbox("chan")
        self.hashes = AddressHashes(db, self.keyring)
        self.wakeups = ConversationWakeups()
        notify_outbox = Outbox("notification")
        self.correspondents = StoredCorrespondents(
            keyring=self.keyring,
            upserter=RecipientUpserter(keyring=self.keyring, mailboxes=StoredMailboxNews(), clock=self.clock),
            suppressor=Suppressor(
                keyring=self.keyring,
                outbox=notify_outbox,
                audit=AuditLog("notification", self.clock),
                clock=self.clock,
            ),
            outbox=notify_outbox,
            clock=self.clock,
        )
        self.receiver = Receiver(
            keyring=self.keyring,
            hashes=self.hashes,
            policies=Policies(db, clock=self.clock, look_again=timedelta(0)),
            correspondents=self.correspondents,
            names=StoredTenantNames(),
            outbox=self.outbox,
            clock=self.clock,
        )
        self.shared = SharedStops(
            hashes=self.hashes, correspondents=self.correspondents, outbox=self.outbox, clock=self.clock
        )
        self.vendors = Vendors(
            Accounts(db, vendors=frozenset(ADAPTERS), clock=self.clock),
            OpenAdapters(self.secrets, clock=self.clock, tenant_guard=anywhere),
        )
        self.sent = SentNotes(self.hashes, outbox=self.outbox, clock=self.clock)
        self.replier = PlayedReplier(self.clock)
        self.guard: Guard = anywhere
        self.caller = WebhookCaller(self.secrets, clock=self.clock, guard=self._may_call)
        self.changer = RouteChanger(
            secrets=self.secrets, audit=self.audit, clock=self.clock, require_https=False
        )
        self.app = self._app()

    def job(
        self,
        receiver: Receiver | None = None,
        settings: ConversationSettings | None = None,
        shared: SharedStops | None = None,
    ) -> ConversationJob:
        """A worker that takes messages on."""
        return ConversationJob(
            self.db,
            TenantResolver(self.db, self.keyring, self.hashes),
            receiver or self.receiver,
            shared or self.shared,
            wakeups=self.wakeups,
            clock=self.clock,
            settings=settings,
        )

    def replies(self, worker: str | None = None) -> ClaimingJob[str]:
        """A worker that sends confirmations."""
        name = worker or WORKER.new(self.clock.now())
        sender = ConfirmationSender(self.db, self.vendors, keyring=self.keyring, clock=self.clock)
        return ClaimingJob(
            self.db,
            REPLY_CLAIMS,
            sender.send,
            name="conversation_replies",
            due_timer=DueTimer(self.wakeups.replies),
            worker_id=lambda: name,
            clock=self.clock,
        )

    def deliveries(self) -> ClaimingJob[str]:
        """A worker that calls webhooks."""
        name = WORKER.new(self.clock.now())
        deliverer = Deliverer(
            self.db, self.caller, keyring=self.keyring, clock=self.clock, jitter=lambda: 1.0
        )
        return ClaimingJob(
            self.db,
            DELIVERY_CLAIMS,
            deliverer.deliver,
            name="inbound_deliveries",
            due_timer=DueTimer(self.wakeups.deliveries),
            worker_id=lambda: name,
            clock=self.clock,
        )

    async def tenant(self, name: str = "The Clinic") -> TenantId:
        """A new one."""
        tenant_id = TENANT.new(self.clock.now())
        async with self.db.platform() as tx:
            await tx.connection.execute(
                "INSERT INTO notification.tenants_local (tenant_id, name, region) VALUES ($1, $2, 'test')",
                tenant_id,
                name,
            )
        return tenant_id

    async def account(
        self,
        tenant_id: TenantId | None,
        *,
        port: int = 9,
        vendor: str = "http",
        prices: PriceModel | None = None,
    ) -> str:
        """The id of an account of the tenant's own, or of the platform's, that leads to that port."""
        name = f"{vendor}-{next(_serials)}"
        self.secret(
            tenant_id, name, json.dumps({"url": f"http://127.0.0.1:{port}/", "message_id_path": "id"})
        )
        configs = AdapterConfigs(
            {kind.name: kind.channels for kind in ADAPTERS.values()}, audit=self.audit, clock=self.clock
        )
        command = ConfigureAccount(vendor=vendor, secret_ref=f"file://{name}", prices=prices)
        if tenant_id is None:
            async with self.db.platform() as platform:
                made = await configs.configure_platform(platform, [command], actor="test")
        else:
            async with self.db.tenant(tenant_id) as tx:
                made = await configs.configure(tx, [command], actor="test")
        return made[vendor].id

    def secret(self, tenant_id: TenantId | None, name: str, content: str) -> None:
        """What a reference leads to."""
        place = self.folder / (tenant_id or "")
        place.mkdir(exist_ok=True)
        (place / name).write_text(content)

    async def write(
        self,
        account_id: str,
        text: str,
        *,
        sender: str = LAILA,
        to: str = OURS,
        message_id: str | None = None,
        channel: Channel = "sms",
        vendor: str = "http",
    ) -> bool:
        """Somebody writes, and the vendor tells; whether it is new."""
        read = ReadInbound(
            vendor_message_id=message_id or f"in-{next(_serials)}",
            channel=channel,
            sender=sender,
            to=to,
            text=text,
            occurred_at=None,
            sender_name="Laila",
        )
        async with self.db.platform() as tx:
            key = await self.keyring.platform_key(tx, PLATFORM_PURPOSE)
            [fresh] = await insert_inbound(tx, vendor, [(account_id, read)], key, moment(self.clock))
        return fresh

    async def send(
        self, tenant_id: TenantId, account_id: str, *, to: str = LAILA, sender: str = OURS, **more: Any
    ) -> SentMessage:
        """A message of the tenant's went out, and can be answered."""
        turn = SentMessage(
            channel=more.pop("channel", "sms"),
            sender_id=sender,
            to=NormalisedAddress(to),
            recipient_id=more.pop("recipient_id", None) or RECIPIENT.new(self.clock.now()),
            notification_id=NOTIFICATION.new(self.clock.now()),
            account_id=account_id,
            vendor="http",
            at=self.clock.now(),
            **more,
        )
        await self.sent.get_ready()
        async with self.db.tenant(tenant_id) as tx:
            await self.sent.note_sent(tx, [turn], self.clock.now())
        return turn

    async def recipient(self, tenant_id: TenantId, address: str = LAILA) -> RecipientId:
        """Somebody whom the tenant knows."""
        async with self.db.tenant(tenant_id) as tx:
            wrote = Correspondent(channel="sms", address=NormalisedAddress(address))
            return (await self.correspondents.ensure(tx, [wrote]))[0]

    async def route(self, tenant_id: TenantId, inbound: str, *, port: int = 9, platform: bool = False) -> str:
        """A route to that port."""
        self.secret(tenant_id, "inbound", SECRET)
        async with self.db.tenant(tenant_id) as tx:
            made = await self.changer.create(
                tx,
                inbound,
                webhook_url=f"http://127.0.0.1:{port}/mo",
                secret_ref="file://inbound",
                platform=platform,
                actor="test",
            )
        return made.id

    async def rows(self, tenant_id: TenantId, table: str) -> list[Row]:
        """What the tenant itself finds, in the order in which it came to be."""
        async with self.db.tenant(tenant_id) as tx:
            return list(await tx.connection.fetch(f"SELECT * FROM chan.{table} ORDER BY id"))

    async def conversations(self, tenant_id: TenantId) -> list[Row]:
        """The tenant's."""
        return await self.rows(tenant_id, "conversations")

    async def lines(self, tenant_id: TenantId) -> list[Row]:
        """What was said in all of them, in order."""
        found = await self.rows(tenant_id, "conversation_messages")
        return sorted(found, key=lambda line: (line["at"], line["id"]))

    async def suppressed(self, tenant_id: TenantId) -> list[tuple[str, str]]:
        """Channel and reason of what is in force."""
        async with self.db.tenant(tenant_id) as tx:
            found = await tx.connection.fetch(
                "SELECT channel, reason FROM notification.suppressions WHERE released_at IS NULL"
            )
        return [(row["channel"], row["reason"]) for row in found]

    async def inbound(self) -> list[Row]:
        """Where inbound messages stand; as a worker sees them."""
        async with self.db.worker() as tx:
            return list(
                await tx.connection.fetch(
                    "SELECT id, tenant_id, status, attempts FROM chan.inbound_messages ORDER BY id"
                )
            )

    async def told(self, tenant_id: TenantId) -> list[Told]:
        """What was announced."""
        async with self.db.worker() as tx:
            found = await tx.connection.fetch(
                "SELECT subject, payload FROM chan.outbox WHERE tenant_id = $1 ORDER BY seq", tenant_id
            )
        return [Told(subject=row["subject"], data=msgspec.json.decode(row["payload"])) for row in found]

    async def subjects(self, tenant_id: TenantId) -> list[str]:
        """The same, by their names."""
        return [told.subject.removeprefix("conversation.") for told in await self.told(tenant_id)]

    async def later(self, **by: float) -> None:
        """Time passes."""
        await self.clock.advance(timedelta(**by))

    @asynccontextmanager
    async def client(
        self, caller: str, home: str = "/api/v1/router", **headers: str
    ) -> AsyncIterator[httpx2.AsyncClient]:
        """Somebody who calls: a tenant by its id, or `platform`."""
        transport = httpx2.ASGITransport(app=self.app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(
            transport=transport,
            base_url=f"http://tidings.test{home}",
            headers={"Authorization": f"Bearer {caller}", **headers},
        ) as client:
            yield client

    def _may_call(self, address: str) -> bool:
        return self.guard(address)

    def _app(self) -> HttpApp:
        answerer = Answerer(
            self.db,
            replier=self.replier,
            correspondents=self.correspondents,
            accounts=self.vendors.accounts,
            keyring=self.keyring,
            audit=self.audit,
        )
        parts = (
            Parts(
                self.db,
                self.keyring,
                self.changer,
                self.wakeups,
                answerer,
                Idempotency("notification", self.clock),
                WebhookTester(self.db, self.caller, clock=self.clock),
                self.outbox,
            )
            .add(Clock, self.clock)
            .add(AuditLog, self.audit)
            .add(DeadLetters[InboundMessageId], dead_inbound(audit=self.audit, clock=self.clock))
        )
        resources = [
            conversation_routes.conversations,
            conversation_routes.inbound_messages,
            conversation_routes.unmatched,
            route_routes.inbound_routes,
        ]
        return build_app(
            routers=(),
            resources=[(parts, resources)],
            door=AccessGuard(
                authenticator=_Callers(),
                gate=TenantGate(_AllActive(), clock=self.clock),
                witness=_NoWitness(),
            ),
            clock=self.clock,
            version="test",
            checks={},
            render_metrics=lambda: b"",
            body_limit=1024 * 1024,
        )


@pytest.fixture
async def tenant_id(world: "ConversationWorld") -> TenantId:
    """A tenant that no other test knows."""
    return await world.tenant()


@pytest.fixture
async def other_tenant(world: "ConversationWorld") -> TenantId:
    """Another one."""
    return await world.tenant()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def conversations_database(server: TestServer) -> AsyncIterator[TestDatabase]:
    """A database for the tests of one file, because claims reach across tenants."""
    async with server.clone() as database:
        yield database


@pytest.fixture
async def world(conversations_database: TestDatabase, tmp_path: Path) -> AsyncIterator[ConversationWorld]:
    """Nobody has written yet."""
    async with conversations_database.owner() as owner:
        await owner.execute(
            "TRUNCATE chan.inbound_messages, chan.inbound_unmatched, chan.conversations, chan.conversation_messages, "
            "chan.inbound_deliveries, chan.tenant_inbound_routes, chan.webhook_inbound_dedup, "
            "chan.channel_adapter_configs, kernel.platform_keys CASCADE"
        )
    db = Database(conversations_database.runtime_url)
    await db.open()
    found = ConversationWorld(db, tmp_path)
    yield found
    await found.caller.close()
    await found.vendors.close()
    await db.close()
