"""What HTTP calls about channels."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, get, post, put

from tidings.contracts.tenants import Channel
from tidings.contracts.words import CHANNELS
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_nothing, expect_version
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.notify.channels.configure import ChannelConfigurer, ConfiguredChannel
from tidings.notify.channels.deps import Deps
from tidings.notify.channels.dns_check.check import check_domain
from tidings.notify.channels.dns_check.model import worst
from tidings.notify.channels.errors import UnknownChannelError
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.readable import refuse_unreadable_wish
from tidings.notify.channels.rotate import CredentialRotator, RotationWish
from tidings.notify.channels.try_out import TestWish
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

_TAG = "channels"

AnyRequest = Request[Any, Any, Any]


@get(
    "/",
    **operation(
        summary="List the channels that are set up.",
        tag=_TAG,
        scope="channels:read",
        answer=ChannelList,
    ),
)
async def list_channels(request: AnyRequest) -> ChannelList:
    """List the channels that are set up."""
    async with _tenant(request) as tx:
        return ChannelList(items=[ChannelView.of(c) for c in await _configurer(request).show(tx)])


@get(
    "/{channel:str}",
    **operation(
        summary="Show how you appear on a channel, and through which vendors.",
        tag=_TAG,
        scope="channels:read",
        answer=ChannelView,
        problems=["channel_not_found"],
    ),
)
async def show_channel(request: AnyRequest) -> Response[ChannelView]:
    """Show a channel."""
    return _shown(await _known(request, _channel(request)))


@put(
    "/{channel:str}",
    **operation(
        summary="Set a channel up, or change it; a change names the version it is made from by If-Match.",
        tag=_TAG,
        scope="channels:write",
        body=PutChannel,
        answer=ChannelView,
        problems=["secrets_unavailable"],
        headers=["If-Match"],
        if_match="where_there",
        description=(
            "Vendor, fallback vendor, sender, branding, limits and the references of your own accounts. "
            "A new reference supersedes the one before it; a vendor that is no longer named loses its own. "
            "What a reference leads to must be what the vendor's adapter reads: errors name "
            "`accounts.<vendor>.secret_ref.<setting>`, and never a value."
        ),
    ),
)
async def put_channel(request: AnyRequest) -> Response[ChannelView]:
    """Set a channel up, or change it."""
    wish = (await read_body(request, PutChannel)).wish(_channel(request))
    configurer = _configurer(request)
    deps = deps_of(request, Deps)
    await refuse_unreadable_wish(deps.desk, tenant_of(request), wish, adapters=deps.router.vendors())

    def expect(known: ChannelConfig | None) -> None:
        if known is not None:
            expect_version(request.scope, known.version)
        else:
            expect_nothing(
                request.scope, "the channel is not set up here, so there is no version to change from"
            )

    async with _tenant(request) as tx:
        done = await configurer.configure(tx, wish, expect=expect, actor=caller_of(request).actor)
    return _shown(done)


@post(
    "/{channel:str}/credentials/rotate",
    **operation(
        summary="Put a new credential in the place of the one in use; no send in between fails.",
        tag=_TAG,
        scope="channels:write",
        body=RotateCredential,
        answer=RotationView,
        problems=[
            "too_many_tests",
            "channel_not_found",
            "no_own_account",
            "credential_refused",
            "secrets_unavailable",
            "vendor_not_reached",
        ],
        description=(
            "The vendor is asked first. What is under way ends with the old credential, what begins later goes with "
            "the new one; the old one is `superseded`, and `revoked` when it may be deleted at the vendor. "
            "Every channel that is sent through the same account changes with it."
        ),
    ),
)
async def rotate_credential(request: AnyRequest) -> RotationView:
    """Rotate a credential."""
    wanted = await read_body(request, RotateCredential)
    channel = _channel(request)
    wish = RotationWish(
        channel=channel, vendor=wanted.vendor, secret_ref=wanted.secret_ref, check=wanted.check
    )
    deps = deps_of(request, Deps)
    if wanted.check:
        await deps.tester.admit_rotation(tenant_of(request))
    rotator = CredentialRotator(
        router=deps.router,
        desk=deps.desk,
        outbox=deps.outbox,
        audit=deps.audit,
        clock=deps.clock,
    )
    done = await rotator.rotate(lambda: _tenant(request), wish, actor=caller_of(request).actor)
    shown = ChannelView.of(await _known(request, channel))
    return RotationView(vendor=done.vendor, check=CheckView.of(done.checked), channel=shown)


@post(
    "/{channel:str}/test",
    **operation(
        summary="Send one message through the channel as it is set up, and say what the vendor said.",
        tag=_TAG,
        scope="channels:write",
        test_keys=True,
        body=TestChannel,
        answer=TestView,
        problems=["channel_not_found", "sender_unauthorised", "address_suppressed", "too_many_tests"],
        description=(
            "It goes through the real adapter with the real sender, once, and is no notification: there is nothing "
            "to explain or to cancel. Suppressed addresses are refused. At most 20 in an hour for each channel."
        ),
    ),
)
async def test_channel(request: AnyRequest) -> TestView:
    """Send a test."""
    wanted = await read_body(request, TestChannel)
    caller = caller_of(request)
    wish = TestWish(
        channel=_channel(request),
        to=wanted.to,
        vendor=wanted.vendor,
        is_test=caller.environment == "test",
    )
    tester = deps_of(request, Deps).tester
    return TestView.of(
        await tester.test(tenant_of(request), lambda: _tenant(request), wish, actor=caller.actor)
    )


@get(
    "/{channel:str}/dns",
    **operation(
        summary="Check SPF, DKIM, DMARC and MX of the sender's domain, with advice in words.",
        tag=_TAG,
        scope="channels:read",
        answer=DnsView,
        problems=["channel_not_found", "too_many_tests"],
        description=(
            "Asked of the name servers at every call, at most 60 times in an hour. "
            "For e-mail only: other channels have no domain."
        ),
    ),
)
async def check_dns(request: AnyRequest) -> DnsView:
    """Check the sender's domain."""
    channel = _channel(request)
    if channel != "email":
        raise BadValueError("channel", "must be email: other channels have no domain to check")
    config = (await _known(request, channel)).config
    sender = config.sender
    domain = (sender.from_address or "").rpartition("@")[2].lower()
    if not domain:
        raise BadValueError(
            "sender.from_address", "is needed: PUT the channel with the address that mail comes from"
        )
    deps = deps_of(request, Deps)
    await deps.tester.admit_dns(tenant_of(request))
    checks = await check_domain(deps.resolver, domain, dkim_selector=sender.dkim_selector)
    return DnsView(
        domain=domain,
        dkim_selector=sender.dkim_selector,
        status=worst(checks),
        checks=checks,
        checked_at=deps.clock.now(),
    )


async def _known(request: AnyRequest, channel: Channel) -> ConfiguredChannel:
    async with _tenant(request) as tx:
        found = await _configurer(request).show(tx, [channel])
    if not found:
        raise UnknownChannelError(f"the channel {channel} is not set up here; PUT it first")
    return found[0]


def _channel(request: AnyRequest) -> Channel:
    named = str(request.path_params["channel"])
    for channel in CHANNELS:
        if channel == named:
            return channel
    raise BadValueError("channel", f"must be one of {', '.join(CHANNELS)}")


def _shown(channel: ConfiguredChannel) -> Response[ChannelView]:
    return Response(ChannelView.of(channel), headers={"ETag": etag(channel.config.version)})


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def _configurer(request: AnyRequest) -> ChannelConfigurer:
    deps = deps_of(request, Deps)
    return ChannelConfigurer(router=deps.router, audit=deps.audit, clock=deps.clock)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/channels",
            route_handlers=[
                list_channels,
                show_channel,
                put_channel,
                rotate_credential,
                test_channel,
                check_dns,
            ],
            opt=given(deps),
        )
    ]
