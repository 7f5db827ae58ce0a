"""Pages of the way in: sign-in, join, and one-time links. Looking changes nothing."""

import math
from typing import Final

import msgspec

from tidings.backoffice.console.frame import Told, page, redirect
from tidings.backoffice.console.sign_in_pages import (
    authenticator_page,
    choose_page,
    code_page,
    codes_page,
    entered_page,
    join_page,
    open_page,
    sign_in_page,
)
from tidings.backoffice.console.static import static_file
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import MOST_BYTES, Visits, answering_with_pages, place, query_of
from tidings.backoffice.oidc.provider import BEGUN_FOR, IdentityProvider
from tidings.backoffice.operators.prove import MOST_OF_A_CODE
from tidings.backoffice.passkeys.challenge import PasskeyChallenger
from tidings.backoffice.sign_in.by_oidc import OidcSignIn
from tidings.backoffice.sign_in.errors import SignInRefusedError
from tidings.backoffice.sign_in.join import Joiner, WeakPasswordError
from tidings.backoffice.sign_in.sign_in import Passed, SignIn
from tidings.backoffice.sign_in.ticket import Choice
from tidings.contracts.conversations import TenantNames
from tidings.kernel.db import Database
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.browsers import set_cookie
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

sign_in_pages = Resource(
    "console-sign-in", at="/console", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
#: Why, as the pages' words are called.
_WORDS: Final = {
    "passkey": "passkey_refused",
    "code": "code_refused",
    "locked": "operator_locked",
    "no_factor": "second_factor_missing",
}
_STATUS: Final = {"busy": 429, "over": 410, "provider_away": 503}
#: What a browser holds while somebody is at the identity provider.
_OIDC_COOKIE: Final = "tidings_oidc"


@sign_in_pages.get("/static/{name}", media_type="text/css")
async def console_file(name: str) -> Reply:
    """Style and script of all pages."""
    found = static_file(name)
    if found is None:
        return Reply(body=b"", media_type="text/plain", status=404)
    headers = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}
    return Reply(body=found.content, media_type=found.media_type, headers=headers)


@sign_in_pages.get("/sign-in", media_type=_HTML)
@answering_with_pages
async def ask_to_sign_in(request: Request, visits: Visits, provider: IdentityProvider) -> Reply:
    """Ask for mail and password, as a page."""
    words = visits.words_of(request)
    visits.check_connection(request)
    from_elsewhere = request.scope.get("query_string") == b"device"
    told = Told(text=words.error("session_of_another_device"), is_error=True) if from_elsewhere else None
    return sign_in_page(words, provider=provider.name, told=told)


