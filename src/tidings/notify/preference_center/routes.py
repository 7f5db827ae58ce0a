"""The public pages: `/u/…` to say no, `/p/…` to choose, `/c/…` to confirm. Looking changes nothing; only a POST does, and twice is once."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import wraps
from typing import Any
from urllib.parse import parse_qsl

from tidings.kernel.clock import Clock
from tidings.kernel.errors import DatabaseBusyError, DatabaseUnavailableError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.logs import get_logger
from tidings.kernel.refusals import InvalidError
from tidings.notify.preference_center.address_choices import NOTHING_MORE, AddressChoices, words_of_save
from tidings.notify.preference_center.choices import (
    CONFIRMATION_PAGE,
    PREFERENCE_PAGE,
    all_off,
    confirmed,
    ticked,
    unsubscribed,
)
from tidings.notify.preference_center.digest_choices import WrongDigestError, with_digests
from tidings.notify.preference_center.frame import SECRET_PAGE_HEADERS, page_reply
from tidings.notify.preference_center.pages import (
    ask_page,
    choices_page,
    confirm_page,
    confirmed_page,
    done_page,
    plain_page,
)
from tidings.notify.preference_center.save_choices import ChoiceSaver
from tidings.notify.preference_center.strings import strings_accepted
from tidings.notify.preference_center.visits import LinkVisit, LinkVisits, NoVisitError
from tidings.notify.recipients.preferences_model import Choices, Preferences, category_denied
from tidings.notify.refusals.model import EVERYTHING

preference_pages = Resource("preference-pages", at="", tag="preference pages", owner=Owner.PUBLIC)

_HTML = "text/html"
_NOTHING_HERE = {"unknown": 404, "expired": 410, "busy": 429}
#: A page of many categories has two for each box, and three for each digest.
_MOST_FIELDS = 1000
#: A post needs no key here: far more than that many fields need, and far less than the API takes.
MOST_BYTES = 128 * 1024
_STALE = 412
_WRONG = 400
_DOWN = 503
#: What every one of them may answer instead, as a page in the reader's language.
_PAGES = {
    404: "There is no such link.",
    410: "The link works no longer.",
    429: "Too many tries; `Retry-After` says when to come again.",
    503: "Not available right now; `Retry-After` says when to come again.",
}
_COME_AGAIN = {"retry-after": "60"}

_log = get_logger("preference_pages")

#: The names and values of a form.
Fields = frozenset[tuple[str, str]]
_Handler = Callable[..., Awaitable[Reply]]


class _StaleError(Exception):
    """They chose from a page that shows how it was, not how it is."""


def _answering_with_pages(handler: _Handler) -> _Handler:
    """People get kind words where there is nothing for them, or not now; mail programs a status that makes them try again."""

    @wraps(handler)
    async def answered(**arguments: Any) -> Reply:
        request: Request = arguments["request"]
        accepted = strings_accepted(request.header("accept-language"))
        try:
            return await handler(**arguments)
        except NoVisitError as gone:
            words = gone.words or accepted
            title, text = {
                "unknown": (words.unknown_title, words.unknown),
                "expired": (words.expired_title, words.expired),
                "busy": (words.busy_title, words.busy),
            }[gone.why]
            again = _COME_AGAIN if gone.why == "busy" else {}
            return page_reply(plain_page(words, title, text), status=_NOTHING_HERE[gone.why], **again)
        except (DatabaseBusyError, DatabaseUnavailableError) as error:
            _log.warning("preference_page_unavailable", code=error.code)
            page = plain_page(accepted, accepted.down_title, accepted.down)
            return page_reply(page, status=_DOWN, **_COME_AGAIN)

    return answered


@preference_pages.get("/u/{token}", media_type=_HTML, pages=_PAGES)
@_answering_with_pages
async def ask(request: Request, token: str, visits: LinkVisits) -> Reply:
    """Ask whether to unsubscribe, as a page; changes nothing.

    Mail scanners open links before people do: only the POST unsubscribes.
    """
    visit = await visits.open(token, came_from=_came_from(request))
    return page_reply(
        ask_page(visit.words, visit.brand, channel=_place(visit), name=visit.scope_name, token=visit.text)
    )


@preference_pages.post("/u/{token}", media_type=_HTML, pages=_PAGES, body_limit=MOST_BYTES)
@_answering_with_pages
async def unsubscribe(
    request: Request, token: str, visits: LinkVisits, saver: ChoiceSaver, clock: Clock
) -> Reply:
    """Unsubscribe with one click (RFC 8058).

    From the page, or by a mail program with `List-Unsubscribe=One-Click`. Doing it again changes nothing.
    """
    by_mail_program = b"One-Click" in (await request.body())[:2000]
    visit = await visits.open(token, came_from=_came_from(request))
    await visits.refuse_too_many(visit)
    scope = visit.token.scope
    await saver.save(
        visit,
        lambda before: unsubscribed(
            before.choices,
            scope,
            categories=visit.facts.categories,
            defaults=visit.facts.tenant.policy.preference_defaults,
            now=clock.now(),
        ),
        lambda _before, _after: AddressChoices(refuse=frozenset({scope.category})),
        source="one_click" if by_mail_program else "unsubscribe_page",
    )
    return page_reply(
        done_page(visit.words, visit.brand, channel=_place(visit), name=visit.scope_name, token=visit.text)
    )


@preference_pages.get("/p/{token}", media_type=_HTML, pages=_PAGES)
@_answering_with_pages
async def show_choices(request: Request, token: str, visits: LinkVisits) -> Reply:
    """Show somebody their choices, as a page."""
    visit = await visits.open(token, came_from=_came_from(request))
    return _choices(visit, note="saved" if request.scope.get("query_string") == b"saved" else None)


@preference_pages.post(
    "/p/{token}",
    media_type=_HTML,
    pages={
        **_PAGES,
        _STALE: "The choices were made from an older page; the present one is shown.",
        _WRONG: "A digest can't come at such a time; nothing was saved, and the present choices are shown.",
    },
    status=303,
    body_limit=MOST_BYTES,
)
@_answering_with_pages
async def save_choices(
    request: Request, token: str, visits: LinkVisits, saver: ChoiceSaver, clock: Clock
) -> Reply:
    """Save somebody's choices, from the page.

    Leads back to the page. Choices made from a version that is not the present one are not saved (412), nor a digest that
    can't come so (400); the page shows the present choices then.
    """
    fields = _fields(await request.body())
    visit = await visits.open(token, came_from=_came_from(request))
    await visits.refuse_too_many(visit)
    now = clock.now()
    try:
        await saver.save(
            visit,
            lambda before: _chosen(before, visit, fields, now=now),
            lambda before, after: _words_of(before, after, visit, fields),
            source=PREFERENCE_PAGE,
        )
    except _StaleError:
        present = await visits.open(token, came_from=_came_from(request))
        return _choices(present, note="stale", status=_STALE)
    except (WrongDigestError, InvalidError):
        # Of all that the page asks, only a digest can be wrong.
        return _choices(visit, note="wrong", status=_WRONG)
    return Reply(media_type=_HTML, headers={"Location": f"/p/{visit.text}?saved", **SECRET_PAGE_HEADERS})


@preference_pages.get("/c/{token}", media_type=_HTML, pages=_PAGES)
@_answering_with_pages
async def ask_to_confirm(request: Request, token: str, visits: LinkVisits) -> Reply:
    """Ask somebody to confirm their consent, as a page; changes nothing."""
    visit = await visits.open(token, came_from=_came_from(request), purpose="confirm")
    if confirmed(visit.person.choices, visit.token, evidence=visit.evidence) is None:
        raise NoVisitError("expired", visit.words)
    return page_reply(
        confirm_page(visit.words, visit.brand, name=visit.name_of(_asked_for(visit)), token=visit.text)
    )


@preference_pages.post("/c/{token}", media_type=_HTML, pages=_PAGES, body_limit=MOST_BYTES)
@_answering_with_pages
async def confirm(request: Request, token: str, visits: LinkVisits, saver: ChoiceSaver) -> Reply:
    """Confirm consent (double opt-in).

    Doing it again changes nothing. A request that was withdrawn meanwhile can't be confirmed any more.
    """
    visit = await visits.open(token, came_from=_came_from(request), purpose="confirm")
    await visits.refuse_too_many(visit)
    after = await saver.save(
        visit,
        lambda before: _confirmed(before, visit),
        lambda _before, _after: AddressChoices(allow=frozenset(_needing_consent(visit))),
        source=CONFIRMATION_PAGE,
    )
    asked_for = _asked_for(visit)
    denied = asked_for is not None and (
        category_denied(after.choices, visit.facts.categories[asked_for]) or EVERYTHING in visit.refused
    )
    way_on = await saver.way_to_choices(visit) if denied else None
    return page_reply(confirmed_page(visit.words, visit.brand, choose_at=way_on))


def _chosen(before: Preferences, visit: LinkVisit, fields: Fields, *, now: datetime) -> Choices:
    """What the form says, if it was made from the present version."""
    if ("version", str(before.version)) not in fields:
        raise _StaleError
    if ("do", "all_off") in fields:
        return all_off(before.choices, now=now)
    offers, shown = visit.offers(), _pairs(fields, "shown")
    if any(offer.channels for offer in offers) and not shown:
        # A page from before pages said what they show.
        raise _StaleError
    digests = {offer.category: offer.digest for offer in offers if offer.digest is not None}
    return ticked(
        with_digests(before.choices, digests, dict(sorted(fields))),
        offers,
        _pairs(fields, "hear"),
        shown=shown,
        categories=visit.facts.categories,
        defaults=visit.facts.tenant.policy.preference_defaults,
        evidence=visit.evidence,
    )


def _words_of(before: Choices, after: Choices, visit: LinkVisit, fields: Fields) -> AddressChoices:
    """What the same form says for the address."""
    if ("do", "all_off") in fields:
        return NOTHING_MORE
    return words_of_save(
        before,
        after,
        channel=visit.token.scope.channel,
        offers=visit.offers(),
        hear=_pairs(fields, "hear") & _pairs(fields, "shown"),
        refused=visit.refused,
        asking=_needing_consent(visit),
    )


def _needing_consent(visit: LinkVisit) -> list[str]:
    return [name for name, policy in visit.facts.categories.items() if policy.needs_consent]


def _confirmed(before: Preferences, visit: LinkVisit) -> Choices:
    after = confirmed(before.choices, visit.token, evidence=visit.evidence)
    if after is None:
        raise NoVisitError("expired", visit.words)
    return after


def _place(visit: LinkVisit) -> str | None:
    """The channel that an unsubscribing is about; None: all of them."""
    return None if visit.token.scope.category is None else visit.token.scope.channel


def _asked_for(visit: LinkVisit) -> str | None:
    """What needs the consent that is asked for."""
    return min(_needing_consent(visit), default=None)


def _came_from(request: Request) -> str:
    client = request.scope.get("client")
    return client[0] if client else "unknown"


def _fields(body: bytes) -> Fields:
    try:
        return frozenset(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return frozenset()


def _pairs(fields: Fields, named: str) -> frozenset[Any]:
    """What such fields say: categories and channels, or nonsense that no page offers."""
    return frozenset(tuple(value.split(":", 1)) for name, value in fields if name == named)


def _choices(visit: LinkVisit, *, note: str | None, status: int = 200) -> Reply:
    page = choices_page(
        visit.words,
        visit.brand,
        visit.offers(),
        version=visit.person.preferences_version,
        token=visit.text,
        timezone=visit.person.timezone,
        everything_off=visit.everything_off,
        note=note,
    )
    return page_reply(page, status=status)
