"""The public side of tracking: `/t/o/…` is a picture of one dot, `/t/c/…` leads on. Nonsense costs one signature."""

import base64
from typing import Any, Final
from urllib.parse import quote

from litestar import Request, Response, Router, get

from tidings.kernel.http.asgi import header, headers
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.notify.preference_center.pages import plain_page
from tidings.notify.preference_center.strings import strings_accepted
from tidings.notify.tracking.bot_detection import AHEAD, is_machine
from tidings.notify.tracking.deps import Deps
from tidings.notify.tracking.tokens import Kind, Mark
from tidings.notify.tracking.tracker import CLICK_PATH, PIXEL_PATH

_TAG: Final = "tracking"
_GIF: Final = "image/gif"
_HTML: Final = "text/html"
_FOUND: Final = 302
_NOT_FOUND: Final = 404
#: One transparent dot.
PIXEL: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
#: Asked for every time, kept by nobody, and nobody is told where the reader came from.
_HEADERS: Final = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
}
#: What an address may hold as it is; anything else is written in percent.
_SAFE: Final = "%/:=&?~#+!$,;'@()*[]-._"

AnyRequest = Request[Any, Any, Any]


@get(
    PIXEL_PATH + "{name:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="The picture that says that a mail was opened.",
        media_type=_GIF,
        pages={_NOT_FOUND: "The same dot, for a token that is none of ours."},
        description="Only in mails of tenants that switched it on, and of categories that allow it.",
    ),
)
async def show_pixel(request: AnyRequest) -> Response[bytes]:
    """A dot."""
    name = str(request.path_params["name"])
    mark = await _read(request, name.removesuffix(".gif"), "opened") if name.endswith(".gif") else None
    if mark is not None:
        _note(request, mark)
    # A mail shows no page: what is no picture of ours looks the same, and says so to programs.
    status = _NOT_FOUND if mark is None else 200
    return Response(PIXEL, status_code=status, media_type=_GIF, headers=_HEADERS)


@get(
    CLICK_PATH + "{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Lead on to where a link in a mail leads.",
        media_type=_HTML,
        status=_FOUND,
        pages={_NOT_FOUND: "There is no such link."},
        description="The target is inside the signed token: a link that we did not write leads nowhere (404).",
    ),
)
async def follow_link(request: AnyRequest) -> Response[str]:
    """Lead on."""
    mark = await _read(request, str(request.path_params["token"]), "clicked")
    if mark is None:
        words = strings_accepted(header(request.scope, b"accept-language"))
        page = plain_page(words, words.unknown_title, words.unknown)
        policy = {"content-security-policy": page.policy}
        return Response(page.html, status_code=_NOT_FOUND, media_type=_HTML, headers=_HEADERS | policy)
    _note(request, mark)
    location = {"location": quote(mark.target, safe=_SAFE)}
    return Response("", status_code=_FOUND, media_type=_HTML, headers=_HEADERS | location)


async def _read(request: AnyRequest, token: str, kind: Kind) -> Mark | None:
    mark = (await deps_of(request, Deps).tracker.marker()).read(token)
    return mark if mark is not None and mark.kind == kind else None


def _note(request: AnyRequest, mark: Mark) -> None:
    purposes = [value for name in AHEAD for value in headers(request.scope, name)]
    agent = header(request.scope, b"user-agent") or ""
    deps_of(request, Deps).recorder.note(mark, machine=is_machine(agent, purposes))


def routers(deps: Deps) -> list[Router]:
    """All of them."""
    return [Router("/", route_handlers=[show_pixel, follow_link], opt=given(deps))]
