"""What HTTP calls about the pictures of a version."""

import asyncio

from litestar import Response, delete, get, put
from litestar.handlers import HTTPRouteHandler

from tidings.kernel.http.bodies import body_of
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.operations import deps_of, operation
from tidings.notify.templates import assets_store
from tidings.notify.templates.assets import Asset, checked
from tidings.notify.templates.change_assets import delete_asset, put_asset
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.errors import UnknownAssetError
from tidings.notify.templates.path_parameters import (
    SIDE,
    TAG,
    AnyRequest,
    begin,
    semver_asked,
    shown,
    template_asked,
)
from tidings.notify.templates.publish import find
from tidings.notify.templates.wire import VersionView

_PATH = "/{key:str}/{channel:str}/versions/{semver:str}/assets/{name:str}"
_KNOWN = ["template_not_found", "template_version_not_found"]
#: Whoever opens one in a browser sees a picture and nothing else.
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Cache-Control": "private, no-cache",
}


@put(
    _PATH,
    **operation(
        summary="Put a picture into a draft.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        answer=VersionView,
        problems=[*_KNOWN, "template_not_draft", "body_too_large"],
        description="The body is the file itself: PNG, JPEG, GIF or WebP, by its content, whatever `Content-Type` says; "
        "at most 512 KiB, and 20 pictures or 2 MiB for a version. Texts show it by `cid:` and its name. "
        + SIDE,
    ),
)
async def upload_asset(request: AnyRequest) -> Response[VersionView]:
    """Upload a picture."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    content = await body_of(request)
    asset = await asyncio.to_thread(_read, str(request.path_params["name"]), content)
    async with begin(request) as tx:
        version = await put_asset(
            tx,
            asset,
            key=key,
            channel=channel,
            semver=semver_asked(request),
            actor=caller_of(request).actor,
            audit=deps.audit,
            clock=deps.clock,
        )
    return shown(version)


@get(
    _PATH,
    **operation(
        summary="Give a picture of a version.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        media_type="application/octet-stream",
        problems=[*_KNOWN, "template_asset_not_found"],
        description="With the media type that its content has. " + SIDE,
    ),
)
async def download_asset(request: AnyRequest) -> Response[bytes]:
    """Download a picture."""
    key, channel = template_asked(request)
    name = str(request.path_params["name"])
    async with begin(request) as tx:
        _, version = await find(tx, key=key, channel=channel, semver=semver_asked(request))
        facts = version.assets.get(name)
        found = await assets_store.find_assets(tx, version, name=name) if facts is not None else []
    if facts is None or not found:
        raise UnknownAssetError(f"{key} for {channel} {version.semver} has no such picture")
    return Response(found[0].content, media_type=facts.media_type, headers=_HEADERS)


@delete(
    _PATH,
    **operation(
        summary="Take a picture out of a draft.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        status=204,
        problems=[*_KNOWN, "template_not_draft", "template_asset_not_found"],
        description=SIDE,
    ),
)
async def remove_asset(request: AnyRequest) -> None:
    """Remove a picture."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    async with begin(request) as tx:
        await delete_asset(
            tx,
            str(request.path_params["name"]),
            key=key,
            channel=channel,
            semver=semver_asked(request),
            actor=caller_of(request).actor,
            audit=deps.audit,
            clock=deps.clock,
        )


def _read(name: str, content: bytes) -> Asset:
    asset = checked(name, content)
    # Its hash is taken here, off the loop.
    _ = asset.facts
    return asset


HANDLERS: list[HTTPRouteHandler] = [upload_asset, download_asset, remove_asset]
