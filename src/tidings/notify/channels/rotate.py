"""Puts a new credential in the place of the one in use, without a send in between failing.

Before: its adapter has to be able to read it, and the vendor is asked whether it takes it. Then, in one transaction, the new one is active and the one
before it superseded. Whatever is under way ends with the old one; what begins a second later goes with the new one.
After a grace the old one is revoked: it may be deleted at the vendor.
"""

from dataclasses import dataclass
from datetime import timedelta

from tidings.contracts.channel_configs import ChannelConfigs, ConfigureAccount, CredentialCheck, VendorProbe
from tidings.contracts.channels import CredentialRotated
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.events import new_event
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.notify.channels import store
from tidings.notify.channels.account_validator import Reference, refuse_unreadable
from tidings.notify.channels.errors import (
    CredentialRefusedError,
    NoOwnAccountError,
    UnknownChannelError,
    VendorNotReachedError,
)
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.store import Begin
from tidings.notify.ids import CHANNEL_CREDENTIAL


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationRequest:
    """A new credential for an account of the tenant's own."""

    channel: Channel
    #: One of the channel's two; None for the first.
    vendor: str | None
    #: The same reference again: its content is another, and every process reads it now.
    secret_ref: str
    #: Whether the vendor is asked first.
    check: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationResult:
    """What came of it."""

    vendor: str
    #: What the vendor said before; None where it was not to be asked.
    checked: CredentialCheck | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CredentialRotator:
    """Rotates the credentials of tenants' own accounts."""

    router: ChannelConfigs
    desk: VendorProbe
    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def rotate(self, begin: Begin, request: RotationRequest, *, actor: str) -> RotationResult:
        """Ask, then change; no transaction is open while a vendor is asked."""
        async with begin() as tx:
            tenant_id = tx.tenant_id
            vendor = self._vendor(await store.find_channels(tx, channels=[request.channel]), request)
            await self._own_account(tx, vendor)
        reference = Reference(field="secret_ref", vendor=vendor, secret_ref=request.secret_ref)
        await refuse_unreadable(self.desk, tenant_id, [reference])
        checked = await self._ask(tenant_id, vendor, request) if request.check else None
        async with begin() as tx:
            await self._change(tx, request, vendor, actor)
        return RotationResult(vendor=vendor, checked=checked)

    def _vendor(self, found: list[ChannelConfig], request: RotationRequest) -> str:
        config = next((c for c in found if c.channel == request.channel), None)
        if config is None:
            raise UnknownChannelError(f"the channel {request.channel} is not set up here; PUT it first")
        vendor = request.vendor or config.vendor
        if vendor not in config.vendors:
            raise BadValueError("vendor", f"must be one of the channel's: {', '.join(config.vendors)}")
        return vendor

    async def _own_account(self, tx: TenantTx, vendor: str) -> None:
        account = (await self.router.accounts(tx, [vendor])).get(vendor)
        if account is None or account.platform:
            raise NoOwnAccountError

    async def _ask(self, tenant_id: TenantId, vendor: str, request: RotationRequest) -> CredentialCheck:
        checked = await self.desk.check(tenant_id, vendor, request.secret_ref)
        said = f"{checked.reason} ({checked.code})" if checked.code else checked.reason
        if checked.result in {"refused", "unusable"}:
            raise CredentialRefusedError(
                f"the new credential is not usable, and the one before it stays in use: {said}"
            )
        if checked.result == "not_reached":
            raise VendorNotReachedError(
                f"the vendor could not be asked about the new credential: {said}; "
                'try again, or leave the check out with "check": false'
            )
        return checked

    async def _change(self, tx: TenantTx, request: RotationRequest, vendor: str, actor: str) -> None:
        channels = await store.lock_channels_of_vendor(tx, vendor=vendor)
        # Another request may have changed the channel while the vendor was asked.
        self._vendor(channels, request)
        await self._own_account(tx, vendor)
        ids = [config.id for config in channels]
        known = await store.find_credentials(tx, channel_ids=ids)
        active = {c.channel_id: c for c in known if c.status == "active" and c.vendor == vendor}
        changed = [i for i in ids if i not in active or active[i].secret_ref != request.secret_ref]
        now = self.clock.now()
        if changed:
            ended = [active[i].id for i in changed if i in active]
            await store.end_credentials(tx, [(one, "superseded") for one in ended], now=now)
            fresh = [(CHANNEL_CREDENTIAL.new(now), i, vendor, request.secret_ref) for i in changed]
            await store.insert_credentials(tx, fresh, now=now)
            await store.touch_channels(tx, ids=changed, now=now)
        command = ConfigureAccount(vendor=vendor, secret_ref=request.secret_ref, renew=True)
        await self.router.configure(tx, [command], actor=actor)
        await self._tell(tx, channels, vendor, same=not changed, actor=actor)

    async def _tell(
        self, tx: TenantTx, channels: list[ChannelConfig], vendor: str, *, same: bool, actor: str
    ) -> None:
        names = tuple(config.channel for config in channels)
        event = new_event(
            "channel.credential_rotated.v1",
            CredentialRotated(vendor=vendor, channels=names),
            tenant_id=tx.tenant_id,
            ordering_key=f"vendor:{vendor}",
            source=NOTIFY_SOURCE,
            clock=self.clock,
        )
        await self.outbox.append(tx, [event])
        entries = [
            Entry(
                entity_type="channel",
                entity_id=config.id,
                action="credential_rotated",
                actor=actor,
                after={"channel": config.channel, "vendor": vendor, "same_reference": same},
            )
            for config in channels
        ]
        await self.audit.append(tx, entries)


async def revoke_superseded(db: Database, clock: Clock, *, grace: timedelta, limit: int) -> int:
    """Those that nothing can be under way with any more; how many."""
    now = clock.now()
    async with db.worker() as tx:
        return await store.revoke_superseded(tx, before=now - grace, now=now, limit=limit)
