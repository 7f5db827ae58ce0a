"""Recipients, suppressions and channels over a test's database: their routes, their verbs, and a count of statements."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.http import http_over
from tests.support.system import system_over
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database, Tx
from tidings.kernel.ids import EVENT, TenantId
from tidings.notify.channels.configure import AccountSpec, ChannelConfigurer, ChannelSpec
from tidings.notify.channels.model import RateLimit, Sender
from tidings.notify.recipients.model import IdentityType
from tidings.notify.recipients.recipient_input import AddressInput, IdentityInput, RecipientInput, spec_of
from tidings.notify.recipients.upsert import UpsertResult
from tidings.notify.tenants.model import Tenant


class PeopleWorld:
    """The application with these parts, and the parts themselves."""

    def __init__(self, db: Database, folder: Path, clock: Clock | None = None) -> None:
        self.system = system = system_over(db, clock=clock, TIDINGS_SECRETS_DIR=str(folder))
        self.folder = folder
        self.db = db
        self.categories, self.suppressor = system.notify.categories, system.notify.suppressor
        self.upserter = system.accept.upserter
        self.loader = system.composition.facts
        self.router = system.router.adapter_configs
        self.configurer = ChannelConfigurer(router=self.router, audit=system.kernel.audit, clock=system.clock)
        self.http = http_over(system)

    async def tenant(self, policy: NotificationPolicy | None = None, **facts: Any) -> Tenant:
        """A new tenant, with its keys."""
        slug = f"t-{unused()}"
        tenant = await self.http.tenant(slug, notification_policy=policy or NotificationPolicy(), **facts)
        async with self.db.tenant(tenant.id) as tx:
            await self.system.kernel.keyring.provision(tx)
        return tenant

    async def recipient(self, tenant_id: TenantId, *addresses: tuple[str, str], **facts: Any) -> RecipientId:
        """A recipient with these addresses."""
        given = RecipientInput(
            identity=facts.pop("identity", IdentityInput(type=IdentityType.USER, id=f"u-{unused()}")),
            addresses=[AddressInput(channel=channel, address=address) for channel, address in addresses],  # type: ignore[arg-type]
            **facts,
        )
        async with self.db.tenant(tenant_id) as tx:
            result = (await self.upserter.upsert(tx, [spec_of(given)])).results[0]
        assert isinstance(result, UpsertResult)
        return result.recipient.id

    async def channel(self, tenant_id: TenantId, channel: str = "email", **wish: Any) -> None:
        """Set a channel up, over an account of the tenant's own."""
        vendor = wish.pop("vendor", "http" if channel != "email" else "smtp")
        wanted = ChannelSpec(
            channel=channel,  # type: ignore[arg-type]
            vendor=vendor,
            fallback_vendor=None,
            sender=wish.pop("sender", Sender(from_address="hello@acme.test", sender_id="ACME")),
            branding=None,
            rate_limit=wish.pop("rate_limit", RateLimit()),
            status=wish.pop("status", "active"),
            accounts={vendor: AccountSpec(secret_ref="file://account")},
        )
        async with self.db.tenant(tenant_id) as tx:
            await self.configurer.configure(tx, wanted, expect=lambda _: None, actor="test")


def unused() -> str:
    """A word that no other test has."""
    return EVENT.new(SystemClock().now())[-16:].lower()


async def told(db: Database, tenant_id: TenantId, about: str) -> list[tuple[str, dict[str, Any]]]:
    """The tenant's events about this, in their order: subject and payload."""
    query = "SELECT subject, payload FROM notification.outbox WHERE tenant_id = $1 ORDER BY id"
    async with db.worker() as tx:
        found = await tx.connection.fetch(query, tenant_id)
    return [(row["subject"], json.loads(row["payload"])) for row in found if row["subject"].startswith(about)]


async def rows(db: Database, tenant_id: TenantId, query: str, *values: object) -> list[dict[str, Any]]:
    """What the tenant itself finds."""
    async with db.tenant(tenant_id) as tx:
        return [dict(row) for row in await tx.connection.fetch(query, *values)]


@asynccontextmanager
async def counted(tx: Tx) -> AsyncIterator[list[str]]:
    """The statements that are run on this transaction meanwhile."""
    statements: list[str] = []

    def note(record: Any) -> None:
        # The driver asks for types that it meets for the first time, once per connection.
        if "typeinfo_tree" not in record.query and "'jit'" not in record.query:
            statements.append(record.query)

    tx.connection.add_query_logger(note)
    try:
        yield statements
    finally:
        tx.connection.remove_query_logger(note)
