"""Links to the webhook portal: a tenant hands one to its customer, who looks after their own endpoints with it.

A link is a secret of chance that carries its tenant inside; only its hash is kept. It ends by its time, and earlier when its
webhook is deleted, and when one that it shows gets another secret, other events or another condition.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_bytes
from typing import Final

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import InvalidError
from tidings.notify.ids import WEBHOOK_PORTAL_LINK
from tidings.notify.preference_center.tokens import hash_of, text_of
from tidings.notify.webhooks import portal_link_store
from tidings.notify.webhooks.faults import wrong_events
from tidings.notify.webhooks.model import StoredWebhook, WebhookPortalLink

#: Of the secret in a link.
_SECRET_BYTES: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class PortalLinkPlan:
    """What a tenant wants of a link."""

    lasts: timedelta
    may_change: bool
    #: None: what the webhook is told now.
    event_types: Sequence[str] | None
    locale: str | None
    embed_origins: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPortalLink:
    """A link as it is handed out, this once."""

    link: WebhookPortalLink
    url: str = field(repr=False)


class WebhookPortalLinks:
    """Makes links, and ends them."""

    def __init__(self, base_url: str, *, audit: AuditLog, clock: Clock) -> None:
        #: How the outside reaches us.
        self._base_url = base_url.rstrip("/")
        self._audit = audit
        self._clock = clock

    async def make(
        self, tx: TenantTx, webhook: StoredWebhook, plan: PortalLinkPlan, *, actor: str
    ) -> NewPortalLink:
        """A new one, for one webhook or for all of its customer."""
        if plan.event_types is not None and (wrong := wrong_events(plan.event_types, field="event_types")):
            raise InvalidError(wrong)
        now = self._clock.now()
        text = text_of(tx.tenant_id, token_bytes(_SECRET_BYTES))
        link = WebhookPortalLink(
            tenant_id=tx.tenant_id,
            id=WEBHOOK_PORTAL_LINK.new(now),
            subscription_id=webhook.id,
            customer=webhook.settings.customer,
            is_test=webhook.is_test,
            may_change=plan.may_change,
            # As it is told now: what a visitor takes away can be chosen again.
            event_types=tuple(plan.event_types or webhook.settings.event_types),
            locale=plan.locale,
            embed_origins=tuple(plan.embed_origins),
            created_at=now,
            expires_at=now + plan.lasts,
        )
        await portal_link_store.insert_link(tx, link, hash_of(text))
        said = {
            "webhook_id": webhook.id,
            "customer": link.customer,
            "may_change": link.may_change,
            "event_types": link.event_types,
            "embed_origins": link.embed_origins,
            "expires_at": link.expires_at,
        }
        await self._tell(tx, webhook, "portal_link_created", actor, {"link": link.id, **said})
        return NewPortalLink(link=link, url=f"{self._base_url}/portal/{text}")

    async def end(self, tx: TenantTx, webhook: StoredWebhook, *, actor: str) -> None:
        """Links that show a webhook lead nowhere any more; where there is none, nothing happens."""
        count = await portal_link_store.end_links_showing(tx, webhook)
        if count:
            await self._tell(tx, webhook, "portal_links_ended", actor, {"count": count})

    async def _tell(
        self, tx: TenantTx, webhook: StoredWebhook, action: str, actor: str, said: dict[str, object]
    ) -> None:
        entry = Entry(
            entity_type="webhook",
            entity_id=webhook.id,
            action=f"webhook.{action}",
            actor=actor,
            after=said,
        )
        await self._audit.append(tx, [entry])
