"""Calls Tidings' own API as whoever looks at a page, in this process: the access guard, scopes and audit are those of any caller."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, unquote, urlencode

import msgspec

from tidings.backoffice.console.own_streams import AnswerStream, receiving
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.asgi import App, Message, Scope, SeenScope
from tidings.kernel.http.callers import TENANT_HEADER
from tidings.kernel.http.operator_requests import OF_OWN_PAGE
from tidings.kernel.ids import TenantId

#: What the API may know of the browser's request. What says which page sent it is ours to say: the page has been checked.
_PASSED_ON: Final = frozenset(
    {b"cookie", b"host", b"user-agent", b"forwarded", b"x-forwarded-for", b"x-forwarded-proto"}
)
_PLATFORM_ONLY: Final = "/internal/v1/"


@dataclass(frozen=True, slots=True)
class OwnApp:
    """The application that serves the API; asked for at the first call, as it serves these pages too."""

    get: Callable[[], App]


class ApiProblemError(Exception):
    """The API refused: what it says to programs (`code`) and to people (`detail`), and which fields are wrong."""

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{status} {problem.get('code')}")
        self.status = status
        self.code: str = problem.get("code", "internal")
        self.detail: str = problem.get("detail", "")
        #: Field → what to do about it.
        self.errors: Mapping[str, str] = {
            error["field"]: error["remedy"] for error in problem.get("errors", ())
        }
        #: All that the problem says.
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiAnswer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)

    @property
    def data(self) -> Any:
        """The JSON in it; None where there is nothing."""
        return msgspec.json.decode(self.content) if self.content else None

    @property
    def etag(self) -> str:
        """The version, for `if_match`."""
        return self.headers.get("etag", "")


def at(template: str, *values: str) -> str:
    """A path with values in the place of `{}`, whatever characters they have."""
    return template.format(*(quote(value, safe="") for value in values))


class OwnApi:
    """The API as one operator sees it. Every method raises an `ApiProblemError` where the API refuses."""

    def __init__(
        self, app: OwnApp, scope: SeenScope, *, csrf_token: str, acting_for: TenantId | None = None
    ) -> None:
        self._app = app
        self._scope = scope
        self._csrf_token = csrf_token
        self._acting_for = acting_for

    async def get(self, path: str, **query: Any) -> Any:
        """The data at a path. Query values that are None or empty are left out."""
        return (await self.call("GET", path, query=query)).data

    async def post(self, path: str, body: Any = None, *, attestation: str | None = None) -> Any:
        """Do something; what it answers."""
        return (await self.call("POST", path, body=body, attestation=attestation)).data

    async def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        media_type: str = "application/json",
        if_match: str | None = None,
        attestation: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ApiAnswer:
        """Any request; `body` goes as JSON, `content` as it is, or as it arrives."""
        sent = content if content is not None else b"" if body is None else msgspec.json.encode(body)
        given = {
            **({"content-length": str(len(sent))} if isinstance(sent, bytes) else {}),
            **({"content-type": media_type} if sent else {}),
            **({"if-match": if_match} if if_match else {}),
            **({"x-attestation": attestation} if attestation else {}),
            **(headers or {}),
        }
        answered = await _ask(self._app.get(), self._scope_of(method, path, query or {}, given), sent)
        if answered.status >= 400:
            raise ApiProblemError(answered.status, _problem(answered))
        return answered

    async def download(self, method: str, path: str, **query: Any) -> Reply:
        """A file that the API sends, passed on while it is made."""
        scope = self._scope_of(method, path, query, {"content-length": "0"})
        stream = AnswerStream(self._app.get(), scope, b"")
        status, headers = await stream.start()
        if status >= 400:
            answered = ApiAnswer(status=status, headers=headers, content=await stream.whole())
            raise ApiProblemError(status, _problem(answered))
        kept = {
            "content-disposition": headers.get("content-disposition", "attachment"),
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
        }
        return Reply(body=stream.pieces(), media_type=headers.get("content-type"), headers=kept)

    async def attest(self, action: str, code: str) -> str:
        """An attestation for one action, by the code that somebody typed; its id, for `attestation`."""
        made = await self.post("/bff/v1/attestations", {"action": action, "code": code})
        return str(made["id"])

    def _scope_of(self, method: str, path: str, query: Mapping[str, Any], more: Mapping[str, str]) -> Scope:
        seen = self._scope
        given = {"x-csrf-token": self._csrf_token, "sec-fetch-site": "same-origin", **more}
        if self._acting_for is not None and not path.startswith(_PLATFORM_ONLY):
            given[TENANT_HEADER.lower()] = self._acting_for
        wanted = {key: value for key, value in query.items() if value not in (None, "")}
        passed = [(name, value) for name, value in seen["headers"] if name in _PASSED_ON]
        return {
            "type": "http",
            "asgi": seen.get("asgi", {"version": "3.0"}),
            "http_version": "1.1",
            "method": method,
            "scheme": seen.get("scheme", "http"),
            "path": unquote(path),
            "raw_path": path.encode("ascii"),
            "root_path": "",
            "query_string": urlencode(wanted, doseq=True).encode("ascii"),
            "headers": [
                *passed,
                *((name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()),
            ],
            "client": seen.get("client"),
            "server": seen.get("server"),
            OF_OWN_PAGE: True,
        }


async def _ask(app: App, scope: Scope, content: bytes | AsyncIterator[bytes]) -> ApiAnswer:
    status = 500
    headers: dict[str, str] = {}
    pieces: list[bytes] = []

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update(
                (str(k, "latin-1").lower(), str(v, "latin-1")) for k, v in message.get("headers", ())
            )
        elif message["type"] == "http.response.body":
            pieces.append(message.get("body", b""))

    await app(scope, receiving(content), send)
    return ApiAnswer(status=status, headers=headers, content=b"".join(pieces))


def _problem(answered: ApiAnswer) -> Mapping[str, Any]:
    try:
        found = answered.data
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}
