"""Answers of the portal that are about a whole request: nothing is here, or it was not done."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final

from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.logs import get_logger
from tidings.notify.preference_center.frame import HtmlPage, page_reply
from tidings.notify.webhook_portal.parts import plain_page
from tidings.notify.webhook_portal.strings import strings_for
from tidings.notify.webhook_portal.visits import NoPortalError, PortalRefusedError

#: What every page may answer instead.
PAGES: Final = {
    404: "There is no such link, or nothing of this id that it shows.",
    410: "The link works no longer.",
    429: "Too many tries; `Retry-After` says when to come again.",
    503: "Not available right now; `Retry-After` says when to come again.",
}
#: What every form may answer instead.
REFUSALS: Final = {
    **PAGES,
    403: "The link only shows, or the form came from another site.",
    409: "It can't be done as things stand; the page says why.",
}
_STATUSES: Final = {"unknown": 404, "missing": 404, "expired": 410, "busy": 429, "down": 503}
_REFUSED: Final = {"read_only": 403, "elsewhere": 403, "busy": 429}
_COME_AGAIN: Final = {"retry-after": "60"}
_WAITS: Final = (429, 503)

_log = get_logger("webhook_portal")
_Handler = Callable[..., Awaitable[Reply]]


def answering_with_pages(handler: _Handler) -> _Handler:
    """People get words in their language, whatever is in the way."""

    @wraps(handler)
    async def answered(**arguments: Any) -> Reply:
        request: Request = arguments["request"]
        try:
            return await handler(**arguments)
        except NoPortalError as gone:
            words = gone.words
            title, text = {
                "unknown": (words.unknown_title, words.unknown),
                "missing": (words.missing_title, words.missing),
                "expired": (words.expired_title, words.expired),
                "busy": (words.refused_title, words.errors["busy"]),
                "down": (words.down_title, words.down),
            }[gone.why]
            page = plain_page(
                words, gone.brand, title, text, back=gone.home, embed_origins=gone.embed_origins
            )
            return _reply(page, _STATUSES[gone.why])
        except PortalRefusedError as refused:
            visit = refused.visit
            page = plain_page(
                visit.words,
                visit.brand,
                visit.words.refused_title,
                visit.words.errors[refused.why],
                back=refused.back,
                embed_origins=visit.link.embed_origins,
            )
            return _reply(page, _REFUSED.get(refused.why, 409))
        except (DatabaseBusyError, DatabaseUnavailableError) as error:
            _log.warning("webhook_portal_unavailable", code=error.code)
            words = strings_for(None, request.header("accept-language"))
            return _reply(plain_page(words, None, words.down_title, words.down), 503)

    return answered


def _reply(page: HtmlPage, status: int) -> Reply:
    return page_reply(page, status=status, **(_COME_AGAIN if status in _WAITS else {}))
