"""Who looks at a page of the console, in which language, and what they typed."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Final
from urllib.parse import parse_qsl

from tidings.backoffice.console.frame import ConsoleReader, Told, page, redirect
from tidings.backoffice.console.strings import ConsoleStrings, strings_accepted
from tidings.backoffice.desk import OperatorDesk
from tidings.backoffice.sessions.authenticate import SessionAuthenticator
from tidings.backoffice.sessions.cookies import SessionCookies
from tidings.backoffice.sessions.errors import CsrfError, OtherDeviceError
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.browsers import is_from_another_site, is_local
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.places import place_of
from tidings.kernel.http.requests import Request
from tidings.kernel.http.tenant_gate import TenantGate
from tidings.kernel.refusals import RefusalError, UnauthenticatedError

#: What a form of ours may hold.
MOST_BYTES: Final = 32 * 1024
_MOST_FIELDS: Final = 50

Handler = Callable[..., Awaitable[Reply]]


class NeedsHttpsError(RefusalError):
    """The console needs https; plain http is for the machine itself."""

    code = "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """Somebody who is signed in, at one page."""

    caller: Caller
    reader: ConsoleReader
    words: ConsoleStrings


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Visits:
    """Opens visits; each checks the session, the tenant, and for a POST the proof in the form."""

    authenticator: SessionAuthenticator
    cookies: SessionCookies
    desk: OperatorDesk
    gate: TenantGate

    async def open(self, request: Request, *, writes: bool = False) -> Visit:
        """Whoever is signed in; an `UnauthenticatedError` where nobody is. What `writes` is refused while the tenant is frozen."""
        caller = await self.authenticator.find(request.scope)
        if caller is None or caller.session_id is None:
            raise UnauthenticatedError
        if caller.home is not None:
            await self.gate.check(caller.home, writes=writes)
        me = await self.desk.whoami(caller)
        reader = ConsoleReader(
            name=me.name or caller.id,
            tenant_name=me.tenant_name or caller.home,
            role=caller.role,
            may_see_operators="operators:read" in caller.scopes,
            csrf_token=await self.cookies.csrf_token(caller.session_id),
        )
        return Visit(caller=caller, reader=reader, words=words_of(request))

    async def posted(
        self, request: Request, *, writes: Callable[[Mapping[str, str]], bool] | bool
    ) -> tuple[Visit, Mapping[str, str]]:
        """The same for a form, with what was typed, by which it may say whether it writes; refused where our own page did not send it."""
        fields = await fields_of(request)
        visit = await self.open(request, writes=writes(fields) if callable(writes) else writes)
        await self.cookies.check_csrf(request.scope, visit.caller.session_id or "", fields.get("csrf"))
        return visit, fields

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


def words_of(request: Request) -> ConsoleStrings:
    """The language that the browser asks for."""
    return strings_accepted(request.header("accept-language"))


def place(request: Request) -> str:
    """Where the request comes from."""
    return place_of(request.scope)


async def fields_of(request: Request) -> Mapping[str, str]:
    """What a form says; nothing where it can't be read."""
    try:
        return dict(parse_qsl((await request.body()).decode("ascii"), max_num_fields=_MOST_FIELDS))
    except ValueError:
        return {}


def answering_with_pages(handler: Handler) -> Handler:
    """A refusal is a page too; who is not signed in is led to the sign-in, which tells them why."""

    @wraps(handler)
    async def answered(**arguments: Any) -> Reply:
        request: Request = arguments["request"]
        visits: Visits = arguments["visits"]
        try:
            return await handler(**arguments)
        except OtherDeviceError:
            return redirect("/console/sign-in?device", cookies=tuple(visits.cookies.closing(request.scope)))
        except UnauthenticatedError:
            has_cookie = visits.cookies.session_in(request.scope) is not None
            cookies = tuple(visits.cookies.closing(request.scope)) if has_cookie else ()
            return redirect("/console/sign-in", cookies=cookies)
        except (RefusalError, BadValueError) as error:
            return refused_page(words_of(request), error)

    return answered


def refused_page(words: ConsoleStrings, error: RefusalError | BadValueError) -> Reply:
    """Why something did not work, for who has no page of their own yet."""
    code = "suspended" if error.code in ("tenant_suspended", "tenant_deleting", "not_allowed") else error.code
    told = Told(text=words.error(code), is_error=True)
    body = f'<p><a href="/console">{words["back"]}</a></p>'
    status = 400 if isinstance(error, BadValueError) else 503 if error.code == "busy" else 403
    return page(words, words["sorry"], body, told=told, status=status)
