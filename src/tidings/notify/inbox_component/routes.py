"""`/assets/tidings-inbox.js`: the web component, for one script tag on any page, and what it loads itself."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

_FOLDER: Final = Path(__file__).with_name("component")
_JAVASCRIPT: Final = "text/javascript"
_FOREVER: Final = "public, max-age=31536000, immutable"
#: Without a version in its address a page gets a new one within minutes of an upgrade.
_MINUTES: Final = "public, max-age=300"
_NOT_CHANGED: Final = 304

inbox_assets = Resource("assets", at="/assets", tag="inbox", owner=Owner.PUBLIC, any_origin=True)


class ScriptQuery(Struct, frozen=True, kw_only=True):
    """Which version is asked for."""

    #: The version that the page was written for, as the `ETag` names it: then browsers keep it for good.
    v: str | None = None


@dataclass(frozen=True, slots=True)
class _Script:
    plain: bytes
    packed: bytes
    version: str


@cache
def _script(name: str) -> _Script:
    plain = (_FOLDER / name).read_bytes()
    return _Script(plain, gzip.compress(plain, 9, mtime=0), hashlib.sha256(plain).hexdigest()[:16])


@inbox_assets.get("/tidings-inbox.js", media_type=_JAVASCRIPT)
async def inbox_script(request: Request, query: ScriptQuery) -> Reply:
    """Give the web component `<tidings-inbox>`, as an ES module.

    With `?v=` and the version that its `ETag` names, it may be kept for good.
    """
    return _give(_script("tidings-inbox.js"), request, query)


@inbox_assets.get("/tidings-inbox-preferences.js", media_type=_JAVASCRIPT)
async def inbox_preferences_script(request: Request, query: ScriptQuery) -> Reply:
    """Give the preferences of the web component, which loads them when somebody first opens them.

    With `?v=` and the version that its `ETag` names, it may be kept for good.
    """
    return _give(_script("tidings-inbox-preferences.js"), request, query)


def _give(script: _Script, request: Request, query: ScriptQuery) -> Reply:
    tag = f'"{script.version}"'
    headers = {
        "ETag": tag,
        "Cache-Control": _FOREVER if query.v == script.version else _MINUTES,
        "Cross-Origin-Resource-Policy": "cross-origin",
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if tag in (request.header("if-none-match") or "").replace("W/", ""):
        return Reply(media_type=None, status=_NOT_CHANGED, headers=headers)
    if "gzip" in (request.header("accept-encoding") or ""):
        return Reply(
            body=script.packed, media_type=_JAVASCRIPT, headers={**headers, "Content-Encoding": "gzip"}
        )
    return Reply(body=script.plain, media_type=_JAVASCRIPT, headers=headers)
