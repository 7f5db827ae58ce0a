"""Makes, changes, pauses, opens and deletes webhooks, and rotates their secrets; each change is a line in the audit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.egress import Guard, public_only
from tidings.kernel.errors import BadValueError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.kernel.signed_webhooks.url import checked_webhook_url
from tidings.notify.ids import WEBHOOK, WebhookId, WebhookPortalLinkId
from tidings.notify.webhooks import delivery_store, portal_link_store, store
from tidings.notify.webhooks.body import wrong_transform
from tidings.notify.webhooks.credentials import (
    WebhookCredentials,
    WebhookOAuth,
    seal_credentials,
    wrong_tls,
)
from tidings.notify.webhooks.errors import TooManyWebhooksError, UnknownWebhookError
from tidings.notify.webhooks.faults import wrong_api_version, wrong_condition, wrong_events, wrong_headers
from tidings.notify.webhooks.model import (
    MOST_WEBHOOKS,
    SEALED_FOR,
    StoredWebhook,
    WebhookSettings,
    WebhookStatus,
)
from tidings.notify.webhooks.sealing import new_secret, seal_headers, seal_secret


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPlan:
    """What a caller wants of a webhook."""

    settings: WebhookSettings
    #: Further headers; None: as they are.
    headers: Mapping[str, str] | None
    #: Further credentials; None: as they are.
    credentials: WebhookCredentials | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WebhookChanger:
    """Every way in which a webhook changes."""

    keyring: Keyring
    audit: AuditLog
    clock: Clock
    guard: Guard = public_only
    require_https: bool = True

    async def create(
        self, tx: TenantTx, plan: WebhookPlan, *, secret: str | None, is_test: bool, actor: str
    ) -> tuple[StoredWebhook, str]:
        """A new one, and its secret: the caller's own, or one that is made here."""
        plan = self._checked(plan)
        if await store.count_webhooks(tx, is_test=is_test) >= MOST_WEBHOOKS:
            raise TooManyWebhooksError
        now = self.clock.now()
        if plan.settings.api_version is None:
            plan = replace(plan, settings=replace(plan.settings, api_version=now.date()))
        webhook_id = WEBHOOK.new(now)
        key = await self.keyring.data_key(tx, SEALED_FOR)
        told = secret or new_secret()
        await store.insert_webhook(
            tx,
            webhook_id,
            plan.settings,
            is_test=is_test,
            headers_ciphertext=seal_headers(key, plan.headers or {}),
            credentials_ciphertext=seal_credentials(key, plan.credentials or WebhookCredentials()),
            signing_secret_ciphertext=seal_secret(key, told),
            actor=actor,
            now=now,
        )
        made = await self._found(tx, webhook_id, is_test=is_test)
        await self._tell(tx, "created", actor, after=made)
        return made, told

    async def change(
        self,
        tx: TenantTx,
        before: StoredWebhook,
        plan: WebhookPlan,
        *,
        actor: str,
        by: WebhookPortalLinkId | None = None,
    ) -> StoredWebhook:
        """Other settings, under its lock; what waits is told by them too. The same again changes nothing.

        Portal links that show it end where it is told other events, unless it is done `by` a link.
        """
        plan = self._checked(plan)
        _refuse_move(before.settings, plan.settings)
        if plan.settings == before.settings and plan.headers is None and plan.credentials is None:
            return before
        now = self.clock.now()
        key = await self.keyring.data_key(tx, SEALED_FOR)
        await store.update_webhook(
            tx,
            before.id,
            plan.settings,
            changes_headers=plan.headers is not None,
            headers_ciphertext=seal_headers(key, plan.headers or {}),
            changes_credentials=plan.credentials is not None,
            credentials_ciphertext=seal_credentials(key, plan.credentials or WebhookCredentials()),
            now=now,
        )
        if plan.settings.ordered != before.settings.ordered:
            await delivery_store.change_order(tx, before.id, ordered=plan.settings.ordered, now=now)
            await delivery_store.call_soon(tx, before.id, now=now)
        if by is None and _told(plan.settings) != _told(before.settings):
            await portal_link_store.end_links_showing(tx, before)
        after = await self._found(tx, before.id, is_test=before.is_test)
        await self._tell(tx, "changed", actor, before=before, after=after)
        return after

    async def pause(self, tx: TenantTx, before: StoredWebhook, *, actor: str) -> StoredWebhook:
        """Call it no more for now; what happens meanwhile waits. Pausing a paused one changes nothing."""
        if before.status is WebhookStatus.PAUSED:
            return before
        return await self._set_status(tx, before, WebhookStatus.PAUSED, "paused", actor)

    async def resume(
        self, tx: TenantTx, before: StoredWebhook, *, discard: bool, actor: str
    ) -> StoredWebhook:
        """Call it again, as if it had never failed; `discard`: what has waited is not told."""
        if discard and (count := await delivery_store.discard_waiting(tx, before.id, now=self.clock.now())):
            entry = Entry(
                entity_type="webhook",
                entity_id=before.id,
                action="webhook.discarded",
                actor=actor,
                after={"count": count},
            )
            await self.audit.append(tx, [entry])
        if before.status is WebhookStatus.ACTIVE:
            return before
        return await self._set_status(tx, before, WebhookStatus.ACTIVE, "resumed", actor)

    async def rotate_secret(
        self,
        tx: TenantTx,
        before: StoredWebhook,
        *,
        secret: str | None,
        overlap: timedelta,
        actor: str,
        by: WebhookPortalLinkId | None = None,
    ) -> tuple[StoredWebhook, str]:
        """Sign with another secret; until the overlap is over with the one before as well.

        Portal links that show it end, except the one `by` which it is done.
        """
        now = self.clock.now()
        key = await self.keyring.data_key(tx, SEALED_FOR)
        told = secret or new_secret()
        until = now + overlap if overlap > timedelta(0) else None
        await store.rotate_secret(tx, before.id, seal_secret(key, told), until=until, now=now)
        await portal_link_store.end_links_showing(tx, before, but=by)
        after = await self._found(tx, before.id, is_test=before.is_test)
        await self._tell(tx, "secret_rotated", actor, before=before, after=after)
        return after, told

    async def delete(self, tx: TenantTx, before: StoredWebhook, *, actor: str) -> None:
        """It is told nothing more; what waits for it goes nowhere, and so do the portal links that were made for it."""
        await store.delete_webhook(tx, before.id)
        await portal_link_store.end_links_of(tx, before)
        await self._tell(tx, "deleted", actor, before=before)

    async def _set_status(
        self, tx: TenantTx, before: StoredWebhook, status: WebhookStatus, action: str, actor: str
    ) -> StoredWebhook:
        await store.set_status(tx, before.id, status, now=self.clock.now())
        if status is WebhookStatus.ACTIVE:
            await delivery_store.call_soon(tx, before.id, now=self.clock.now())
        after = await self._found(tx, before.id, is_test=before.is_test)
        await self._tell(tx, action, actor, before=before, after=after)
        return after

    def _checked(self, plan: WebhookPlan) -> WebhookPlan:
        settings = plan.settings
        wrong = [
            *wrong_events(settings.event_types),
            *wrong_condition(settings.condition),
            *wrong_headers(plan.headers or {}),
            *wrong_transform(settings.transform),
            *wrong_api_version(settings.api_version, today=self.clock.now().date()),
        ]
        if plan.credentials is not None:
            wrong += [*wrong_tls(plan.credentials.tls), *self._wrong_token_url(plan.credentials.oauth2)]
        url = settings.target_url
        try:
            url = checked_webhook_url(url, field="url", require_https=self.require_https, guard=self.guard)
        except BadValueError as error:
            wrong.append(FieldError(error.field, error.remedy))
        if wrong:
            raise InvalidError(wrong)
        return replace(plan, settings=replace(settings, target_url=url))

    def _wrong_token_url(self, oauth2: WebhookOAuth | None) -> list[FieldError]:
        if oauth2 is None:
            return []
        try:
            checked_webhook_url(
                oauth2.token_url,
                field="credentials.oauth2.token_url",
                require_https=self.require_https,
                guard=self.guard,
            )
        except BadValueError as error:
            return [FieldError(error.field, error.remedy)]
        return []

    async def _found(self, tx: TenantTx, webhook_id: WebhookId, *, is_test: bool) -> StoredWebhook:
        found = await store.find_webhook(tx, webhook_id, is_test=is_test)
        if found is None:
            raise UnknownWebhookError
        return found

    async def _tell(
        self,
        tx: TenantTx,
        action: str,
        actor: str,
        *,
        before: StoredWebhook | None = None,
        after: StoredWebhook | None = None,
    ) -> None:
        one = after or before
        if one is None:
            raise TypeError("a change is of something")
        entry = Entry(
            entity_type="webhook",
            entity_id=one.id,
            action=f"webhook.{action}",
            actor=actor,
            before=None if before is None else _kept(before),
            after=None if after is None else _kept(after),
        )
        await self.audit.append(tx, [entry])


