"""The only Python here that reads and writes portal links."""

from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries
from tidings.notify.ids import WebhookPortalLinkId
from tidings.notify.webhooks.model import StoredWebhook, WebhookPortalLink

QUERIES = Queries.beside(__file__)
#: For so long a page says that its link has expired; after that, that it is not known.
_REMEMBERED: Final = timedelta(days=30)
_link = RowMapper(WebhookPortalLink, [QUERIES.find_link])


async def insert_link(tx: TenantTx, link: WebhookPortalLink, token_hash: str) -> None:
    """A new one."""
    await tx.execute(
        QUERIES.insert_link,
        link,
        token_hash=token_hash,
        event_types=list(link.event_types),
        embed_origins=list(link.embed_origins),
    )


async def find_link(tx: TenantTx, token_hash: str) -> WebhookPortalLink | None:
    """The one with this hash, also where it has expired."""
    row = await tx.fetch_one(QUERIES.find_link, token_hash=token_hash)
    return None if row is None else _link(row)


async def end_links_of(tx: TenantTx, webhook: StoredWebhook) -> int:
    """Those that were made for a webhook lead nowhere any more; how many that were."""
    return await tx.execute(
        QUERIES.end_links, webhook_id=webhook.id, is_test=webhook.is_test, customer=None, but=None
    )


async def end_links_showing(
    tx: TenantTx, webhook: StoredWebhook, *, but: WebhookPortalLinkId | None = None
) -> int:
    """Those that show a webhook lead nowhere any more, except one: also those made for another one of its customer."""
    return await tx.execute(
        QUERIES.end_links,
        webhook_id=webhook.id,
        is_test=webhook.is_test,
        customer=webhook.settings.customer,
        but=but,
    )


async def sweep_links(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that expired long ago."""
    return await tx.execute(QUERIES.sweep_links, before=now - _REMEMBERED, limit=limit)
