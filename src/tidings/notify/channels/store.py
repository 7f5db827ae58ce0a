"""The only Python here that runs SQL on channels and their credentials."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, TypeAlias

import msgspec

from tidings.contracts.inbox import IN_APP
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper, optional, tuple_columns
from tidings.kernel.sql import Queries, json_text
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

#: Begins a transaction of the tenant: for callers that must have none open while they ask a vendor.
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
    rows = await tx.fetch(QUERIES.find_channels, channels=None if channels is None else list(channels))
    return [from_row(row) for row in rows]


async def lock_channel(tx: TenantTx, *, channel: Channel) -> ChannelConfig | None:
    """The channel, locked until the end of the transaction."""
    row = await tx.fetch_one(QUERIES.lock_channel, channel=channel)
    return from_row(row) if row else None


async def insert_channel(tx: TenantTx, config: ChannelConfig) -> bool:
    """Whether it is new; False where another request made it in the meantime."""
    return await tx.execute(QUERIES.insert_channel, config, **_columns(config)) == 1


async def update_channel(tx: TenantTx, config: ChannelConfig) -> None:
    """Write it whole."""
    await tx.execute(QUERIES.update_channel, config, **_columns(config))


async def find_credentials(tx: TenantTx, *, channel_ids: Sequence[ChannelId]) -> list[Credential]:
    """The channels' credentials, the newest first."""
    rows = await tx.fetch(QUERIES.find_credentials, channel_ids=list(channel_ids))
    return [_credential(row) for row in rows]


async def end_credentials(
    tx: TenantTx, ended: Sequence[tuple[ChannelCredentialId, CredentialStatus]], *, now: datetime
) -> int:
    """They are in use no longer."""
    return await tx.execute(QUERIES.end_credentials, now=now, **tuple_columns(ended, "ids statuses"))


async def insert_credentials(
    tx: TenantTx, fresh: Sequence[tuple[ChannelCredentialId, ChannelId, str, str]], *, now: datetime
) -> int:
    """New ones: id, channel, vendor, reference."""
    return await tx.execute(
        QUERIES.insert_credentials, now=now, **tuple_columns(fresh, "ids channel_ids vendors secret_refs")
    )


async def lock_channels_of_vendor(tx: TenantTx, *, vendor: str) -> list[ChannelConfig]:
    """All channels that are sent through this vendor, locked until the end of the transaction."""
    rows = await tx.fetch(QUERIES.lock_channels_of_vendor, vendor=vendor)
    return [from_row(row) for row in rows]


async def touch_channels(tx: TenantTx, *, ids: Sequence[ChannelId], now: datetime) -> int:
    """Give them a new version."""
    return await tx.execute(QUERIES.touch_channels, ids=list(ids), now=now)


async def revoke_superseded(tx: WorkerTx, *, before: datetime, now: datetime, limit: int) -> int:
    """Those that were superseded before that moment count as revoked; how many."""
    return await tx.execute(QUERIES.revoke_superseded, before=before, now=now, limit=limit)


def _columns(config: ChannelConfig) -> dict[str, Any]:
    return {
        "sender": json_text(config.sender),
        "branding": None if config.branding is None else json_text(config.branding),
        "rate_limit": json_text(config.rate_limit),
        "health": json_text(config.health),
        "now": config.updated_at,
    }


class StoredChannelsSetUp:
    """The contract's `ChannelsSetUp`: the channels that a tenant can send over."""

    async def of(self, tx: TenantTx) -> frozenset[str]:
        """Those that the tenant has set up and not switched off; the in-app inbox needs no setting up."""
        found = await find_channels(tx)
        off = {one.channel for one in found if one.status == "disabled"}
        return frozenset({IN_APP, *(one.channel for one in found)} - off)


_credential = RowMapper(Credential, [QUERIES.find_credentials])
#: A channel as the database gives it.
from_row = RowMapper(
    ChannelConfig,
    [QUERIES.find_channels, QUERIES.lock_channel, QUERIES.lock_channels_of_vendor],
    columns={"branding": "branding_overrides"},
    read={
        "sender": _read_sender,
        "branding": optional(_read_branding),
        "rate_limit": _read_limit,
        "health": lambda text: _read_health(text) if text != _WELL else {},
    },
)