async def held(tx: TenantTx, webhook_id: WebhookId, *, is_test: bool) -> StoredWebhook:
    """A webhook, held for a change."""
    found = await store.find_webhook(tx, webhook_id, is_test=is_test, lock=True)
    if found is None:
        raise UnknownWebhookError
    return found


def _told(settings: WebhookSettings) -> tuple[object, ...]:
    """What decides which events are told there, and to whom links show it."""
    return settings.event_types, settings.condition, settings.customer


def _refuse_move(before: WebhookSettings, after: WebhookSettings) -> None:
    """What one customer was told is never shown to another."""
    if before.customer is not None and after.customer != before.customer:
        remedy = "is set and stays: delete this webhook, and make a new one for the other customer"
        raise InvalidError([FieldError("customer", remedy)])


def _kept(webhook: StoredWebhook) -> dict[str, Any]:
    """What the audit says of a webhook: of the address only the host, because people put keys in it."""
    settings = webhook.settings
    return {
        "host": urlsplit(settings.target_url).hostname,
        "events": list(settings.event_types),
        "condition": settings.condition,
        "status": webhook.status,
        "ordered": settings.ordered,
        "header_names": list(settings.header_names),
        "credentials": settings.credentials_shown,
        "transform": settings.transform,
        "api_version": settings.api_version and settings.api_version.isoformat(),
        "customer": settings.customer,
        "version": webhook.version,
    }
