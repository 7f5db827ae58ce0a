"""The only Python here that reads and writes webhook subscriptions."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tidings.kernel.db import Row, TenantsTx, TenantTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper, optional
from tidings.kernel.sql import Queries
from tidings.notify.ids import WebhookId
from tidings.notify.webhooks.model import (
    PIN_NOTICE,
    StoredWebhook,
    WebhookFilter,
    WebhookHealth,
    WebhookSettings,
    WebhookStatus,
)

QUERIES = Queries.beside(__file__)
_READS = [QUERIES.list_webhooks, QUERIES.list_of_customer, QUERIES.find_webhook, QUERIES.lock_webhook]
_settings = RowMapper(
    WebhookSettings,
    _READS,
    read={"credentials_shown": optional(msgspec.json.decode), "transform": optional(msgspec.json.decode)},
)
_health = RowMapper(WebhookHealth, _READS)
_webhook = RowMapper(StoredWebhook, _READS, of_row={"settings": _settings, "health": _health})
_filter = RowMapper(WebhookFilter, [QUERIES.load_filters])


async def count_webhooks(tx: TenantTx, *, is_test: bool) -> int:
    """How many the tenant has in this environment."""
    count: int = await tx.fetch_value(QUERIES.count_webhooks, is_test=is_test)
    return count


async def insert_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    settings: WebhookSettings,
    *,
    is_test: bool,
    headers_ciphertext: bytes | None,
    credentials_ciphertext: bytes | None,
    signing_secret_ciphertext: bytes,
    actor: str,
    now: datetime,
) -> None:
    """A new one, with its endpoint."""
    await tx.execute(
        QUERIES.insert_webhook,
        settings,
        id=webhook_id,
        **_written(settings),
        is_test=is_test,
        headers_ciphertext=headers_ciphertext,
        credentials_ciphertext=credentials_ciphertext,
        signing_secret_ciphertext=signing_secret_ciphertext,
        actor=actor,
        now=now,
    )


async def list_webhooks(
    tx: TenantTx,
    *,
    is_test: bool,
    status: WebhookStatus | None,
    customer: str | None,
    after_id: str | None,
    limit: int,
) -> list[StoredWebhook]:
    """The newest first."""
    rows = await tx.fetch(
        QUERIES.list_webhooks,
        is_test=is_test,
        status=status,
        customer=customer,
        after_id=after_id,
        limit=limit,
    )
    return [_webhook(row) for row in rows]


async def list_of_customer(tx: TenantTx, customer: str, *, is_test: bool, limit: int) -> list[StoredWebhook]:
    """Those of one customer, the oldest first."""
    rows = await tx.fetch(QUERIES.list_of_customer, customer=customer, is_test=is_test, limit=limit)
    return [_webhook(row) for row in rows]


async def count_customer_alone(tx: TenantTx, customer: str, *, is_test: bool) -> None:
    """Until the end of the transaction nobody else counts the webhooks of this customer to add one."""
    await tx.execute(QUERIES.count_customer_alone, customer=customer, is_test=is_test)


async def find_webhook(
    tx: TenantTx, webhook_id: WebhookId, *, is_test: bool, lock: bool = False
) -> StoredWebhook | None:
    """One of this environment's; `lock`: held for a change."""
    query = QUERIES.lock_webhook if lock else QUERIES.find_webhook
    row = await tx.fetch_one(query, id=webhook_id, is_test=is_test)
    return None if row is None else _webhook(row)


async def find_sealed(tx: TenantTx, webhook_id: WebhookId) -> Row | None:
    """What is sealed of it."""
    return await tx.fetch_one(QUERIES.find_sealed, id=webhook_id)


async def update_webhook(
    tx: TenantTx,
    webhook_id: WebhookId,
    settings: WebhookSettings,
    *,
    changes_headers: bool,
    headers_ciphertext: bytes | None,
    changes_credentials: bool,
    credentials_ciphertext: bytes | None,
    now: datetime,
) -> None:
    """The settings as they are from now on, under its lock."""
    await tx.execute(
        QUERIES.update_webhook,
        settings,
        id=webhook_id,
        **_written(settings),
        changes_headers=changes_headers,
        headers_ciphertext=headers_ciphertext,
        changes_credentials=changes_credentials,
        credentials_ciphertext=credentials_ciphertext,
        api_version_from=now + PIN_NOTICE,
        now=now,
    )


async def rotate_secret(
    tx: TenantTx, webhook_id: WebhookId, sealed: bytes, *, until: datetime | None, now: datetime
) -> None:
    """Sign with another secret, and until then with the one before as well."""
    await tx.execute(
        QUERIES.rotate_secret,
        id=webhook_id,
        signing_secret_ciphertext=sealed,
        overlaps=until is not None,
        until=until,
        now=now,
    )


async def set_status(tx: TenantTx, webhook_id: WebhookId, status: WebhookStatus, *, now: datetime) -> None:
    """Open it or pause it, under its lock."""
    await tx.execute(QUERIES.set_status, id=webhook_id, status=status, now=now)


async def delete_webhook(tx: TenantTx, webhook_id: WebhookId) -> None:
    """It is told nothing more."""
    await tx.execute(QUERIES.delete_webhook, id=webhook_id)


async def load_filters(
    tx: TenantTx | TenantsTx, tenant_ids: Sequence[TenantId]
) -> dict[TenantId, list[WebhookFilter]]:
    """What the webhooks of these tenants want."""
    found: dict[TenantId, list[WebhookFilter]] = {tenant_id: [] for tenant_id in tenant_ids}
    for row in await tx.fetch(QUERIES.load_filters, tenant_ids=list(tenant_ids)):
        found[row["tenant_id"]].append(_filter(row))
    return found


def _written(settings: WebhookSettings) -> dict[str, object]:
    """What has another form in its column."""
    return {
        "event_types": list(settings.event_types),
        "header_names": list(settings.header_names),
        "credentials_shown": _json(settings.credentials_shown),
        "transform": _json(settings.transform),
    }


def _json(value: object) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()
