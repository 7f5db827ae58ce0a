"""The demo tenant of `tidings up`: made once, found again, its keys kept as long as they work."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from tidings.backoffice.operators.change import By, OperatorChanger
from tidings.backoffice.operators.model import MadeLink, Rights
from tidings.backoffice.operators.people import OperatorPerson
from tidings.backoffice.properties.access import ALL_PROPERTIES
from tidings.contracts.senders import ANY_SENDER
from tidings.contracts.tenants import NotificationPolicy, TenantEvent
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import ConflictError, UnauthenticatedError
from tidings.notify.access.authenticate import KeyAuthenticator
from tidings.notify.access.create import create_key
from tidings.notify.access.ledger import KeyLedger
from tidings.notify.access.model import KeySpec, credential
from tidings.notify.tenants import store
from tidings.notify.tenants.change import TenantChanger
from tidings.notify.tenants.model import Tenant
from tidings.notify.tenants.wire import CreateTenant, UpdateTenant
from tidings.operations.platform_start import PlatformStart

SLUG = "demo"
_ACTOR = "tidings up"
_OPERATOR = OperatorPerson(name="Demo operator", email="operator@demo.example")
#: All properties of the sandbox.
_RIGHTS = Rights(role="tenant.admin", properties=(ALL_PROPERTIES,))
#: There is nobody else whose sender it could take: try any.
_POLICY = NotificationPolicy(allowed_sender_domains=(ANY_SENDER,), allowed_sender_ids=(ANY_SENDER,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """What a newcomer needs for a first call."""

    tenant_id: TenantId
    api_key: str
    platform_key: str
    #: Opens the console, once; or why there is no link for the demo's operator.
    console_link: MadeLink | str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DemoMaker:
    """Finds the demo tenant or makes it, and gives keys that work."""

    db: Database
    tenants: TenantChanger
    platform: PlatformStart
    keys: KeyAuthenticator
    ledger: KeyLedger
    operators: OperatorChanger
    clock: Clock

    async def ensure(self, previous: Mapping[str, Any]) -> Demo:
        """The demo tenant; keys of an earlier start are given again where they still work."""
        async with self.db.platform() as tx:
            tenant = await store.find_tenant_by_slug(tx, slug=SLUG)
            if tenant is None:
                wanted = CreateTenant(name="Demo", slug=SLUG, notification_policy=_POLICY)
                tenant = await self.tenants.create(tx, wanted.event, actor=_ACTOR)
            elif not _grants(tenant.notification_policy):
                # Made by a version that granted every sender where no list was.
                tenant = await self.tenants.change(tx, tenant.id, _granted, actor=_ACTOR)
        return Demo(
            tenant_id=tenant.id,
            api_key=await self._working(previous.get("api_key"), tenant.id)
            or await self._tenants_key(tenant.id),
            platform_key=await self._working(previous.get("platform_key"), None)
            or await self._platforms_key(),
            console_link=await self.console_link(tenant.id),
        )

    async def console_link(self, tenant_id: TenantId) -> MadeLink | str:
        """A link for the first operator, who is made when there is none; or why they get none, such as that they were disabled."""
        try:
            return await self._made_link(tenant_id)
        except ConflictError as refused:
            return str(refused)

    async def _made_link(self, tenant_id: TenantId) -> MadeLink:
        by = By(actor=_ACTOR)
        async with self.db.tenant(tenant_id) as tx:
            known = await self.operators.find(tx, _OPERATOR.email)
            if known is None:
                known, _ = await self.operators.invite(tx, _OPERATOR, _RIGHTS, by=by)
            return (await self.operators.open_link(tx, known.id, by=by, activate=True))[1]

    async def _working(self, carried: object, tenant_id: TenantId | None) -> str | None:
        if not isinstance(carried, str):
            return None
        try:
            caller = await self.keys.authenticate(carried)
        except UnauthenticatedError:
            return None
        return carried if caller.home == tenant_id else None

    async def _platforms_key(self) -> str:
        # One that was there is of no use here: it can't be read any more.
        made = await self.platform.key(name="demo platform", actor=_ACTOR, one_more=True)
        return made.credential or ""

    async def _tenants_key(self, tenant_id: TenantId) -> str:
        wish = KeySpec(name="demo", role="tenant.admin", scopes=None)
        async with self.db.tenant(tenant_id) as tx:
            key, secret = await create_key(
                tx, wish, grantor=None, actor=_ACTOR, ledger=self.ledger, clock=self.clock
            )
        return credential(key.id, secret)


def _grants(policy: NotificationPolicy) -> bool:
    return bool(policy.allowed_sender_domains or policy.allowed_sender_ids)


def _granted(known: Tenant) -> TenantEvent | None:
    policy = structs.replace(
        known.notification_policy,
        allowed_sender_domains=_POLICY.allowed_sender_domains,
        allowed_sender_ids=_POLICY.allowed_sender_ids,
    )
    return UpdateTenant(notification_policy=policy).event(known)
