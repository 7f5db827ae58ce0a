"""Who looks at a page of the console, in which language, and what they typed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final
from urllib.parse import parse_qsl

from tidings.backoffice.alerts.count import AlertCounter
from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.console.frame import THEMES, ConsoleReader, Told, page, redirect
from tidings.backoffice.console.html import el
from tidings.backoffice.console.own_api import ApiProblemError, OwnApi, OwnApp
from tidings.backoffice.console.streamed_form import StreamedForm, read_streamed
from tidings.backoffice.console.strings import LANGUAGE_COOKIE, ConsoleStrings, strings_accepted
from tidings.backoffice.console.uploads import is_multipart, read_multipart
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.operators.prove import MOST_OF_A_CODE
from tidings.backoffice.properties.access import PropertyReach
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.cookies import SessionCookies
from tidings.backoffice.sessions.errors import CsrfError, DeviceProofMissingError, OtherDeviceError
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.browsers import is_from_another_site, is_local, read_cookie
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.places import place_of
from tidings.kernel.http.requests import Request
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.ids import TENANT, TenantId
from tidings.kernel.refusals import RefusalError, UnauthenticatedError
from tidings.kernel.request_notes import note_operator, note_refusal

#: What a form of ours may hold; editors of templates take more.
MOST_BYTES: Final = 32 * 1024
_MOST_FIELDS: Final = 1000
#: The cookie that names the tenant for which somebody of the platform looks.
ACTING_COOKIE: Final = "tidings_acting_for"
THEME_COOKIE: Final = "tidings_theme"

Handler = Callable[..., Awaitable[Reply]]


class TenantNotChosenError(Exception):
    """Somebody of the platform looks for things of a tenant, and has not said of which."""


class NeedsHttpsError(RefusalError):
    """The console needs https; plain http is for the machine itself."""

    code = "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Somebody who is signed in, at one page."""

    caller: Caller
    reader: ConsoleReader
    words: ConsoleStrings
    #: Tidings' own API, as they may use it.
    api: OwnApi
    #: What the address asks for: filters, a cursor, what was just done.
    query: Mapping[str, str]

    @property
    def tenant_is_missing(self) -> bool:
        """Whether somebody of the platform has not chosen a tenant yet."""
        return self.reader.is_platform and self.reader.acting_for is None

    def may(self, scope: str) -> bool:
        """Whether they have it; pages leave out what they may not do."""
        return scope in self.caller.scopes

    def told(self) -> Told | None:
        """What the page before this one did, as the address says by a key of the catalogue."""
        key = self.query.get("told", "")
        text = self.words.texts.get(f"told.{key}") if key.replace("_", "").isalnum() else None
        return None if text is None else Told(text=text)

    async def attest(self, action: AttestedAction, fields: Mapping[str, str]) -> str:
        """An attestation for one action, by the code or passkey in a form; its id, for `attestation` of the API's methods."""
        return await self.api.attest(action, fields.get("code", "")[:MOST_OF_A_CODE])

    def refused(self, error: ApiProblemError) -> Told:
        """What the API says against it: in the reader's language where the catalogue knows it."""
        known = self.words.texts.get(f"error.{error.code}")
        return Told(text=known or error.detail or self.words["error.other"], is_error=True)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Visits:
    """Opens visits; each checks the session, the tenant, and for a POST the proof in the form."""

    authenticator: SessionAuthenticator
    cookies: SessionCookies
    desk: OperatorDesk
    gate: TenantGate
    app: OwnApp
    counter: AlertCounter

    async def open(self, request: Request, *, writes: bool = False, of_tenant: bool = False) -> Visit:
        """Whoever is signed in; an `UnauthenticatedError` where nobody is.

        What `writes` is refused while the tenant is frozen; pages `of_tenant` need one, which the platform's people choose.
        """
        caller = await self.authenticator.find(request.scope)
        if caller is None or caller.session_id is None:
            raise UnauthenticatedError
        if caller.home is not None:
            await self.gate.check(caller.home, writes=writes)
        me = await self.desk.whoami(caller)
        acting_for = self._acting_for(request) if caller.home is None else None
        note_operator(replace(caller, acting_for=acting_for))
        csrf_token = await self.cookies.csrf_token(caller.session_id)
        api = OwnApi(self.app, request.scope, csrf_token=csrf_token, acting_for=acting_for)
        name = me.tenant_name or caller.home
        if acting_for is not None:
            name = await self.desk.name_of(acting_for) or acting_for
        theme = self.cookie(request, THEME_COOKIE)
        reader = ConsoleReader(
            name=me.name or caller.id,
            tenant_name=name,
            role=caller.role,
            scopes=caller.scopes,
            is_platform=caller.home is None,
            csrf_token=csrf_token,
            acting_for=acting_for,
            open_alerts=await self._open_alerts(caller, acting_for),
            theme=theme if theme in THEMES else None,
        )
        visit = Visit(
            caller=caller, reader=reader, words=self.words_of(request), api=api, query=query_of(request)
        )
        if of_tenant and visit.tenant_is_missing:
            raise TenantNotChosenError
        return visit

    async def _open_alerts(self, caller: Caller, acting_for: TenantId | None) -> int:
        """Remembered until one changes, so that a page costs no statement for it."""
        if "alerts:read" not in caller.scopes:
            return 0
        return (await self.counter.of(acting_for or caller.home, PropertyReach.of(caller))).open

    def cookie(self, request: Request, name: str) -> str | None:
        """What a cookie of ours holds."""
        return read_cookie(request.scope, name, secure=self.cookies.is_secure(request.scope))

    def words_of(self, request: Request) -> ConsoleStrings:
        """The language that somebody has chosen, or that their browser asks for."""
        return strings_accepted(request.header("accept-language"), self.cookie(request, LANGUAGE_COOKIE))

    def _acting_for(self, request: Request) -> TenantId | None:
        text = self.cookie(request, ACTING_COOKIE) or ""
        return TenantId(text) if _is_tenant(text) else None

    async def posted(
        self,
        request: Request,
        *,
        writes: Callable[[Mapping[str, str]], bool] | bool,
        of_tenant: bool = False,
    ) -> tuple[Visit, Mapping[str, str]]:
        """The same for a form, with what was typed, by which it may say whether it writes; refused where our own page did not send it."""
        fields = await fields_of(request)
        changes = writes(fields) if callable(writes) else writes
        visit = await self.open(request, writes=changes, of_tenant=of_tenant)
        await self.cookies.check_csrf(request.scope, visit.caller.session_id or "", fields.get("csrf"))
        return visit, fields

    async def uploaded(self, request: Request, *, of_tenant: bool = False) -> tuple[Visit, StreamedForm]:
        """The same for a form with a large file, which is read as it arrives; its fields stand before the file."""
        visit = await self.open(request, writes=True, of_tenant=of_tenant)
        form = await read_streamed(request)
        await self.cookies.check_csrf(request.scope, visit.caller.session_id or "", form.fields.get("csrf"))
        return visit, form

    async def posted_by_stranger(self, request: Request) -> Mapping[str, str]:
        """A form of somebody who is not signed in yet: it comes from our own page, over a connection that keeps secrets."""
        self.check_connection(request)
        if is_from_another_site(request.scope, secure=self.cookies.is_secure(request.scope)):
            raise CsrfError
        return await fields_of(request)

    def check_connection(self, request: Request) -> None:
        """Refuse passwords over plain http, but on this very machine."""
        if not (self.cookies.is_secure(request.scope) or is_local(request.scope)):
            raise NeedsHttpsError


