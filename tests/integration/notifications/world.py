"""A tenant that sends: its template, its channel, people, and the ways of notifications arranged by hand."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx2

from tests.integration.templates.drafts import draft
from tests.support.people import PeopleWorld, unused
from tidings.contracts.ids import NotificationId
from tidings.contracts.tenants import NotificationPolicy
from tidings.kernel.ids import TenantId, time_of
from tidings.notify.correspondence import replies

HOME = "/api/v1/notifications"
TEMPLATE = "welcome"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """A tenant that sends, and its client."""

    tenant_id: TenantId
    client: httpx2.AsyncClient

    async def send(self, **wish: Any) -> NotificationId:
        """Send one; its id."""
        answer = await self.client.post(HOME, json=order(**wish))
        assert answer.status_code == 202, answer.text
        return NotificationId(answer.json()["id"])

    async def get(self, path: str = "", **query: Any) -> httpx2.Response:
        """Ask."""
        return await self.client.get(f"{HOME}{path}", params=query)


def order(**wish: Any) -> dict[str, Any]:
    """A body that is accepted."""
    return {
        "recipient": {
            "identity": {"type": "guest", "id": f"g-{unused()}"},
            "display_name": "Laila",
            "locale": "fa-AF",
            "timezone": "Asia/Kabul",
            "addresses": [{"channel": "email", "address": f"laila-{unused()}@example.test"}],
        },
        "template": TEMPLATE,
        "channel": "email",
        "variables": {"name": "Laila"},
    } | wish


class SentWorld(PeopleWorld):
    """Notifications over HTTP."""

    async def hand_over(self) -> None:
        """Have all that is ready decided, sent and recorded; outcomes stay with the router until they are told."""
        await self.system.dispatch.job.drain()

    @asynccontextmanager
    async def sender(
        self, policy: NotificationPolicy | None = None, *, channels: Sequence[str] = ("email",), **wish: Any
    ) -> AsyncIterator[Sender]:
        """A tenant with a published template and these channels."""
        tenant = await self.tenant(policy)
        for channel in channels:
            await self.channel(tenant.id, channel)
        async with self.http.as_tenant(tenant.id) as client:
            await publish(client)
        async with self.http.as_tenant(tenant.id, **wish) as client:
            yield Sender(tenant_id=tenant.id, client=client)

    async def arrange(self, tenant_id: TenantId, id_: NotificationId, **columns: Any) -> None:
        """Write columns of a notification by hand, and take it off the queue."""
        sets = ", ".join(f"{name} = ${place}" for place, name in enumerate(columns, 4))
        async with self.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                f"UPDATE notification.notifications SET {sets} WHERE tenant_id = $1 AND created_at = $2 AND id = $3",
                tenant_id,
                time_of(id_),
                id_,
                *columns.values(),
            )
            await tx.connection.execute(
                "DELETE FROM notification.dispatch_queue WHERE tenant_id = $1 AND notification_id = $2",
                tenant_id,
                id_,
            )

    async def ended(
        self, tenant_id: TenantId, id_: NotificationId, recipient_id: str, *, at: datetime
    ) -> tuple[str, str]:
        """A ladder of the router that is over: one call that was accepted; the ids of both."""
        ulid = id_[-26:]
        started = time_of(id_)
        async with self.db.tenant(tenant_id) as tx:
            await tx.connection.execute(
                """INSERT INTO chan.fallback_executions (tenant_id, id, started_at, terminated_at, notification_id,
                       recipient_id, use_case, strategy, ladder_snapshot, final_channel, outcome, evidence)
                   VALUES ($1, $2, $3, $4, $5, $6, 'txn', 'FAILOVER', $7, 'email', 'DELIVERED', 'accepted')""",
                tenant_id,
                f"exec_{ulid}",
                started,
                at,
                id_,
                recipient_id,
                json.dumps({"steps": [{"channel": "email", "vendors": ["smtp"]}]}),
            )
            await tx.connection.execute(
                """INSERT INTO chan.delivery_attempts (tenant_id, id, started_at, terminated_at, step_index,
                       execution_id, channel, provider, provider_message_id, status)
                   VALUES ($1, $2, $3, $4, 1, $5, 'email', 'smtp', 'queued as 7', 'accepted')""",
                tenant_id,
                f"attempt_{ulid}",
                started,
                started + timedelta(milliseconds=40),
                f"exec_{ulid}",
            )
        return f"exec_{ulid}", f"attempt_{ulid}"


async def publish(
    client: httpx2.AsyncClient, key: str = TEMPLATE, channel: str = "email", **changes: Any
) -> None:
    """Publish a template of the tenant's own."""
    path = f"/api/v1/templates/{key}/{channel}/versions"
    made = await client.post(path, json=draft(**changes))
    assert made.status_code == 201, made.text
    published = await client.post(f"{path}/1.0.0/publish")
    assert published.status_code == 200, published.text


async def publish_replies(client: httpx2.AsyncClient) -> None:
    """Publish a template of the tenant's own for answers by SMS: the platform's set is not in this database."""
    await publish(
        client,
        replies.TEMPLATE,
        "sms",
        category="transactional",
        locales={"en": {"format": "text", "body": "{{text}}"}},
        default_locale="en",
        variables_schema={"type": "object", "properties": {"text": {"type": "string"}}},
        preview_samples={"usual": {"text": "x"}},
    )
