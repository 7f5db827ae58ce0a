"""Pages of those who are signed in; every POST brings the proof that our own page sent it."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from tidings.backoffice.api.wire import ChangeOperator, InviteOperator
from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.console.frame import THEMES, Told, redirect
from tidings.backoffice.console.pages import (
    account_page,
    acting_for_page,
    link_page,
    operators_page,
)
from tidings.backoffice.console.sign_in_pages import codes_page
from tidings.backoffice.console.strings import LANGUAGE_COOKIE, languages
from tidings.backoffice.console.visits import (
    ACTING_COOKIE,
    MOST_BYTES,
    THEME_COOKIE,
    Visit,
    Visits,
    answering_with_pages,
)
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.ids import OPERATOR, PASSKEY, SESSION, OperatorId, SessionId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.change import By
from tidings.backoffice.operators.model import MadeLink, OperatorRecord
from tidings.backoffice.operators.prove import MOST_OF_A_CODE
from tidings.backoffice.own_url import ConsoleUrl
from tidings.backoffice.sessions import store as session_store
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sign_in.account import OwnSignInChanger
from tidings.backoffice.sign_in.errors import SignInRefusedError
from tidings.backoffice.sign_in.join import WeakPasswordError
from tidings.backoffice.sign_in.own_passkeys import OwnPasskeys
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.browsers import set_cookie
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.ids import TENANT
from tidings.kernel.refusals import (
    FieldError,
    InvalidError,
    MissingScopeError,
    RefusalError,
    StaleVersionError,
    UnauthenticatedError,
)

console = Resource("console", at="/console", tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_CHOICES_LAST: Final = 365 * 24 * 3600
_MOST_SESSIONS: Final = 100
#: Language of the console → that of mails.
_MAIL_LANGUAGES: Final = {"ar": "ar", "fa": "fa-AF"}
_MOST_OPERATORS: Final = 200
_WHY: Final = {
    "code": "code_refused",
    "locked": "operator_locked",
    "no_factor": "second_factor_missing",
    "wrong": "wrong",
}
#: What each button of an operator needs to have attested.
_ATTESTED: Final[Mapping[str, AttestedAction]] = {
    "change": "operator.change",
    "invite": "operator.invite",
    "revoke-invitation": "operator.status",
    "disable": "operator.status",
    "enable": "operator.status",
    "unlock": "operator.status",
    "reset-mfa": "operator.reset_mfa",
    "erase": "operator.erase",
}
#: What ends rights is possible while the tenant is frozen, as at the API.
_WHILE_FROZEN: Final = frozenset({"revoke-invitation", "disable", "erase"})


@console.post("/sign-out", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def sign_out(request: Request, visits: Visits, desk: OperatorDesk) -> Reply:
    """End the session of this page."""
    visit, _ = await visits.posted(request, writes=False)
    await desk.end_own(visit.caller, SessionId(visit.caller.session_id or ""))
    return redirect("/console/sign-in", cookies=tuple(visits.cookies.closing(request.scope)))


@console.get("/account", media_type=_HTML)
@answering_with_pages
async def show_account(
    request: Request, visits: Visits, own: OwnPasskeys, db: Database, clock: Clock
) -> Reply:
    """One's own sessions, codes and password."""
    visit = await visits.open(request)
    return await _account(visit, own, db, clock, told=visit.told())


