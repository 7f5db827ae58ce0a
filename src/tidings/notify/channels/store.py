"""The only Python here that runs SQL on channels and their credentials."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from tidings.contracts.tenants import Channel
from tidings.kernel.db import Row, TenantTx, WorkerTx
from tidings.kernel.sql import Queries
from tidings.notify.channels.model import (
    Branding,
    ChannelConfig,
    Credential,
    CredentialStatus,
    RateLimit,
    Sender,
    VendorHealth,
)
from tidings.notify.ids import ChannelCredentialId, ChannelId

QUERIES = Queries.beside(__file__)

#: Begins a transaction of the tenant: for those who must have none open while they ask somebody else.
Begin: TypeAlias = Callable[[], AbstractAsyncContextManager[TenantTx]]


# Rows were checked when they were written, and may have been written by newer code: read leniently.
class _StoredSender(Sender, frozen=True, kw_only=True, forbid_unknown_fields=False):
    from_address: str | None = None
    from_name: str | None = None
    reply_to: str | None = None
    dkim_selector: str | None = None
    sender_id: str | None = None


class _StoredBranding(Branding, frozen=True, kw_only=True, forbid_unknown_fields=False):
    product_name: str | None = None
    primary_colour: str | None = None
    logo_url: str | None = None
    support_url: str | None = None


class _StoredLimit(RateLimit, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


_read_sender = msgspec.json.Decoder(_StoredSender).decode
_read_branding = msgspec.json.Decoder(_StoredBranding).decode
_read_limit = msgspec.json.Decoder(_StoredLimit).decode
_read_health = msgspec.json.Decoder(dict[str, VendorHealth]).decode
#: Nothing is wrong with any vendor: the usual.
_WELL = "{}"


async def find_channels(tx: TenantTx, *, channels: Sequence[str] | None = None) -> list[ChannelConfig]:
    """The tenant's channels, or those of them that are asked for."""
    rows = await tx.fetch(
        QUERIES.find_channels,
        tenant_id=tx.tenant_id,
        channels=None if channels is None else list(channels),
    )
    return [from_row(row) for row in rows]


async def lock_channel(tx: TenantTx, *, channel: Channel) -> ChannelConfig | None:
    """The channel, locked until the end of the transaction."""
    row = await tx.fetch_one(QUERIES.lock_channel, tenant_id=tx.tenant_id, channel=channel)
    return from_row(row) if row else None


async def insert_channel(tx: TenantTx, config: ChannelConfig) -> bool:
    """Whether it is new; False where somebody else made it in the meantime."""
    written = await tx.execute(
        QUERIES.insert_channel, **_columns(tx, config), channel=config.channel, now=config.updated_at
    )
    return written == 1


async def update_channel(tx: TenantTx, config: ChannelConfig) -> None:
    """Write it whole."""
    await tx.execute(
        QUERIES.update_channel, **_columns(tx, config), version=config.version, now=config.updated_at
    )


async def find_credentials(tx: TenantTx, *, channel_ids: Sequence[ChannelId]) -> list[Credential]:
    """The channels' credentials, the newest first."""
    rows = await tx.fetch(QUERIES.find_credentials, tenant_id=tx.tenant_id, channel_ids=list(channel_ids))
    return [
        Credential(
            id=ChannelCredentialId(row["id"]),
            channel_id=ChannelId(row["channel_id"]),
            vendor=row["vendor"],
            secret_ref=row["secret_ref"],
            status=row["status"],
            rotated_at=row["rotated_at"],
            revoked_at=row["revoked_at"],
        )
        for row in rows
    ]


async def end_credentials(
    tx: TenantTx, ended: Sequence[tuple[ChannelCredentialId, CredentialStatus]], *, now: datetime
) -> int:
    """They are in use no longer."""
    return await tx.execute(
        QUERIES.end_credentials,
        tenant_id=tx.tenant_id,
        now=now,
        ids=[credential_id for credential_id, _ in ended],
        statuses=[status for _, status in ended],
    )


async def insert_credentials(
    tx: TenantTx, fresh: Sequence[tuple[ChannelCredentialId, ChannelId, str, str]], *, now: datetime
) -> int:
    """New ones: id, channel, vendor, reference."""
    return await tx.execute(
        QUERIES.insert_credentials,
        tenant_id=tx.tenant_id,
        now=now,
        ids=[credential_id for credential_id, _, _, _ in fresh],
        channel_ids=[channel_id for _, channel_id, _, _ in fresh],
        vendors=[vendor for _, _, vendor, _ in fresh],
        secret_refs=[secret_ref for _, _, _, secret_ref in fresh],
    )


async def lock_channels_of_vendor(tx: TenantTx, *, vendor: str) -> list[ChannelConfig]:
    """All channels that are sent through this vendor, locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_channels_of_vendor, tenant_id=tx.tenant_id, vendor=vendor)
    return [from_row(row) for row in rows]


async def touch_channels(tx: TenantTx, *, ids: Sequence[ChannelId], now: datetime) -> int:
    """Give them a new version."""
    return await tx.execute(QUERIES.touch_channels, tenant_id=tx.tenant_id, ids=list(ids), now=now)


async def revoke_superseded(tx: WorkerTx, *, before: datetime, now: datetime, limit: int) -> int:
    """Those that were superseded before that moment count as revoked; how many."""
    return await tx.execute(QUERIES.revoke_superseded, before=before, now=now, limit=limit)


def _columns(tx: TenantTx, config: ChannelConfig) -> dict[str, Any]:
    return {
        "tenant_id": tx.tenant_id,
        "id": config.id,
        "vendor": config.vendor,
        "fallback_vendor": config.fallback_vendor,
        "sender": _json(config.sender),
        "branding": None if config.branding is None else _json(config.branding),
        "rate_limit": _json(config.rate_limit),
        "status": config.status,
        "health": _json(config.health),
    }


def from_row(row: Row) -> ChannelConfig:
    """A channel as the database gives it."""
    branding = row["branding_overrides"]
    return ChannelConfig(
        id=ChannelId(row["id"]),
        channel=row["channel"],
        vendor=row["vendor"],
        fallback_vendor=row["fallback_vendor"],
        sender=_read_sender(row["sender"]),
        branding=None if branding is None else _read_branding(branding),
        rate_limit=_read_limit(row["rate_limit"]),
        status=row["status"],
        version=row["version"],
        updated_at=row["updated_at"],
        health=_read_health(row["health"]) if row["health"] != _WELL else {},
    )


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
