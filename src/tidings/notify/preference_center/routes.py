"""The public pages: `/u/…` to say no, `/p/…` to choose, `/c/…` to confirm. Looking changes nothing; only a POST does, and twice is once."""

from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import parse_qsl

from litestar import Request, Response, Router, get, post
from litestar.middleware import DefineMiddleware

from tidings.kernel.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError
from tidings.kernel.http.asgi import header
from tidings.kernel.http.bodies import body_of
from tidings.kernel.http.body_limit import BodyLimit
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.logs import get_logger
from tidings.notify.preference_center import store
from tidings.notify.preference_center.address_choices import NOTHING_MORE, AddressChoices, words_of_save
from tidings.notify.preference_center.choices import (
    CONFIRMATION_PAGE,
    PREFERENCE_PAGE,
    all_off,
    confirmed,
    ticked,
    unsubscribed,
    with_category,
)
from tidings.notify.preference_center.deps import Deps
from tidings.notify.preference_center.pages import (
    HtmlPage,
    ask_page,
    choices_page,
    confirm_page,
    confirmed_page,
    done_page,
    plain_page,
)
from tidings.notify.preference_center.strings import strings_accepted
from tidings.notify.preference_center.tokens import OptOutScope, Purpose, make_way_on
from tidings.notify.preference_center.visits import LinkVisit, NoVisitError, open_visit, refuse_too_many
from tidings.notify.recipients.addresses import prove_mailbox
from tidings.notify.recipients.errors import ErasedRecipientError, UnknownRecipientError
from tidings.notify.recipients.preferences_model import Choices, Preferences, category_denied
from tidings.notify.refusals.model import EVERYTHING

_TAG = "preference pages"
_HTML = "text/html"
_NOTHING_HERE = {"unknown": 404, "expired": 410, "busy": 429}
#: A page of many categories has two for each box.
_MOST_FIELDS = 1000
#: Anybody may post here, without a key: far more than that many fields need, and far less than the API takes.
MOST_BYTES = 128 * 1024
#: Plain ASGI, of which the framework has types of its own.
_LIMITED: Any = BodyLimit
_STALE = 412
#: What every one of them may answer instead, as a page in the reader's language.
_PAGES = {
    404: "There is no such link.",
    410: "The link works no longer.",
    429: "Too many tries; `Retry-After` says when to come again.",
    503: "Not available right now; `Retry-After` says when to come again.",
}
_DOWN = 503

_log = get_logger("preference_pages")

AnyRequest = Request[Any, Any, Any]
#: The names and values of a form.
Fields = frozenset[tuple[str, str]]


class _StaleError(Exception):
    """They chose from a page that shows how it was, not how it is."""


@get(
    "/u/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Ask whether to unsubscribe, as a page; changes nothing.",
        media_type=_HTML,
        pages=_PAGES,
        description="Mail scanners open links before people do: only the POST unsubscribes.",
    ),
)
async def ask(request: AnyRequest) -> Response[str]:
    """Ask whether to unsubscribe."""
    try:
        visit = await _visit(request)
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    return _html(
        ask_page(visit.words, visit.brand, channel=_place(visit), name=visit.scope_name, token=visit.text)
    )


@post(
    "/u/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Unsubscribe with one click (RFC 8058).",
        media_type=_HTML,
        pages=_PAGES,
        description="From the page, or by a mail program with `List-Unsubscribe=One-Click`. Doing it again changes nothing.",
    ),
)
async def unsubscribe(request: AnyRequest) -> Response[str]:
    """Unsubscribe."""
    deps = deps_of(request, Deps)
    by_mail_program = b"One-Click" in (await body_of(request))[:2000]
    try:
        visit = await _visit(request)
        await refuse_too_many(deps, visit)
        scope = visit.token.scope
        await _change(
            deps,
            visit,
            lambda before: unsubscribed(
                before.choices,
                scope,
                categories=visit.facts.categories,
                defaults=visit.facts.tenant.policy.preference_defaults,
                now=deps.clock.now(),
            ),
            lambda _before, _after: AddressChoices(refuse=frozenset({scope.category})),
            source="one_click" if by_mail_program else "unsubscribe_page",
        )
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    return _html(
        done_page(visit.words, visit.brand, channel=_place(visit), name=visit.scope_name, token=visit.text)
    )


