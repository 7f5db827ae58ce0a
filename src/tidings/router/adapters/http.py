"""HTTP: any vendor that takes JSON, described by settings instead of code.

The request is a template, the answer is read by its status and a path or two. What is certain is told as certain:
a connection that was never made is `TryLater`; one that ended after the request went out is `Unlearned`.
"""

import asyncio
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Address, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.logs import get_logger
from tidings.router.adapters.egress import Guard, NotAllowedThereError
from tidings.router.adapters.http_answers import HttpAnswer, Reading, Verdict, checked
from tidings.router.adapters.http_failures import outcome_of_failure
from tidings.router.adapters.http_template import compile_header, compile_json, compile_url

if TYPE_CHECKING:
    # Heavy (10 MB): only those who send over HTTP pay for it.
    import aiohttp

_log = get_logger("http_adapter")
_MOST_ANSWER_BYTES = 256 * 1024
_MOST_HOPS = 3
_Text = Annotated[str, Meta(min_length=1, max_length=2048, pattern=r"^[^\x00-\x1f\x7f]+$")]
_HeaderName = Annotated[
    str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}$", description="must be a header's name")
]
_Path = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$",
        max_length=200,
        description="must be a path such as messages.0.id",
    ),
]
_Status = Annotated[
    str, Meta(pattern=r"^[1-5]([0-9]{2}|xx)$", description="must be a status such as 429 or 5xx")
]
#: Headers that the connection needs for itself.
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-type", "expect"})

#: What is sent where the settings describe nothing else.
DEFAULT_BODY: Mapping[str, object] = {
    name: f"{{{{{name}}}}}"
    for name in [
        "message_id",
        "channel",
        "from",
        "from_name",
        "to",
        "to_name",
        "reply_to",
        "subject",
        "text",
        "html",
        "metadata",
    ]
}


class HttpSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with a vendor that takes JSON."""

    url: _Text
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: Annotated[dict[_HeaderName, _Text], Meta(max_length=50)] = {}
    #: Any JSON with placeholders.
    body: dict[str, Any] | list[Any] | None = None
    #: For `{{secret.…}}`; by reference as `{"token_ref": "file://…"}`.
    secrets: Annotated[dict[str, _Text], Meta(max_length=20)] = {}
    #: Status → what it means, over the usual meanings.
    statuses: dict[_Status, Verdict] = {}
    #: Where a success says how the vendor calls the message; then an answer without it is none.
    message_id_path: _Path | None = None
    #: Where a refusal says its code and its reason.
    error_code_path: _Path | None = None
    error_reason_path: _Path | None = None
    #: Answers a GET with 2xx to those whose credentials are good: for a check that sends nothing.
    check_url: _Text | None = None
    #: Carries our message id, the same when a message is repeated.
    idempotency_header: _HeaderName = "Idempotency-Key"
    #: The vendor really drops repeats with the same key.
    idempotent: bool = False
    #: Trust the certificates of this file, and no others.
    ca_file: _Text | None = None
    #: Most requests at once.
    connections: Annotated[int, Meta(ge=1, le=500)] = 16
    connect_seconds: Annotated[float, Meta(gt=0, le=300)] = 10.0
    #: For one request, from the first byte to the last.
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 30.0
    #: What has not begun after this is given back.
    batch_seconds: Annotated[float, Meta(gt=0, le=3600)] = 60.0

    def __repr__(self) -> str:
        return f"HttpSettings(host={urlsplit(self.url).hostname!r})"


class HttpAdapter:
    """Hands messages to one account at one vendor over HTTP."""

    name = "http"
    channels = frozenset({"email", "sms", "whatsapp", "telegram", "viber", "voice", "push", "webhook"})
    capabilities = Capabilities(html=True)

    def __init__(self, settings: HttpSettings, *, clock: Clock, guard: Guard) -> None:
        self._settings = settings
        self._guard = guard
        if settings.idempotent:
            self.capabilities = Capabilities(html=True, idempotent=True)
        self._url = compile_url(settings.url, settings.secrets)
        self._headers = {
            _header_name(name, i): compile_header(value, settings.secrets, f"headers.{name}")
            for i, (name, value) in enumerate(settings.headers.items())
        }
        self._check_url = (
            compile_url(settings.check_url, settings.secrets, "check_url") if settings.check_url else None
        )
        body = settings.body if settings.body is not None else DEFAULT_BODY
        self._body = compile_json(body, settings.secrets, "body")
        self._reading = Reading(
            clock=clock,
            statuses=settings.statuses,
            message_id_path=settings.message_id_path,
            error_code_path=settings.error_code_path,
            error_reason_path=settings.error_reason_path,
        )
        self._context = _context(settings)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        settings = self._settings
        return timedelta(seconds=settings.batch_seconds + settings.timeout_seconds + 1)

    async def send(self, messages: Sequence[OutboundMessage]) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        outcomes: list[Outcome] = [
            TryLater(reason="there was no time left for it in this set", code="late") for _ in messages
        ]
        deadline = asyncio.get_running_loop().time() + self._settings.batch_seconds
        line = iter(enumerate(messages))
        workers = min(len(messages), self._settings.connections)
        await asyncio.gather(*(self._work(line, outcomes, deadline) for _ in range(workers)))
        return outcomes

    async def check(self) -> Outcome | None:
        """Ask what `check_url` names; None where the settings name nothing."""
        if self._check_url is None:
            return None
        nobody = OutboundMessage(message_id="", tenant_id="", channel="", sender=Address(value=""), to="")
        try:
            headers = {name: fill(nobody) for name, fill in self._headers.items()}
            answer = await self._call(self._check_url(nobody), headers, None, method="GET")
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, it is told
            outcome = outcome_of_failure(error)
            return (
                TryLater(reason=outcome.reason, code="connection")
                if isinstance(outcome, Unlearned)
                else outcome
            )
        return checked(answer.status)

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def _work(
        self, line: Iterator[tuple[int, OutboundMessage]], outcomes: list[Outcome], deadline: float
    ) -> None:
        loop = asyncio.get_running_loop()
        for place, message in line:
            if self._closed:
                outcomes[place] = TryLater(reason="the adapter is closed", code="closed")
            elif loop.time() <= deadline:
                outcomes[place] = await self._send_one(message)

    async def _send_one(self, message: OutboundMessage) -> Outcome:
        try:
            url, headers, body = self._request(message)
        except BadValueError as error:
            return Refused(reason=str(error), code="bad_message")
        except (TypeError, ValueError, msgspec.MsgspecError):
            return Refused(reason="metadata must be JSON", code="bad_message")
        try:
            answer = await self._call(url, headers, body)
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, one message pays for it
            _log.info("http.unanswered", message_id=message.message_id, error=type(error).__name__)
            return outcome_of_failure(error)
        return self._reading.outcome(answer, message)

    def _request(self, message: OutboundMessage) -> tuple[str, dict[str, str], bytes]:
        headers = {name: fill(message) for name, fill in self._headers.items()}
        headers["Content-Type"] = "application/json"
        headers.setdefault(self._settings.idempotency_header, message.message_id)
        return self._url(message), headers, msgspec.json.encode(self._body(message))

    async def _call(
        self, url: str, headers: Mapping[str, str], body: bytes | None, *, method: str | None = None
    ) -> HttpAnswer:
        session = self._session or self._open()
        for _ in range(_MOST_HOPS):
            async with session.request(
                method or self._settings.method, url, data=body, headers=headers, allow_redirects=False
            ) as response:
                onward = _same_place(url, response.status, response.headers.get("Location"))
                if onward is None:
                    content = await response.content.read(_MOST_ANSWER_BYTES)
                    return HttpAnswer(
                        status=response.status,
                        retry_after=response.headers.get("Retry-After"),
                        content=content,
                    )
                url = onward
        return HttpAnswer(status=310, retry_after=None, content=b"")

    def _open(self) -> "aiohttp.ClientSession":
        import aiohttp

        settings = self._settings
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=settings.connections,
                ssl=self._context,
                # Shorter than most servers': a request must not meet a connection that is just being closed.
                keepalive_timeout=10,
                socket_factory=self._socket,
            ),
            timeout=aiohttp.ClientTimeout(
                total=settings.timeout_seconds,
                sock_connect=min(settings.connect_seconds, settings.timeout_seconds),
            ),
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers={"User-Agent"},
            headers={"User-Agent": "tidings"},
            trust_env=False,
        )
        return self._session

    def _socket(self, info: Any) -> socket.socket:
        """Called for the address that is really connected to: no name can be looked up twice in two ways."""
        family, kind, protocol, _, address = info
        if not self._guard(str(address[0])):
            raise NotAllowedThereError("the vendor's address is not one that we may connect to")
        return socket.socket(family, kind, protocol)


def _header_name(name: str, i: int) -> str:
    if name.lower() in _OURS:
        raise BadValueError(f"headers[{i}]", f"must not be {name}: it is written by itself")
    return name


def _context(settings: HttpSettings) -> ssl.SSLContext | bool:
    if settings.ca_file is None:
        return True
    try:
        return ssl.create_default_context(cafile=Path(settings.ca_file))
    except (OSError, ssl.SSLError):
        raise BadValueError("ca_file", "must be a file of certificates in PEM that can be read") from None


def _same_place(url: str, status: int, location: str | None) -> str | None:
    """Where to go on, if the redirect keeps the method and stays at the same scheme, host and port."""
    if status not in {307, 308} or not location:
        return None
    here, there = urlsplit(url), urlsplit(location)
    if not there.netloc and location.startswith("/") and not location.startswith("//"):
        return f"{here.scheme}://{here.netloc}{location}"
    return location if (here.scheme, here.netloc) == (there.scheme, there.netloc) else None
