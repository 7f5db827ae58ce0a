"""Operations on a tenant's channels."""

from typing import Annotated

from tidings.contracts.channel_configs import ChannelConfigs, VendorProbe
from tidings.contracts.channels import channel_named
from tidings.contracts.tenants import Channel
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.dns import Resolver
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx, Parsed
from tidings.kernel.http.resources import Resource
from tidings.kernel.ids import TenantId
from tidings.notify.channels.account_validator import refuse_unreadable_spec
from tidings.notify.channels.channel_test import ChannelTester, ChannelTestRequest
from tidings.notify.channels.configure import ChannelConfigurer, ConfiguredChannel
from tidings.notify.channels.dns_check.advice import with_advice
from tidings.notify.channels.dns_check.check import check_domain
from tidings.notify.channels.dns_check.model import worst
from tidings.notify.channels.errors import UnknownChannelError
from tidings.notify.channels.rotate import CredentialRotator, RotationRequest
from tidings.notify.channels.wire import (
    ChannelList,
    ChannelView,
    CheckView,
    DnsView,
    PutChannel,
    RotateCredential,
    RotationView,
    TestChannel,
    TestView,
)

channels = Resource("channels", at="/channels", tag="channels", scope="channels")


_Channel = Annotated[Channel, Parsed(channel_named)]


@channels.get()
async def list_channels(tx: TenantTx, configurer: ChannelConfigurer) -> ChannelList:
    """List the channels that are set up."""
    return ChannelList(items=[ChannelView.of(channel) for channel in await configurer.show(tx)])


@channels.get("/{channel}", problems=["channel_not_found"])
async def show_channel(tx: TenantTx, channel: _Channel, configurer: ChannelConfigurer) -> Answer[ChannelView]:
    """Show how you appear on a channel, and through which vendors."""
    return _shown(await _known(tx, channel, configurer))


@channels.put(
    "/{channel}",
    if_match="where_there",
    attested="credential.change",
    attested_when=lambda body: bool(body.accounts),
    problems=["secrets_unavailable"],
)
async def put_channel(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    channel: _Channel,
    body: PutChannel,
    if_match: IfMatch,
    caller: Caller,
    configurer: ChannelConfigurer,
    desk: VendorProbe,
    configs: ChannelConfigs,
) -> Answer[ChannelView]:
    """Set a channel up, or change it; a change names the version it is made from by If-Match.

    Vendor, fallback vendor, sender, branding, limits and the references of your own accounts. A new reference
    supersedes the one before it; a vendor that is no longer named loses its own. What a reference leads to must be
    what the vendor's adapter reads: errors name `accounts.<vendor>.secret_ref.<setting>`, and never a value.
    """
    spec = body.spec(channel)
    await refuse_unreadable_spec(desk, tenant_id, spec, adapters=configs.vendors())
    nothing = "the channel is not set up here, so there is no version to change from"
    async with open_tx() as tx:
        done = await configurer.configure(
            tx,
            spec,
            expect=lambda known: if_match.expect(known.version if known else None, nothing=nothing),
            actor=caller.actor,
        )
    return _shown(done)


@channels.post(
    "/{channel}/credentials/rotate",
    verb="rotate",
    attested="credential.change",
    problems=[
        "too_many_tests",
        "channel_not_found",
        "no_own_account",
        "credential_refused",
        "secrets_unavailable",
        "vendor_not_reached",
    ],
)
async def rotate_credential(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    channel: _Channel,
    body: RotateCredential,
    caller: Caller,
    tester: ChannelTester,
    rotator: CredentialRotator,
    configurer: ChannelConfigurer,
) -> RotationView:
    """Put a new credential in the place of the one in use; no send in between fails.

    The vendor is asked first. What is under way ends with the old credential, what begins later goes with the new
    one; the old one is `superseded`, and `revoked` when it may be deleted at the vendor. Every channel that is sent
    through the same account changes with it.
    """
    if body.check:
        await tester.admit_rotation(tenant_id)
    spec = RotationRequest(channel=channel, vendor=body.vendor, secret_ref=body.secret_ref, check=body.check)
    done = await rotator.rotate(open_tx, spec, actor=caller.actor)
    async with open_tx() as tx:
        shown = ChannelView.of(await _known(tx, channel, configurer))
    return RotationView(vendor=done.vendor, check=CheckView.of(done.checked), channel=shown)


@channels.post(
    "/{channel}/test",
    test_keys=True,
    problems=["channel_not_found", "sender_unauthorised", "address_suppressed", "too_many_tests"],
)
async def test_channel(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    channel: _Channel,
    body: TestChannel,
    caller: Caller,
    tester: ChannelTester,
) -> TestView:
    """Send one message through the channel as it is set up, and say what the vendor said.

    It goes through the real adapter with the real sender, once, and is no notification: there is nothing to explain
    or to cancel. Suppressed addresses are refused. At most 20 in an hour for each channel.
    """
    is_test = caller.environment == "test"
    spec = ChannelTestRequest(channel=channel, to=body.to, vendor=body.vendor, is_test=is_test)
    return TestView.of(await tester.test(tenant_id, open_tx, spec, actor=caller.actor))


@channels.get("/{channel}/dns", problems=["channel_not_found", "too_many_tests"])
async def check_dns(
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    channel: _Channel,
    configurer: ChannelConfigurer,
    tester: ChannelTester,
    resolver: Resolver,
    clock: Clock,
) -> DnsView:
    """Check SPF, DKIM, DMARC and MX of the sender's domain, with advice in words.

    Asked of the name servers at every call, at most 60 times in an hour. For e-mail only: other channels have no
    domain.
    """
    if channel != "email":
        raise BadValueError("channel", "must be email: other channels have no domain to check")
    async with open_tx() as tx:
        config = (await _known(tx, channel, configurer)).config
    sender = config.sender
    domain = (sender.from_address or "").rpartition("@")[2].lower()
    if not domain:
        raise BadValueError(
            "sender.from_address", "is needed: PUT the channel with the address that mail comes from"
        )
    await tester.admit_dns(tenant_id)
    found = await check_domain(resolver, domain, dkim_selector=sender.dkim_selector)
    checks = with_advice(found, domain, dkim_selector=sender.dkim_selector, vendors=config.vendors)
    return DnsView(
        domain=domain,
        dkim_selector=sender.dkim_selector,
        status=worst(checks),
        checks=checks,
        checked_at=clock.now(),
    )


async def _known(tx: TenantTx, channel: Channel, configurer: ChannelConfigurer) -> ConfiguredChannel:
    known = await configurer.show(tx, [channel])
    if not known:
        raise UnknownChannelError(f"the channel {channel} is not set up here; PUT it first")
    return known[0]


def _shown(channel: ConfiguredChannel) -> Answer[ChannelView]:
    return Answer(ChannelView.of(channel), version=channel.config.version)