@get(
    "/p/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Show somebody their choices, as a page.",
        media_type=_HTML,
        pages=_PAGES,
    ),
)
async def show_choices(request: AnyRequest) -> Response[str]:
    """Show somebody their choices."""
    try:
        visit = await _visit(request)
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    return _choices(visit, note="saved" if request.scope.get("query_string") == b"saved" else None)


@post(
    "/p/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Save somebody's choices, from the page.",
        media_type=_HTML,
        pages={**_PAGES, 412: "The choices were made from an older page; the present one is shown."},
        status=303,
        description="Leads back to the page. Choices made from a version that is not the present one are not saved (412), and the page shows the present one.",
    ),
)
async def save_choices(request: AnyRequest) -> Response[str]:
    """Save somebody's choices."""
    deps = deps_of(request, Deps)
    fields = _fields(await body_of(request))
    try:
        visit = await _visit(request)
        await refuse_too_many(deps, visit)
        now = deps.clock.now()
        await _change(
            deps,
            visit,
            lambda before: _chosen(before, visit, fields, now=now),
            lambda before, after: _words_of(before, after, visit, fields),
            source=PREFERENCE_PAGE,
        )
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    except _StaleError:
        return _choices(await _visit(request), note="stale", status=_STALE)
    return Response("", status_code=303, headers={"Location": f"/p/{visit.text}?saved", **_HEADERS})


@get(
    "/c/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Ask somebody to confirm their consent, as a page; changes nothing.",
        media_type=_HTML,
        pages=_PAGES,
    ),
)
async def ask_to_confirm(request: AnyRequest) -> Response[str]:
    """Ask somebody to confirm their consent."""
    try:
        visit = await _visit(request, "confirm")
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    if confirmed(visit.person.choices, visit.token, evidence=visit.evidence) is None:
        return _nothing_here(request, NoVisitError("expired", visit.words))
    return _html(
        confirm_page(visit.words, visit.brand, name=visit.name_of(_asked_for(visit)), token=visit.text)
    )


@post(
    "/c/{token:str}",
    **operation(
        public=True,
        tag=_TAG,
        summary="Confirm consent (double opt-in).",
        media_type=_HTML,
        pages=_PAGES,
        description="Doing it again changes nothing. A request that was withdrawn meanwhile can't be confirmed any more.",
    ),
)
async def confirm(request: AnyRequest) -> Response[str]:
    """Confirm consent."""
    deps = deps_of(request, Deps)
    try:
        visit = await _visit(request, "confirm")
        await refuse_too_many(deps, visit)
        after = await _change(
            deps,
            visit,
            lambda before: _confirmed(before, visit),
            lambda _before, _after: AddressChoices(allow=frozenset(_needing_consent(visit))),
            source=CONFIRMATION_PAGE,
        )
    except NoVisitError as gone:
        return _nothing_here(request, gone)
    asked_for = _asked_for(visit)
    denied = asked_for is not None and (
        category_denied(after.choices, visit.facts.categories[asked_for]) or EVERYTHING in visit.refused
    )
    way_on = await _way_to_choices(deps, visit) if denied else None
    return _html(confirmed_page(visit.words, visit.brand, choose_at=way_on))


