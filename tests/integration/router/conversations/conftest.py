"""What these tests share: accounts that people write to, the jobs that take it on, and the application in front of them."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from tests.support.http import http_over
from tests.support.people import unused
from tests.support.senders import any_sender
from tests.support.system import LOOPBACK, now_clock, system_over
from tidings.bootstrap import System
from tidings.contracts.addresses import NormalisedAddress
from tidings.contracts.callback_forms import ReadInbound
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.correspondence import Correspondent
from tidings.contracts.ids import NOTIFICATION, RECIPIENT, RecipientId
from tidings.contracts.prices import PriceModel
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Database, Row
from tidings.kernel.durable.claims import ClaimingJob
from tidings.kernel.durable.retry_policy import RandomUnit
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.kms import Kms
from tidings.notify.channels.routes import channels
from tidings.notify.templates.routes import RESOURCES as TEMPLATES
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.conversations import routes as conversation_routes
from tidings.router.conversations.jobs import ConversationJob
from tidings.router.conversations.keep_inbound import insert_inbound
from tidings.router.executions.model import moment
from tidings.router.executions.sent_message import SentMessage
from tidings.router.inbound_routes.routes import inbound_routes

OURS = "+15005550006"
LAILA = "+93701234567"
OMAR = "+93701234568"
SECRET = "whsec_c2VjcmV0LXNlY3JldC1zZWNyZXQ="
#: Of the application, what these tests call.
_CALLED = (
    conversation_routes.conversations,
    conversation_routes.inbound_messages,
    conversation_routes.unmatched,
    inbound_routes,
    channels,
    *TEMPLATES,
)
_serials = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One announcement."""

    subject: str
    data: dict[str, Any]


class ConversationWorld:
    """A database, accounts, and a worker that takes on what people write."""

    def __init__(self, db: Database, folder: Path, networks: str = LOOPBACK) -> None:
        """Tenants' webhooks may lead to these `networks`."""
        self.db = db
        self.folder = folder
        self.clock = now_clock()
        self._networks = networks
        self._processes: list[System] = []
        self.system = system = self.process()
        self.http = http_over(system, only=_CALLED)
        self.keyring, self.audit = system.kernel.keyring, system.kernel.router_audit
        self.outbox = system.kernel.router_outbox
        self.wakeups = system.callbacks.conversation_wakeups
        self.correspondents, self.sent = system.conversations.correspondents, system.conversations.sent_notes
        self.vendors = system.vendors.vendors

    def process(self, kms: Kms | None = None) -> System:
        """A further one over the same database; it may claim, even where the others take it for dead."""
        environment = {"TIDINGS_SECRETS_DIR": str(self.folder), "TIDINGS_TENANT_NETWORKS": self._networks}
        system = system_over(self.db, None, self.clock, **environment)
        if kms is not None:
            system.kernel.keyring = Keyring(kms, clock=self.clock)
        system.kernel.presence.known.set()
        system.router.parts.add(RandomUnit, lambda: 1.0)
        _ = system.conversations
        self._processes.append(system)
        return system

    async def close(self) -> None:
        """End what the processes hold open; the database is the test's."""
        for system in self._processes:
            await system.kernel.closing.aclose()

    def job(self) -> ConversationJob:
        """Takes messages on."""
        return self.system.conversations.job

    def replies(self) -> ClaimingJob[str]:
        """Sends confirmations."""
        return self.system.conversations.replies

    def deliveries(self) -> ClaimingJob[str]:
        """Calls webhooks."""
        return self.system.conversations.deliveries

    async def tenant(self, name: str = "The Clinic") -> TenantId:
        """A new one."""
        made = await self.http.tenant(f"t-{unused()}", name=name, notification_policy=any_sender())
        return made.id

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
        configs = self.system.router.adapter_configs
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
            made = await self.system.conversations.changer.create(
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

    def client(
        self, caller: str, home: str = "/api/v1/router", **headers: str
    ) -> AbstractAsyncContextManager[httpx2.AsyncClient]:
        """Somebody who calls: a tenant by its id, or `admin`."""
        return self.http.calling(caller, home, **headers)


@pytest.fixture
async def tenant_id(world: "ConversationWorld") -> TenantId:
    """A tenant that no other test knows."""
    return await world.tenant()


@pytest.fixture
async def other_tenant(world: "ConversationWorld") -> TenantId:
    """Another one."""
    return await world.tenant()


@pytest.fixture
async def world(fresh_db: Database, tmp_path: Path) -> AsyncIterator[ConversationWorld]:
    """Nobody has written yet; a database of its own, because claims reach across tenants."""
    found = ConversationWorld(fresh_db, tmp_path)
    yield found
    await found.close()
