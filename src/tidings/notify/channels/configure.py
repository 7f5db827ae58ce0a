"""Sets a channel up: notify keeps the intent, the router gets the means by a command, in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import msgspec

from tidings.contracts.channel_configs import Account, ChannelConfigs, ConfigureAccount
from tidings.contracts.inbox import IN_APP
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import attributes, by_name
from tidings.kernel.refusals import FieldError, InvalidError, StaleVersionError
from tidings.notify.channels import store
from tidings.notify.channels.model import (
    Branding,
    ChannelConfig,
    Credential,
    CredentialStatus,
    RateLimit,
    Sender,
    VendorHealth,
    status_with,
    vendors_wrong,
)
from tidings.notify.channels.senders import sender_wrong
from tidings.notify.ids import CHANNEL, CHANNEL_CREDENTIAL, ChannelId
from tidings.notify.tenants import store as tenant_store


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSpec:
    """A tenant's own account with a vendor."""

    secret_ref: str
    handle: str | None = None
    per_second: int | None = None
    per_day: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelSpec:
    """A channel as an operator wants it, whole."""

    channel: Channel
    vendor: str
    fallback_vendor: str | None
    sender: Sender
    branding: Branding | None
    rate_limit: RateLimit
    status: Literal["active", "disabled"]
    #: By vendor; one that is not named keeps what it has.
    accounts: Mapping[str, AccountSpec]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredChannel:
    """A channel with what it is sent through."""

    config: ChannelConfig
    credentials: tuple[Credential, ...]
    #: By vendor; a vendor without one can't send.
    accounts: Mapping[str, Account]
    created: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChannelConfigurer:
    """Writes channels."""

    router: ChannelConfigs
    audit: AuditLog
    clock: Clock

    async def configure(
        self, tx: TenantTx, spec: ChannelSpec, *, expect: Callable[[ChannelConfig | None], None], actor: str
    ) -> ConfiguredChannel:
        """The channel after the spec; `expect` refuses a version that is not the caller's."""
        before = await store.lock_channel(tx, channel=spec.channel)
        expect(before)
        await self._check(tx, spec)
        after = await self._write(tx, before, spec)
        credentials = await store.find_credentials(tx, channel_ids=[after.id])
        rotated = await self._rotate(tx, after, spec, credentials)
        if spec.accounts:
            commands = [
                ConfigureAccount(
                    vendor=vendor,
                    **attributes(a, "secret_ref handle per_second per_day"),
                    # Who names it has maybe changed what it leads to: every process reads it now.
                    renew=True,
                )
                for vendor, a in spec.accounts.items()
            ]
            await self.router.configure(tx, commands, actor=actor)
        accounts = await self.router.accounts(tx, after.vendors)
        # The inbox is the system's own, and needs none.
        missing = [v for v in after.vendors if v not in accounts and v != IN_APP]
        if missing:
            raise InvalidError(
                [
                    FieldError(f"accounts.{v}", "is required: the platform has no account with this vendor")
                    for v in missing
                ]
            )
        if before is None or rotated or not _same(after, before):
            entry = Entry(
                entity_type="channel",
                entity_id=after.id,
                action="updated" if before else "created",
                actor=actor,
                before=_told(before) if before else None,
                after={**_told(after), "rotated_vendors": sorted(rotated)},
            )
            await self.audit.append(tx, [entry])
        if rotated:
            credentials = await store.find_credentials(tx, channel_ids=[after.id])
        return ConfiguredChannel(
            config=after, credentials=tuple(credentials), accounts=accounts, created=before is None
        )

    async def show(self, tx: TenantTx, channels: Sequence[Channel] | None = None) -> list[ConfiguredChannel]:
        """The tenant's channels as they are."""
        found = await store.find_channels(tx, channels=channels)
        if not found:
            return []
        credentials = await store.find_credentials(tx, channel_ids=[c.id for c in found])
        accounts = await self.router.accounts(tx, sorted({v for c in found for v in c.vendors}))
        return [
            ConfiguredChannel(
                config=config,
                credentials=tuple(c for c in credentials if c.channel_id == config.id),
                accounts={v: accounts[v] for v in config.vendors if v in accounts},
            )
            for config in found
        ]

    async def _check(self, tx: TenantTx, spec: ChannelSpec) -> None:
        tenant = await tenant_store.find_tenant(tx, tenant_id=tx.tenant_id)
        policy = tenant.notification_policy if tenant else NotificationPolicy()
        wrong = vendors_wrong(spec.channel, spec.vendor, spec.fallback_vendor, self.router.vendors())
        vendors = [spec.vendor, *([spec.fallback_vendor] if spec.fallback_vendor else [])]
        known = await self.router.accounts(tx, [vendor for vendor in vendors if vendor not in spec.accounts])
        wrong += sender_wrong(
            spec.channel,
            spec.sender,
            policy,
            vendors=vendors,
            shared=shared_of(known),
            tenant_id=tx.tenant_id,
        )
        wrong += [
            FieldError(f"accounts.{vendor}", "must be the account of vendor or fallback_vendor")
            for vendor in spec.accounts
            if vendor not in (spec.vendor, spec.fallback_vendor)
        ]
        if IN_APP in spec.accounts:
            wrong.append(
                FieldError(f"accounts.{IN_APP}", "is not needed: the inbox is the system's own; leave it out")
            )
        if wrong:
            raise InvalidError(wrong)

    async def _write(self, tx: TenantTx, before: ChannelConfig | None, spec: ChannelSpec) -> ChannelConfig:
        now = self.clock.now()
        if before is None:
            channel_id = CHANNEL.new(now)
            fresh = _config(channel_id, spec, {}, version=1, now=now)
            if not await store.insert_channel(tx, fresh):
                raise StaleVersionError
            return fresh
        # What is known of a vendor is known of the account before this one.
        known = {
            vendor: one
            for vendor, one in before.health.items()
            if vendor in (spec.vendor, spec.fallback_vendor) and vendor not in spec.accounts
        }
        after = _config(before.id, spec, known, version=before.version, now=before.updated_at)
        if _same(after, before) and not spec.accounts:
            return before
        after = replace(after, version=before.version + 1, updated_at=now)
        await store.update_channel(tx, after)
        return after

    async def _rotate(
        self, tx: TenantTx, config: ChannelConfig, spec: ChannelSpec, credentials: Sequence[Credential]
    ) -> set[str]:
        """Write which references are active, superseded or revoked; the vendors whose changed."""
        active = {c.vendor: c for c in credentials if c.status == "active"}
        ended: list[tuple[Credential, CredentialStatus]] = [
            (c, "revoked") for vendor, c in active.items() if vendor not in config.vendors
        ]
        changed = {
            vendor: account.secret_ref
            for vendor, account in spec.accounts.items()
            if vendor not in active or active[vendor].secret_ref != account.secret_ref
        }
        ended += [(active[vendor], "superseded") for vendor in changed if vendor in active]
        now = self.clock.now()
        if ended:
            await store.end_credentials(tx, [(c.id, status) for c, status in ended], now=now)
        if changed:
            fresh = [(CHANNEL_CREDENTIAL.new(now), config.id, vendor, ref) for vendor, ref in changed.items()]
            await store.insert_credentials(tx, fresh, now=now)
        return set(changed) | {c.vendor for c, _ in ended}


def shared_of(accounts: Mapping[str, Account]) -> dict[str, str | None]:
    """The handles of those that are the platform's, by vendor."""
    return {vendor: account.handle for vendor, account in accounts.items() if account.platform}


def _config(
    channel_id: ChannelId,
    spec: ChannelSpec,
    health: Mapping[str, VendorHealth],
    *,
    version: int,
    now: datetime,
) -> ChannelConfig:
    vendors = (spec.vendor, spec.fallback_vendor) if spec.fallback_vendor else (spec.vendor,)
    return by_name(
        ChannelConfig,
        spec,
        id=channel_id,
        status=status_with(spec.status, vendors, health),
        version=version,
        updated_at=now,
        health=health,
    )


def _same(one: ChannelConfig, other: ChannelConfig) -> bool:
    # By their text: what was read from a row is of a type that forgives unknown fields.
    return msgspec.json.encode(one, order="deterministic") == msgspec.json.encode(
        other, order="deterministic"
    )


def _told(config: ChannelConfig) -> dict[str, object]:
    return {
        "channel": config.channel,
        "vendor": config.vendor,
        "fallback_vendor": config.fallback_vendor,
        "rate_limit": config.rate_limit,
        "status": config.status,
        "version": config.version,
    }