def _chosen(before: Preferences, visit: LinkVisit, fields: Fields, *, now: datetime) -> Choices:
    """What the form says, if it was made from the present version."""
    if ("version", str(before.version)) not in fields:
        raise _StaleError
    if ("do", "all_off") in fields:
        return all_off(before.choices, now=now)
    offers, shown = visit.offers(), _pairs(fields, "shown")
    if offers and not shown:
        # A page from before pages said what they show.
        raise _StaleError
    return ticked(
        before.choices,
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


async def _visit(request: AnyRequest, purpose: Purpose = "opt_out") -> LinkVisit:
    client = request.scope.get("client")
    came_from = client[0] if client else "unknown"
    return await open_visit(
        deps_of(request, Deps), str(request.path_params["token"]), came_from=came_from, purpose=purpose
    )


async def _change(
    deps: Deps,
    visit: LinkVisit,
    make: Callable[[Preferences], Choices],
    say: Callable[[Choices, Choices], AddressChoices],
    *,
    source: str,
) -> Preferences:
    """Their own choices, and what holds for the address that the link was sent to, in one transaction."""
    recipient_id = visit.token.scope.recipient_id
    seen: list[Preferences] = []

    def noting(before: Preferences) -> Choices:
        seen.append(before)
        return make(before)

    try:
        async with deps.db.tenant(visit.tenant_id) as tx:
            now = deps.clock.now()
            await store.mark_used(tx, visit.token.id, now=now)
            after = await deps.changer.change(
                tx,
                recipient_id,
                noting,
                categories=with_category(visit.facts.categories, visit.token.scope.category),
                actor=f"recipient:{recipient_id}",
                source=source,
                evidence=visit.evidence,
                proven=True,
            )
            [before] = seen
            words = say(before.choices, after.choices)
            actor = f"recipient:{recipient_id}"
            await deps.refuser.allow(tx, visit.proven, words.allow, source=source, actor=actor)
            await deps.refuser.refuse(
                tx,
                recipient_id,
                visit.places,
                words.refuse,
                source=source,
                evidence=visit.evidence,
                preferences_version=after.version,
                announced=after.version != before.version,
            )
            # Whoever confirms by a link that went to a mailbox reads that mailbox.
            by_mail = source == CONFIRMATION_PAGE and visit.token.scope.channel == "email"
            if by_mail and await prove_mailbox(tx, recipient_id, now=now):
                await deps.mailboxes.told(tx, {recipient_id: True}, at=now)
            return after
    except (ErasedRecipientError, UnknownRecipientError):
        raise NoVisitError("expired", visit.words) from None


async def _way_to_choices(deps: Deps, visit: LinkVisit) -> str:
    """The token of a page of choices for somebody who came to confirm."""
    scope = OptOutScope(
        recipient_id=visit.token.scope.recipient_id,
        channel=visit.token.scope.channel,
        category=None,
        address_hash=visit.token.scope.address_hash,
    )
    way_on = make_way_on(visit.tenant_id, scope, text=visit.text, expires_at=visit.token.expires_at)
    async with deps.db.tenant(visit.tenant_id) as tx:
        await store.insert_tokens(tx, [way_on], now=deps.clock.now())
    return way_on.text


def _fields(body: bytes) -> Fields:
    try:
        return frozenset(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return frozenset()


def _pairs(fields: Fields, named: str) -> frozenset[Any]:
    """What such fields say: categories and channels, or nonsense that is offered to nobody."""
    return frozenset(tuple(value.split(":", 1)) for name, value in fields if name == named)


def _choices(visit: LinkVisit, *, note: str | None, status: int = 200) -> Response[str]:
    page = choices_page(
        visit.words,
        visit.brand,
        visit.offers(),
        version=visit.person.preferences_version,
        token=visit.text,
        everything_off=visit.everything_off,
        note=note,
    )
    return _html(page, status=status)


#: The address is a secret of the one who reads: nobody keeps the page, and nobody is told where they came from.
_HEADERS = {"cache-control": "no-store", "referrer-policy": "no-referrer", "x-robots-tag": "noindex"}


def _html(page: HtmlPage, *, status: int = 200) -> Response[str]:
    headers = {**_HEADERS, "content-security-policy": page.policy}
    return Response(page.html, status_code=status, media_type=_HTML, headers=headers)


def _nothing_here(request: AnyRequest, gone: NoVisitError) -> Response[str]:
    words = gone.words or strings_accepted(header(request.scope, b"accept-language"))
    title, text = {
        "unknown": (words.unknown_title, words.unknown),
        "expired": (words.expired_title, words.expired),
        "busy": (words.busy_title, words.busy),
    }[gone.why]
    answer = _html(plain_page(words, title, text), status=_NOTHING_HERE[gone.why])
    if gone.why == "busy":
        answer.headers["retry-after"] = "60"
    return answer


def _down(request: AnyRequest, error: DatabaseError) -> Response[str]:
    """People get kind words there too, and mail programs a status that makes them try again."""
    _log.warning("preference_page_unavailable", code=error.code)
    words = strings_accepted(header(request.scope, b"accept-language"))
    answer = _html(plain_page(words, words.down_title, words.down), status=_DOWN)
    answer.headers["retry-after"] = "60"
    return answer


def routers(deps: Deps) -> list[Router]:
    """All of them."""
    handlers = [ask, unsubscribe, show_choices, save_choices, ask_to_confirm, confirm]
    return [
        Router(
            "/",
            route_handlers=handlers,
            opt=given(deps),
            middleware=[DefineMiddleware(_LIMITED, limit=MOST_BYTES)],
            exception_handlers={DatabaseBusyError: _down, DatabaseUnavailableError: _down},
        )
    ]
