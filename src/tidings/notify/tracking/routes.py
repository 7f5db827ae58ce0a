"""The public side of tracking: `/t/o/…` is a picture of one dot, `/t/c/…` leads on. Nonsense costs one signature."""

import base64
from typing import Final
from urllib.parse import quote

from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.notify.preference_center.pages import plain_page
from tidings.notify.preference_center.strings import strings_accepted
from tidings.notify.tracking.bot_detection import AHEAD, is_machine
from tidings.notify.tracking.record import VisitRecorder
from tidings.notify.tracking.tokens import Kind, Mark
from tidings.notify.tracking.tracker import CLICK_PATH, PIXEL_PATH, Tracker

tracking = Resource("tracking", at="", tag="tracking", owner=Owner.PUBLIC)

_GIF: Final = "image/gif"
_FOUND: Final = 302
_NOT_FOUND: Final = 404
#: One transparent dot.
PIXEL: Final = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
#: Asked for every time, kept by no cache, and no other site learns where the reader came from.
_HEADERS: Final = {
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex",
}
#: What an address may hold as it is; anything else is written in percent.
_SAFE: Final = "%/:=&?~#+!$,;'@()*[]-._"


@tracking.get(
    PIXEL_PATH + "{name}",
    media_type=_GIF,
    pages={_NOT_FOUND: "The same dot, for a token that is none of ours."},
)
async def show_pixel(request: Request, name: str, tracker: Tracker, recorder: VisitRecorder) -> Reply:
    """The picture that says that a mail was opened.

    Only in mails of tenants that switched it on, and of categories that allow it.
    """
    mark = await _read(tracker, name.removesuffix(".gif"), "opened") if name.endswith(".gif") else None
    if mark is not None:
        _note(request, recorder, mark)
    # A mail shows no page: what is no picture of ours looks the same, and says so to programs.
    status = _NOT_FOUND if mark is None else 200
    return Reply(body=PIXEL, media_type=_GIF, status=status, headers=_HEADERS)


@tracking.get(
    CLICK_PATH + "{token}",
    media_type="text/html",
    status=_FOUND,
    pages={_NOT_FOUND: "There is no such link."},
)
async def follow_link(request: Request, token: str, tracker: Tracker, recorder: VisitRecorder) -> Reply:
    """Lead on to where a link in a mail leads.

    The target is inside the signed token: a link that we did not write leads nowhere (404).
    """
    mark = await _read(tracker, token, "clicked")
    if mark is None:
        words = strings_accepted(request.header("accept-language"))
        page = plain_page(words, words.unknown_title, words.unknown)
        policy = {"content-security-policy": page.policy}
        return Reply.page(page.html, status=_NOT_FOUND, headers=_HEADERS | policy)
    _note(request, recorder, mark)
    location = {"location": quote(mark.target, safe=_SAFE)}
    return Reply.page("", status=_FOUND, headers=_HEADERS | location)


async def _read(tracker: Tracker, token: str, kind: Kind) -> Mark | None:
    mark = (await tracker.marker()).read(token)
    return mark if mark is not None and mark.kind == kind else None


def _note(request: Request, recorder: VisitRecorder, mark: Mark) -> None:
    purposes = [value for name in AHEAD for value in request.headers(name)]
    recorder.note(mark, machine=is_machine(request.header("user-agent") or "", purposes))