@sign_in_pages.post("/sign-in", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def check_password(
    request: Request,
    visits: Visits,
    sign_in: SignIn,
    provider: IdentityProvider,
    db: Database,
    names: TenantNames,
) -> Reply:
    """Check mail and password, and ask for the code."""
    words = visits.words_of(request)
    fields = await visits.posted_by_stranger(request)
    email = fields.get("email", "")[:254]
    try:
        passed = await sign_in.check_password(
            email,
            fields.get("password", ""),
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except SignInRefusedError as refused:
        return sign_in_page(
            words, email=email, provider=provider.name, told=_told(words, refused), status=_status(refused)
        )
    choices = [(one.operator_id, await _name(db, names, one)) for one in passed.choices]
    return code_page(words, passed.ticket, choices)


@sign_in_pages.post("/code", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def check_code(
    request: Request,
    visits: Visits,
    sign_in: SignIn,
    provider: IdentityProvider,
    db: Database,
    names: TenantNames,
) -> Reply:
    """Check the code, and open a session on this device."""
    words = visits.words_of(request)
    fields = await visits.posted_by_stranger(request)
    ticket = fields.get("ticket", "")
    try:
        opened = await sign_in.finish(
            ticket,
            fields.get("operator"),
            fields.get("code", "")[:MOST_OF_A_CODE],
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except SignInRefusedError as refused:
        if refused.why != "code":
            return sign_in_page(
                words, provider=provider.name, told=_told(words, refused), status=_status(refused)
            )
        choices = [
            (one.operator_id, await _name(db, names, one)) for one in await sign_in.tickets.read(ticket)
        ]
        return code_page(words, ticket, choices, told=_told(words, refused), status=403)
    return redirect("/console", cookies=tuple(visits.cookies.opening(request.scope, opened)))


@sign_in_pages.post("/passkey/challenge", body_limit=MOST_BYTES)
@answering_with_pages
async def ask_for_passkey(
    request: Request, visits: Visits, sign_in: SignIn, challenger: PasskeyChallenger
) -> Reply:
    """What a browser shows a passkey for, to sign in; the script asks for it."""
    await visits.posted_by_stranger(request)
    # Each is a row until its time is over: a place gets as many as it has tries.
    wait = sign_in.limits.wait_of_place(place(request))
    if wait is not None:
        later = {"cache-control": "no-store", "retry-after": str(math.ceil(wait))}
        return Reply(body=b"{}", media_type="application/json", status=429, headers=later)
    asked = {"public_key": await challenger.to_sign_in()}
    headers = {"cache-control": "no-store"}
    return Reply(body=msgspec.json.encode(asked), media_type="application/json", headers=headers)


@sign_in_pages.post("/passkey", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def check_passkey(
    request: Request, visits: Visits, sign_in: SignIn, provider: IdentityProvider
) -> Reply:
    """Open a session for a passkey."""
    fields = await visits.posted_by_stranger(request)
    try:
        opened = await sign_in.by_passkey(
            fields.get("code", ""),
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except SignInRefusedError as refused:
        words = visits.words_of(request)
        return sign_in_page(
            words, provider=provider.name, told=_told(words, refused), status=_status(refused)
        )
    return redirect("/console", cookies=tuple(visits.cookies.opening(request.scope, opened)))


@sign_in_pages.get("/oidc", media_type=_HTML)
@answering_with_pages
async def begin_at_provider(
    request: Request, visits: Visits, oidc: OidcSignIn, provider: IdentityProvider
) -> Reply:
    """Lead somebody to the house's identity provider."""
    visits.check_connection(request)
    try:
        begun = await oidc.begin(place=place(request))
    except SignInRefusedError as refused:
        words = visits.words_of(request)
        return sign_in_page(
            words, provider=provider.name, told=_told(words, refused), status=_status(refused)
        )
    kept = _oidc_cookie(visits, request, begun.kept, int(BEGUN_FOR.total_seconds()))
    return redirect(begun.url, cookies=(kept,))


@sign_in_pages.get("/oidc/callback", media_type=_HTML)
@answering_with_pages
async def come_from_provider(
    request: Request,
    visits: Visits,
    oidc: OidcSignIn,
    provider: IdentityProvider,
    db: Database,
    names: TenantNames,
) -> Reply:
    """Where the provider leads people back to: who began in this browser, and is an operator, is let in."""
    words, query = visits.words_of(request), query_of(request)
    visits.check_connection(request)
    try:
        opened = await oidc.finish(
            visits.cookie(request, _OIDC_COOKIE),
            state=query.get("state", ""),
            code=query.get("code", ""),
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except SignInRefusedError as refused:
        return sign_in_page(
            words, provider=provider.name, told=_told(words, refused), status=_status(refused)
        )
    if isinstance(opened, Passed):
        choices = [(one.operator_id, await _name(db, names, one)) for one in opened.choices]
        return choose_page(words, opened.ticket, choices)
    over = _oidc_cookie(visits, request, "", 0)
    return entered_page(words, (*visits.cookies.opening(request.scope, opened), over))


@sign_in_pages.post("/oidc/choose", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def choose_after_provider(
    request: Request, visits: Visits, oidc: OidcSignIn, provider: IdentityProvider
) -> Reply:
    """Open a session as one of the operators that somebody is."""
    fields = await visits.posted_by_stranger(request)
    try:
        opened = await oidc.choose(
            fields.get("ticket", ""),
            fields.get("operator", ""),
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except SignInRefusedError as refused:
        words = visits.words_of(request)
        return sign_in_page(
            words, provider=provider.name, told=_told(words, refused), status=_status(refused)
        )
    return redirect("/console", cookies=tuple(visits.cookies.opening(request.scope, opened)))


@sign_in_pages.get("/join/{token}", media_type=_HTML)
@answering_with_pages
async def ask_to_join(request: Request, token: str, visits: Visits, joiner: Joiner) -> Reply:
    """Ask somebody who was invited for a password."""
    words = visits.words_of(request)
    visits.check_connection(request)
    try:
        joining = await joiner.look(token, place=place(request))
    except SignInRefusedError as refused:
        return _over(words, refused)
    return join_page(words, joining.person, token)


@sign_in_pages.post("/join/{token}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def join(request: Request, token: str, visits: Visits, joiner: Joiner) -> Reply:
    """Take the password, or the first code of the authenticator; then they are signed in."""
    words = visits.words_of(request)
    fields = await visits.posted_by_stranger(request)
    ticket = fields.get("ticket", "")
    try:
        if "password" in fields:
            chosen = await joiner.choose_password(token, fields["password"], place=place(request))
            return authenticator_page(words, chosen, token)
        joined = await joiner.confirm(
            token,
            ticket,
            fields.get("code", "")[:MOST_OF_A_CODE],
            device_cookie=visits.cookies.device_in(request.scope),
            place=place(request),
        )
    except WeakPasswordError as weak:
        told = Told(text=words.error(weak.fault), is_error=True)
        joining = await joiner.look(token, place=place(request))
        return join_page(words, joining.person, token, told=told, status=400)
    except SignInRefusedError as refused:
        if refused.why == "code":
            chosen = await joiner.resume(token, ticket, place=place(request))
            return authenticator_page(words, chosen, token, told=_told(words, refused), status=403)
        if refused.why == "again":
            joining = await joiner.look(token, place=place(request))
            return join_page(words, joining.person, token, told=_told(words, refused), status=403)
        return _over(words, refused)
    cookies = tuple(visits.cookies.opening(request.scope, joined.opened))
    return codes_page(words, joined.recovery_codes, reader=None, cookies=cookies)


@sign_in_pages.get("/open/{token}", media_type=_HTML)
@answering_with_pages
async def ask_to_open(request: Request, token: str, visits: Visits) -> Reply:
    """Ask whether to use a one-time link, as a page; changes nothing."""
    visits.check_connection(request)
    return open_page(visits.words_of(request), token)


@sign_in_pages.post("/open/{token}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def open_console(request: Request, token: str, visits: Visits, sign_in: SignIn) -> Reply:
    """Open a session by a link that the installation made."""
    await visits.posted_by_stranger(request)
    try:
        opened = await sign_in.open_by_link(
            token, device_cookie=visits.cookies.device_in(request.scope), place=place(request)
        )
    except SignInRefusedError as refused:
        return _over(visits.words_of(request), refused)
    return redirect("/console", cookies=tuple(visits.cookies.opening(request.scope, opened)))


def _oidc_cookie(visits: Visits, request: Request, value: str, seconds: int) -> str:
    # The provider's page leads back by a link: a strict cookie would stay behind.
    secure = visits.cookies.is_secure(request.scope)
    return set_cookie(_OIDC_COOKIE, value, secure=secure, seconds=seconds, from_links=True)


async def _name(db: Database, names: TenantNames, choice: Choice) -> str | None:
    if choice.tenant_id is None:
        return None
    async with db.tenant(choice.tenant_id) as tx:
        found = await names.of(tx)
    return found.name if found else choice.tenant_id


def _told(words: ConsoleStrings, refused: SignInRefusedError) -> Told:
    return Told(text=words.error(_WORDS.get(refused.why, refused.why)), is_error=True)


def _status(refused: SignInRefusedError) -> int:
    return _STATUS.get(refused.why, 403)


def _over(words: ConsoleStrings, refused: SignInRefusedError) -> Reply:
    body = f'<p><a href="/console/sign-in">{words["sign_in"]}</a></p>'
    return page(words, words["sorry"], body, told=_told(words, refused), status=_status(refused))
