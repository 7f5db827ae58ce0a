"""What HTTP calls about channels."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, get, put

from tidings.contracts.tenants import Channel
from tidings.contracts.words import CHANNELS
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.refusals import StaleVersionError
from tidings.notify.channels.configure import ChannelConfigurer, ConfiguredChannel
from tidings.notify.channels.deps import Deps
from tidings.notify.channels.errors import UnknownChannelError
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.wire import ChannelList, ChannelView, PutChannel

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
    channel = _channel(request)
    async with _tenant(request) as tx:
        found = await _configurer(request).show(tx, [channel])
    if not found:
        raise UnknownChannelError(f"the channel {channel} is not set up here; PUT it first")
    return _shown(found[0])


@put(
    "/{channel:str}",
    **operation(
        summary="Set a channel up, or change it; a change names the version it is made from by If-Match.",
        tag=_TAG,
        scope="channels:write",
        body=PutChannel,
        answer=ChannelView,
        headers=["If-Match"],
        description=(
            "Vendor, fallback vendor, sender, branding, limits and the references of your own accounts. "
            "A new reference supersedes the one before it; a vendor that is no longer named loses its own."
        ),
    ),
)
async def put_channel(request: AnyRequest) -> Response[ChannelView]:
    """Set a channel up, or change it."""
    wish = (await read_body(request, PutChannel)).wish(_channel(request))
    configurer = _configurer(request)
    await configurer.check_secrets(tenant_of(request), wish)

    def expect(known: ChannelConfig | None) -> None:
        if known is not None:
            expect_version(request.scope, known.version)
        elif headers(request.scope, b"if-match"):
            raise StaleVersionError("the channel is not set up here, so there is no version to change from")

    async with _tenant(request) as tx:
        done = await configurer.configure(tx, wish, expect=expect, actor=caller_of(request).actor)
    return _shown(done)


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
    return ChannelConfigurer(router=deps.router, secrets=deps.secrets, audit=deps.audit, clock=deps.clock)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router("/api/v1/channels", route_handlers=[list_channels, show_channel, put_channel], opt=given(deps))
    ]
