"""Operations on the pictures of a version."""

import asyncio

from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx, OwnerTx
from tidings.kernel.http.requests import Request
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.assets import Asset, checked
from tidings.notify.templates.change_assets import AssetChanger
from tidings.notify.templates.errors import UnknownAssetError
from tidings.notify.templates.resource import (
    UNKNOWN,
    VERSION,
    VersionInPath,
    template_resource,
    version_answer,
)
from tidings.notify.templates.wire import VersionView

assets = template_resource()

_ASSET = f"{VERSION}/assets/{{name}}"
#: A browser that opens one shows a picture and nothing else.
_HEADERS = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "private, no-cache"}


@assets.put(_ASSET, verb="put-asset", problems=[*UNKNOWN, "template_not_draft", "body_too_large"])
async def upload_asset(
    open_tx: OpenTx[OwnerTx],
    of: VersionInPath,
    name: str,
    request: Request,
    caller: Caller,
    changer: AssetChanger,
) -> Answer[VersionView]:
    """Put a picture into a draft.

    The body is the file itself: PNG, JPEG, GIF or WebP, by its content, whatever `Content-Type` says; at most 512
    KiB, and 20 pictures or 2 MiB for a version. Texts show it by `cid:` and its name.
    """
    asset = await asyncio.to_thread(_read, name, await request.body())
    async with open_tx() as tx:
        version = await changer.put(tx, of, asset, actor=caller.actor)
    return version_answer(version)


@assets.get(
    _ASSET,
    verb="asset",
    media_type="application/octet-stream",
    problems=[*UNKNOWN, "template_asset_not_found"],
)
async def download_asset(tx: OwnerTx, of: VersionInPath, name: str) -> Reply:
    """Give a picture of a version.

    With the media type that its content has.
    """
    _, version = await store.own_version(tx, of)
    facts = version.assets.get(name)
    stored = await assets_store.find_assets(tx, version, name=name) if facts is not None else []
    if facts is None or not stored:
        raise UnknownAssetError(f"{of} {version.semver} has no such picture")
    return Reply(body=stored[0].content, media_type=facts.media_type, headers=_HEADERS)


@assets.delete(
    _ASSET, verb="delete-asset", problems=[*UNKNOWN, "template_not_draft", "template_asset_not_found"]
)
async def remove_asset(
    tx: OwnerTx, of: VersionInPath, name: str, caller: Caller, changer: AssetChanger
) -> None:
    """Take a picture out of a draft."""
    await changer.delete(tx, of, name, actor=caller.actor)


def _read(name: str, content: bytes) -> Asset:
    asset = checked(name, content)
    # Its hash is taken here, off the loop.
    _ = asset.facts
    return asset
