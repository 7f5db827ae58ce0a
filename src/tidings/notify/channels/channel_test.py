"""Sends one message through a channel as it is set up, to see what the vendor says."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, cast

from tidings.contracts.addresses import NormalisedAddress, normalise
from tidings.contracts.channel_configs import SharedAccounts, TestSend, VendorProbe
from tidings.contracts.ids import NOTIFICATION
from tidings.contracts.inbox import IN_APP
from tidings.contracts.messages import Address, OutboundMessage
from tidings.contracts.tenants import Channel, NotificationPolicy
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.hot_state import Limits, Take
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.keys.pepper import Pepper
from tidings.kernel.keys.platform_pepper import PlatformPepper
from tidings.kernel.limit_windows import SlidingWindow
from tidings.notify.channels import store
from tidings.notify.channels.errors import (
    AddressHeldError,
    SenderUnauthorisedError,
    TooManyTestsError,
    UnknownChannelError,
)
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.senders import authorised, grants_on, shown_on
from tidings.notify.channels.store import Begin
from tidings.notify.suppressions import store as suppression_store
from tidings.notify.suppressions.model import SuppressionQuestion, domain_hash_of, mail_domain_of
from tidings.notify.tenants import store as tenant_store

#: Tests of one channel of one tenant.
LIMIT: Final = SlidingWindow(limit=20, window=timedelta(hours=1))
#: Checks of a sender's domain: each makes us ask name servers of the tenant's choice.
ROTATE_LIMIT: Final = SlidingWindow(limit=30, window=timedelta(hours=1))
DNS_LIMIT: Final = SlidingWindow(limit=60, window=timedelta(hours=1))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTestRequest:
    """A test message that an operator asks for."""

    __test__ = False

    channel: Channel
    to: str = field(repr=False)
    #: One of the channel's two; None for the first.
    vendor: str | None
    #: Asked for with a key of the test environment: it never reaches a vendor.
    is_test: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChannelTester:
    """Sends tests; limited, in the audit before they go out, and never to an address that is suppressed."""

    desk: VendorProbe
    accounts: SharedAccounts
    limits: Limits
    platform_pepper: PlatformPepper
    keyring: Keyring
    audit: AuditLog
    clock: Clock

    async def test(
        self, tenant_id: TenantId, begin: Begin, request: ChannelTestRequest, *, actor: str
    ) -> TestSend:
        """What the vendor said; no transaction is open while it is asked."""
        if request.channel == IN_APP:
            raise BadValueError(
                "channel",
                "has no addresses to try; send a notification with a test key, it comes to the test inbox",
            )
        to = normalise(request.channel, request.to, field="to")
        platform_pepper = await self.platform_pepper.get()
        async with begin() as tx:
            config, vendor, policy = await self._allowed(tx, request)
            await self._not_held(tx, platform_pepper, request.channel, to)
        await self._take(tenant_id, Take(key=f"channel_test:{request.channel}", limit=LIMIT))
        entry = Entry(
            entity_type="channel",
            entity_id=config.id,
            action="test_sent",
            actor=actor,
            after={"channel": request.channel, "vendor": vendor},
        )
        async with begin() as tx:
            await self.audit.append(tx, [entry])
        message = self._message(tenant_id, config, to, vendor, grants=grants_on(request.channel, policy))
        return await self.desk.try_out(tenant_id, vendor, message, is_test=request.is_test)

    async def admit_dns(self, tenant_id: TenantId) -> None:
        """Count one check of the sender's domain; a `TooManyTestsError` where there were too many."""
        await self._take(tenant_id, Take(key="channel_dns", limit=DNS_LIMIT))

    async def admit_rotation(self, tenant_id: TenantId) -> None:
        """Count one look at new credentials, which makes us call a host of the tenant's choice."""
        await self._take(tenant_id, Take(key="channel_rotate", limit=ROTATE_LIMIT))

    async def _take(self, tenant_id: TenantId, wanted: Take) -> None:
        (taken,) = await self.limits.take(tenant_id, [[wanted]])
        if not taken.granted:
            raise TooManyTestsError

    async def _allowed(
        self, tx: TenantTx, request: ChannelTestRequest
    ) -> tuple[ChannelConfig, str, NotificationPolicy]:
        """The channel, the vendor that the test goes to, and the policy with the tenant's grants."""
        found = await store.find_channels(tx, channels=[request.channel])
        if not found:
            raise UnknownChannelError(f"the channel {request.channel} is not set up here; PUT it first")
        tenant = await tenant_store.find_tenant(tx, tenant_id=tx.tenant_id)
        policy = tenant.notification_policy if tenant else NotificationPolicy()
        config = found[0]
        vendor = request.vendor or config.vendor
        if vendor not in config.vendors:
            raise BadValueError("vendor", f"must be one of the channel's: {', '.join(config.vendors)}")
        shared = (await self.accounts.shared_by(tx, [tx.tenant_id]))[tx.tenant_id]
        shown = shown_on(request.channel, config.sender)
        if not authorised(request.channel, shown, policy, vendor=vendor, shared=shared):
            raise SenderUnauthorisedError
        return config, vendor, policy

    async def _not_held(
        self, tx: TenantTx, platform_pepper: Pepper, channel: Channel, to: NormalisedAddress
    ) -> None:
        pepper = await self.keyring.pepper(tx)
        question = SuppressionQuestion(
            tenant_id=tx.tenant_id,
            channel=channel,
            address_hash=pepper.hash(to),
            platform_hash=platform_pepper.hash(to),
            mail_domain=mail_domain_of(channel, to),
            domain_hash=domain_hash_of(channel, to, pepper),
        )
        standing = await suppression_store.find_held(tx, [question], now=self.clock.now())
        if standing.held:
            raise AddressHeldError

    def _message(
        self,
        tenant_id: TenantId,
        config: ChannelConfig,
        to: NormalisedAddress,
        vendor: str,
        *,
        grants: tuple[str, ...],
    ) -> OutboundMessage:
        now = self.clock.now()
        sender = config.sender
        shown = sender.from_address if config.channel == "email" else sender.sender_id
        return OutboundMessage(
            message_id=NOTIFICATION.new(now),
            tenant_id=tenant_id,
            channel=config.channel,
            sender=Address(value=shown or "", name=sender.from_name),
            grants=grants,
            to=cast("str", to),
            reply_to=Address(value=sender.reply_to) if sender.reply_to else None,
            subject=f"Test of {config.channel}",
            text=f"This is a test of {config.channel} through {vendor}, sent at {now:%Y-%m-%d %H:%M} UTC.\n"
            "Somebody who sets it up asked for it. There is nothing to do.",
        )
