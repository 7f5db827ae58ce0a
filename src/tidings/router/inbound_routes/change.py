"""Makes, changes, removes and brings back inbound routes; each change is a line in the audit."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import AlreadyExistsError, BadValueError, NotConfiguredError
from tidings.kernel.ids import TenantId, time_of
from tidings.kernel.secrets import SecretNotFoundError, SecretResolver, SecretStoreError
from tidings.kernel.signed_webhooks.secrets import SIGNING_FORM, signs
from tidings.kernel.signed_webhooks.url import checked_webhook_url
from tidings.router.accounts.errors import SecretsNotAskedError
from tidings.router.inbound_routes import store
from tidings.router.inbound_routes.errors import (
    InboundNotAvailableError,
    InboundRouteGraceOverError,
    InboundRouteInForceError,
    InboundRouteRemovedError,
    UnknownInboundRouteError,
)
from tidings.router.inbound_routes.model import INBOUND_ROUTE, InboundRoute, InboundRouteId

#: Raises where the route is not of the version that the caller has seen.
Expect = Callable[[InboundRoute], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RouteChanger:
    """Every way in which a route changes."""

    secrets: SecretResolver
    #: Of the schema `chan`.
    audit: AuditLog
    clock: Clock
    require_https: bool = True

    async def refuse_unfit(self, tenant_id: TenantId, *, webhook_url: str, secret_ref: str) -> None:
        """Refuse an address that can't be called, and a reference that leads to nothing to sign with.

        Before the transaction: the secret store is asked.
        """
        self._url(webhook_url)
        try:
            secret = await self.secrets.resolve(secret_ref, tenant_id=tenant_id)
        except (SecretNotFoundError, NotConfiguredError):
            raise BadValueError(
                "secret_ref",
                "leads to no secret; enter it first (PUT /api/v1/router/secrets/<name>, then sealed://<name>), put it there "
                f"(file:// leads to the folder {tenant_id} below TIDINGS_SECRETS_DIR), or check the reference",
            ) from None
        except SecretStoreError as error:
            raise SecretsNotAskedError(f"{error}; nothing was changed") from None
        if not signs(secret.reveal()):
            raise BadValueError(
                "secret_ref", f"leads to a secret that receivers can't verify with: {SIGNING_FORM}"
            )

    async def create(
        self, tx: TenantTx, inbound: str, *, webhook_url: str, secret_ref: str, platform: bool, actor: str
    ) -> InboundRoute:
        """Make one, with a secret that was looked at. `platform`: an operator says that the number is this tenant's also on the
        platform's accounts."""
        url = self._url(webhook_url)
        now = self.clock.now()
        route_id = INBOUND_ROUTE.new(now)
        made = InboundRoute(
            id=route_id,
            inbound=inbound,
            webhook_url=url,
            secret_ref=secret_ref,
            platform=platform,
            active=True,
            grace_period_ends_at=None,
            created_at=time_of(route_id),
            updated_at=time_of(route_id),
            version=1,
        )
        if not await store.insert_route(tx, made):
            # The same words, whichever tenant has it and why.
            raise InboundNotAvailableError
        await self._tell(tx, None, made, "created", actor)
        return made

    async def change(
        self,
        tx: TenantTx,
        route_id: InboundRouteId,
        *,
        webhook_url: str,
        secret_ref: str,
        platform: bool | None,
        expect: Expect,
        actor: str,
    ) -> InboundRoute:
        """Tell it elsewhere, or sign it otherwise; what waits goes there too. `platform` None: as it is."""
        before = await self._in_force(tx, route_id, expect)
        url = self._url(webhook_url)
        after = replace(
            before,
            webhook_url=url,
            secret_ref=secret_ref,
            platform=before.platform if platform is None else platform,
        )
        if after == before:
            return before
        return await self._keep(tx, before, after, "updated", actor)

    async def remove(
        self, tx: TenantTx, route_id: InboundRouteId, *, grace: timedelta, expect: Expect, actor: str
    ) -> InboundRoute:
        """It goes on working for `grace`, and can be restored until then; the number is free for others afterwards."""
        before = await self._in_force(tx, route_id, expect)
        ends_at = self.clock.now() + grace
        after = replace(before, active=grace > timedelta(0), grace_period_ends_at=ends_at)
        return await self._keep(tx, before, after, "removed", actor)

    async def restore(self, tx: TenantTx, route_id: InboundRouteId, *, actor: str) -> InboundRoute:
        """As if it had not been removed."""
        before = await _locked(tx, route_id)
        if before.grace_period_ends_at is None:
            raise InboundRouteInForceError
        if not before.serves(self.clock.now()):
            raise InboundRouteGraceOverError
        after = replace(before, grace_period_ends_at=None)
        return await self._keep(tx, before, after, "restored", actor)

    async def let_go(self, tx: TenantTx, route_id: InboundRouteId) -> bool:
        """Its time is over: the number is free; whether it was still to be done."""
        before = await store.lock_route(tx, route_id)
        now = self.clock.now()
        if before is None or not before.active or before.grace_period_ends_at is None:
            return False
        if before.grace_period_ends_at > now:
            return False
        await self._keep(tx, before, replace(before, active=False), "released", "system")
        return True

    def _url(self, text: str) -> str:
        return checked_webhook_url(text, field="webhook_url", require_https=self.require_https)

    async def _in_force(self, tx: TenantTx, route_id: InboundRouteId, expect: Expect) -> InboundRoute:
        found = await _locked(tx, route_id)
        if found.grace_period_ends_at is not None:
            raise InboundRouteRemovedError
        expect(found)
        return found

    async def _keep(
        self, tx: TenantTx, before: InboundRoute, after: InboundRoute, action: str, actor: str
    ) -> InboundRoute:
        kept = replace(after, version=before.version + 1, updated_at=self.clock.now())
        try:
            await store.update_route(tx, kept)
        except AlreadyExistsError:
            # An operator means to give it to this tenant too.
            raise InboundNotAvailableError from None
        await self._tell(tx, before, kept, action, actor)
        return kept

    async def _tell(
        self, tx: TenantTx, before: InboundRoute | None, after: InboundRoute, action: str, actor: str
    ) -> None:
        entry = Entry(
            entity_type="inbound_route",
            entity_id=after.id,
            action=action,
            actor=actor,
            before=None if before is None else _kept(before),
            after=_kept(after),
        )
        await self.audit.append(tx, [entry])


def _kept(route: InboundRoute) -> dict[str, Any]:
    """What the audit says of a route: not where the secret is, and of the address only the host, because people put keys in it."""
    ends_at: datetime | None = route.grace_period_ends_at
    return {
        "inbound": route.inbound,
        "webhook_host": urlsplit(route.webhook_url).hostname,
        "platform": route.platform,
        "active": route.active,
        "grace_period_ends_at": ends_at.isoformat() if ends_at is not None else None,
        "version": route.version,
    }


async def _locked(tx: TenantTx, route_id: InboundRouteId) -> InboundRoute:
    found = await store.lock_route(tx, route_id)
    if found is None:
        raise UnknownInboundRouteError(f"there is no inbound route with the id {route_id}")
    return found