def query_of(request: Request) -> Mapping[str, str]:
    """What the address asks for; of what is there twice the last."""
    text = bytes(request.scope.get("query_string", b"")).decode("ascii", "replace")
    try:
        return dict(parse_qsl(text, max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}


def _is_tenant(text: str) -> bool:
    try:
        TENANT.parse(text)
    except BadValueError:
        return False
    return True


def place(request: Request) -> str:
    """Where the request comes from."""
    return place_of(request.scope)


async def fields_of(request: Request) -> Mapping[str, str]:
    """What a form says; nothing where it can't be read."""
    try:
        if is_multipart(request):
            return (await read_multipart(request))[0]
        return dict(parse_qsl((await request.body()).decode("ascii"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}


async def file_of(request: Request, name: str) -> bytes:
    """The file that a form brings; empty where it brings none."""
    try:
        return (await read_multipart(request))[1].get(name, b"") if is_multipart(request) else b""
    except ValueError:
        return b""


def answering_with_pages(handler: Handler) -> Handler:
    """A refusal is a page too; who is not signed in is led to the sign-in, which tells them why."""

    @wraps(handler)
    async def answered(**arguments: Any) -> Reply:
        request: Request = arguments["request"]
        visits: Visits = arguments["visits"]
        try:
            return await handler(**arguments)
        except OtherDeviceError as carried_off:
            note_refusal(carried_off.code)
            return redirect("/console/sign-in?device", cookies=tuple(visits.cookies.closing(request.scope)))
        except DeviceProofMissingError as error:
            note_refusal(error.code)
            # The session goes on in the application that has the key, with its cookie.
            return refused_page(visits.words_of(request), error)
        except UnauthenticatedError as unknown:
            note_refusal(unknown.code)
            has_cookie = visits.cookies.session_in(request.scope) is not None
            cookies = tuple(visits.cookies.closing(request.scope)) if has_cookie else ()
            return redirect("/console/sign-in", cookies=cookies)
        except TenantNotChosenError:
            return redirect("/console/acting-for")
        except ApiProblemError as problem:
            note_refusal(problem.code)
            if problem.status == 401:
                return redirect("/console/sign-in", cookies=tuple(visits.cookies.closing(request.scope)))
            return await _problem_page(visits, request, problem)
        except (RefusalError, BadValueError) as error:
            note_refusal(error.code)
            return refused_page(visits.words_of(request), error)

    return answered


def refused_page(words: ConsoleStrings, error: RefusalError | BadValueError) -> Reply:
    """Why something did not work, for who has no page of their own yet."""
    code = "suspended" if error.code in ("tenant_suspended", "tenant_deleting", "not_allowed") else error.code
    told = Told(text=words.error(code), is_error=True)
    body = el("p", el("a", words["back"], href="/console"))
    status = 400 if isinstance(error, BadValueError) else 503 if error.code == "busy" else 403
    return page(words, words["sorry"], body, told=told, status=status)


async def _problem_page(visits: Visits, request: Request, problem: ApiProblemError) -> Reply:
    """What the API refused, in the frame of whoever looks."""
    visit = await visits.open(request)
    words = visit.words
    heading = words["not_found"] if problem.status == 404 else words["sorry"]
    body = el("p", el("a", words["back"], href="/console"))
    status = problem.status if problem.status in (400, 403, 404, 409, 422, 423, 429, 503) else 502
    return page(words, heading, body, reader=visit.reader, told=visit.refused(problem), status=status)