@console.post("/account/sessions/{session_id}/revoke", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def end_own_session(request: Request, session_id: str, visits: Visits, desk: OperatorDesk) -> Reply:
    """End one of one's own sessions."""
    visit, _ = await visits.posted(request, writes=False)
    await desk.end_own(visit.caller, SESSION.parse(session_id, field="session_id"))
    return redirect("/console/account?told=saved")


@console.post("/account/codes", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_codes(
    request: Request, visits: Visits, account: OwnSignInChanger, own: OwnPasskeys, db: Database, clock: Clock
) -> Reply:
    """Show ten new recovery codes, this once."""
    visit, fields = await visits.posted(request, writes=False)
    try:
        codes = await account.new_codes(visit.caller, fields.get("code", "")[:MOST_OF_A_CODE])
    except SignInRefusedError as refused:
        return await _account(
            visit, own, db, clock, told=_refused(visit, _WHY.get(refused.why, "other")), status=403
        )
    return codes_page(visit.words, codes, reader=visit.reader)


@console.post("/account/password", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_password(
    request: Request,
    visits: Visits,
    account: OwnSignInChanger,
    own: OwnPasskeys,
    authenticator: SessionAuthenticator,
    db: Database,
    clock: Clock,
) -> Reply:
    """Take another password; one's other sessions end."""
    visit, fields = await visits.posted(request, writes=False)
    try:
        await account.change_password(
            visit.caller,
            old=fields.get("old", ""),
            new=fields.get("new", ""),
            code=fields.get("code", "")[:MOST_OF_A_CODE],
        )
    except WeakPasswordError as weak:
        return await _account(visit, own, db, clock, told=_refused(visit, weak.fault), status=400)
    except SignInRefusedError as refused:
        return await _account(
            visit, own, db, clock, told=_refused(visit, _WHY.get(refused.why, "other")), status=403
        )
    authenticator.forget_all()
    return redirect("/console/account?told=saved")


@console.post("/account/passkeys", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def add_passkey_by_page(
    request: Request, visits: Visits, desk: OperatorDesk, own: OwnPasskeys, db: Database, clock: Clock
) -> Reply:
    """Keep the passkey that the browser has made."""
    visit, fields = await visits.posted(request, writes=False)
    try:
        if await own.needs_proof(visit.caller):
            code = fields.get("code", "")[:MOST_OF_A_CODE]
            await desk.attestor.prove(visit.caller, "passkey.add", code)
        await own.add(visit.caller, fields.get("credential", ""))
    except RefusalError as refused:
        return await _account(visit, own, db, clock, told=_refused(visit, refused.code), status=403)
    return redirect("/console/account?told=passkey_added")


@console.post("/account/passkeys/{passkey_id}/remove", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def remove_passkey_by_page(
    request: Request,
    passkey_id: str,
    visits: Visits,
    desk: OperatorDesk,
    own: OwnPasskeys,
    db: Database,
    clock: Clock,
) -> Reply:
    """Remove one of one's own passkeys."""
    visit, fields = await visits.posted(request, writes=False)
    which = PASSKEY.parse(passkey_id, field="passkey_id")
    try:
        code = fields.get("code", "")[:MOST_OF_A_CODE]
        await desk.attestor.prove(visit.caller, "passkey.remove", code)
        await own.remove(visit.caller, which)
    except RefusalError as refused:
        return await _account(visit, own, db, clock, told=_refused(visit, refused.code), status=403)
    return redirect("/console/account?told=passkey_removed")


@console.get("/operators", media_type=_HTML)
@answering_with_pages
async def show_operators(request: Request, visits: Visits, desk: OperatorDesk) -> Reply:
    """The people who work here."""
    visit = await visits.open(request)
    return await _operators(visit, desk, told=visit.told())


@console.post("/operators", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def invite(request: Request, visits: Visits, desk: OperatorDesk, url: ConsoleUrl) -> Reply:
    """Invite somebody, and show the link by which they join, this once."""
    visit, fields = await visits.posted(request, writes=True)
    try:
        wanted = _read(
            InviteOperator,
            name=fields.get("name", "").strip(),
            email=fields.get("email", "").strip(),
            role=fields.get("role"),
            by_mail="by_mail" in fields,
            language=_MAIL_LANGUAGES.get(visit.words.language.partition("-")[0], "en"),
            **_properties(fields),
        )
        by = await _proven(visit, desk, "operator.invite", fields)
        async with desk.db.scoped(visit.caller.home, caller_role=visit.caller.role) as tx:
            operator, made = await desk.changer.invite(tx, wanted.person(), wanted.rights(), by=by)
            is_mailed = wanted.by_mail and await desk.mail_invitation(
                tx, visit.caller, operator, wanted.person(), made, language=wanted.language
            )
    except UnauthenticatedError:
        raise
    except RefusalError as error:
        return await _operators(visit, desk, told=_refused(visit, error.code), status=403)
    told = ("invitation_mailed" if is_mailed else "invitation_not_mailed") if wanted.by_mail else None
    return link_page(visit, wanted.name, made.url(url.base), made.expires_at, told=told)


@console.post("/operators/{operator_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_operator_by_page(
    request: Request,
    operator_id: str,
    visits: Visits,
    desk: OperatorDesk,
    authenticator: SessionAuthenticator,
    url: ConsoleUrl,
) -> Reply:
    """What the buttons beside an operator do."""
    visit, fields = await visits.posted(request, writes=_writes)
    who = OPERATOR.parse(operator_id, field="operator_id")
    do = fields.get("do", "")
    try:
        if do not in _ATTESTED:
            raise InvalidError([FieldError("do", f"must be one of {', '.join(_ATTESTED)}")])
        wanted = _read(ChangeOperator, role=fields.get("role"), **_properties(fields))
        by = await _proven(visit, desk, _ATTESTED[do], fields)
        async with desk.db.scoped(visit.caller.home, caller_role=visit.caller.role) as tx:
            if do == "change":
                made: Any = await _change(desk, tx, who, wanted, fields.get("version"), by=by)
            else:
                made = await _do(desk, tx, do, who, by=by)
            name = (await desk.seen(tx, made[0])).person if isinstance(made, tuple) else None
    except UnauthenticatedError:
        raise
    except RefusalError as error:
        return await _operators(visit, desk, told=_refused(visit, error.code), status=403)
    authenticator.forget_all()
    if isinstance(made, tuple):
        link: MadeLink = made[1]
        return link_page(visit, name.name if name else who, link.url(url.base), link.expires_at)
    return redirect("/console/operators?told=saved")


@console.post("/theme", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def choose_theme(request: Request, visits: Visits) -> Reply:
    """Show pages light, dark, or as the system has it."""
    _, fields = await visits.posted(request, writes=False)
    theme = fields.get("theme", "")
    cookie = _kept(visits, request, THEME_COOKIE, theme if theme in THEMES else "")
    return redirect(_back(request), cookies=(cookie,))


@console.post("/language", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def choose_language(request: Request, visits: Visits) -> Reply:
    """Speak another language than the browser asks for."""
    _, fields = await visits.posted(request, writes=False)
    language = fields.get("language", "")
    cookie = _kept(visits, request, LANGUAGE_COOKIE, language if language in languages() else "")
    return redirect("/console/account?told=saved", cookies=(cookie,))


@console.get("/acting-for", media_type=_HTML)
@answering_with_pages
async def show_tenants_to_act_for(request: Request, visits: Visits) -> Reply:
    """The tenants for which somebody of the platform may look and act."""
    visit = await visits.open(request)
    cursor = visit.query.get("cursor")
    found = await visit.api.get("/internal/v1/tenants", cursor=cursor)
    return acting_for_page(visit, found["items"], found.get("next_cursor"), cursor)


@console.post("/acting-for", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def act_for(request: Request, visits: Visits) -> Reply:
    """Look at things of this tenant from now on; the tenant's audit has it."""
    _, fields = await visits.posted(request, writes=False)
    tenant = fields.get("tenant", "")
    if tenant:
        TENANT.parse(tenant, field="tenant")
    return redirect("/console", cookies=(_kept(visits, request, ACTING_COOKIE, tenant),))


def _kept(visits: Visits, request: Request, name: str, value: str) -> str:
    """A choice that the browser keeps for a year, or no more."""
    seconds = _CHOICES_LAST if value else 0
    return set_cookie(name, value, secure=visits.cookies.is_secure(request.scope), seconds=seconds)


def _back(request: Request) -> str:
    """The page of ours on which a button was pressed."""
    came_from = urlsplit(request.header("referer") or "")
    path = came_from.path if came_from.path.startswith("/console") else "/console"
    return f"{path}?{came_from.query}" if came_from.query else path


def _writes(fields: Mapping[str, str]) -> bool:
    return fields.get("do", "") not in _WHILE_FROZEN


async def _change(
    desk: OperatorDesk,
    tx: TenantTx | PlatformTx,
    operator_id: OperatorId,
    wanted: ChangeOperator,
    version: str | None,
    *,
    by: By,
) -> OperatorRecord:
    operator = await desk.changer.lock(tx, operator_id, by=by)
    if version != str(operator.version):
        raise StaleVersionError
    return await desk.changer.change_rights(tx, operator, wanted.rights(operator), by=by)


async def _do(
    desk: OperatorDesk, tx: TenantTx | PlatformTx, do: str, operator_id: OperatorId, *, by: By
) -> OperatorRecord | tuple[OperatorRecord, MadeLink]:
    changer = desk.changer
    match do:
        case "invite":
            return await changer.invite_again(tx, operator_id, by=by)
        case "revoke-invitation":
            return await changer.revoke_invitation(tx, operator_id, by=by)
        case "enable":
            return await changer.enable(tx, operator_id, by=by)
        case "unlock":
            return await changer.unlock(tx, operator_id, by=by)
        case "reset-mfa":
            return await desk.shut_out(tx, changer.reset, operator_id, by=by)
        case "erase":
            return await desk.shut_out(tx, changer.erase, operator_id, by=by)
    return await desk.shut_out(tx, changer.disable, operator_id, by=by)


async def _proven(visit: Visit, desk: OperatorDesk, action: AttestedAction, fields: Mapping[str, str]) -> By:
    desk.check_writes(visit.caller)
    await desk.attestor.prove(visit.caller, action, fields.get("code", "")[:MOST_OF_A_CODE])
    return By.of(visit.caller)


async def _account(
    visit: Visit, own: OwnPasskeys, db: Database, clock: Clock, *, told: Told | None = None, status: int = 200
) -> Reply:
    operator_id = OperatorId(visit.caller.id)
    async with db.scoped(visit.caller.home) as tx:
        operator = await operator_store.find_operator(tx, operator_id=operator_id)
        sessions = await session_store.list_sessions(
            tx, operator_id=operator_id, after_id=None, limit=_MOST_SESSIONS, now=clock.now()
        )
    if operator is None:
        raise UnauthenticatedError
    passkeys = await own.read(visit.caller)
    needs_proof = await own.needs_proof(visit.caller)
    return account_page(
        visit, operator, sessions, passkeys, needs_proof=needs_proof, told=told, status=status
    )


async def _operators(
    visit: Visit, desk: OperatorDesk, *, told: Told | None = None, status: int = 200
) -> Reply:
    if "operators:read" not in visit.caller.scopes:
        raise MissingScopeError("operators:read")
    async with desk.db.scoped(visit.caller.home, caller_role=visit.caller.role) as tx:
        found = await desk.read(tx, limit=_MOST_OPERATORS)
    return operators_page(visit, found, told=told, status=status)


def _properties(fields: Mapping[str, str]) -> dict[str, list[str]]:
    """As they were typed, with spaces or commas between; a form without the field says nothing of them."""
    return {"properties": fields["properties"].replace(",", " ").split()} if "properties" in fields else {}


def _refused(visit: Visit, code: str) -> Told:
    return Told(text=visit.words.error(code), is_error=True)


def _read(wanted: Any, **given: Any) -> Any:
    try:
        return msgspec.convert(given, wanted)
    except msgspec.ValidationError:
        raise InvalidError([FieldError("", "has a field that is not acceptable")]) from None
