"""HTTP: any vendor that takes JSON, described by settings instead of code.

The request is a template, the answer is read by its status and a path or two. What is certain is told as certain:
a connection that was never made is `TryLater`; one that ended after the request went out is `Unlearned`.
"""

import asyncio
import math
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Address, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.logs import get_logger
from tidings.router.adapters.cut_off import LATE, UNANSWERED
from tidings.router.adapters.egress import Guard, NotAllowedThereError
from tidings.router.adapters.http_answers import HttpAnswer, Reading, checked
from tidings.router.adapters.http_failures import outcome_of_failure
from tidings.router.adapters.http_settings import HttpSettings, refuse_deaf_receipts
from tidings.router.adapters.http_template import Fill, compile_header, compile_json, compile_url

if TYPE_CHECKING:
    # Heavy (10 MB): only those who send over HTTP pay for it.
    import aiohttp

__all__ = ["HttpAdapter", "HttpSettings"]

_log = get_logger("http_adapter")
_MOST_ANSWER_BYTES = 256 * 1024
_MOST_HOPS = 3
#: The part of a request's time in which the vendor must be reached: who was not has certainly not been asked.
_TO_REACH_IT = 0.9
#: Seconds; less than none would mean no end at all.
_LEAST = 0.001
#: Headers that the connection needs for itself.
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "content-type", "expect"})

#: For requests that carry no message.
_NOBODY = OutboundMessage(message_id="", tenant_id="", channel="", sender=Address(value=""), to="")
#: What the placeholders of `cancel_url` can name.
_CANCELLED: Mapping[str, Fill] = {"provider_message_id": str}

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


class HttpAdapter:
    """Hands messages to one account at one vendor over HTTP."""

    name = "http"
    channels = frozenset({"email", "sms", "whatsapp", "telegram", "viber", "voice", "push", "webhook"})
    capabilities = Capabilities(html=True)

    def __init__(self, settings: HttpSettings, *, clock: Clock, guard: Guard) -> None:
        self._settings = settings
        self._guard = guard
        refuse_deaf_receipts(settings)
        self.capabilities = Capabilities(
            html=True,
            idempotent=settings.idempotent,
            receipts=settings.receipts,
            cancel=settings.cancel_url is not None,
        )
        self._url = compile_url(settings.url, settings.secrets)
        self._headers = {
            _header_name(name, i): compile_header(value, settings.secrets, f"headers.{name}")
            for i, (name, value) in enumerate(settings.headers.items())
        }
        self._check_url = (
            compile_url(settings.check_url, settings.secrets, "check_url") if settings.check_url else None
        )
        self._cancel_url = (
            compile_url(settings.cancel_url, settings.secrets, "cancel_url", _CANCELLED)
            if settings.cancel_url
            else None
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
        #: One for each connection: whoever has none has not begun, and its clock does not run.
        self._slots = asyncio.Semaphore(settings.connections)
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        settings = self._settings
        return timedelta(seconds=settings.batch_seconds + settings.timeout_seconds + 1)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        outcomes: list[Outcome] = [] if learned is None else learned
        outcomes[:] = [LATE] * len(messages)
        deadline = asyncio.get_running_loop().time() + self._settings.batch_seconds
        line = iter(enumerate(messages))
        workers = min(len(messages), self._settings.connections)
        await asyncio.gather(*(self._work(line, outcomes, deadline, within) for _ in range(workers)))
        return outcomes

    async def check(self) -> Outcome | None:
        """Ask what `check_url` names; None where the settings name nothing."""
        if self._check_url is None:
            return None
        try:
            headers = self._plain_headers()
            async with self._slots:
                answer = await self._call(self._check_url(_NOBODY), headers, None, method="GET")
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, it is told
            outcome = outcome_of_failure(error)
            return (
                TryLater(reason=outcome.reason, code="connection")
                if isinstance(outcome, Unlearned)
                else outcome
            )
        return checked(answer.status)

    async def cancel(self, provider_message_ids: Sequence[str]) -> Sequence[bool]:
        """Ask what `cancel_url` names for each; False for all where the settings name nothing."""
        taken_back = [False] * len(provider_message_ids)
        if self._cancel_url is None:
            return taken_back
        deadline = asyncio.get_running_loop().time() + self._settings.batch_seconds
        line = iter(enumerate(provider_message_ids))
        workers = min(len(provider_message_ids), self._settings.connections)
        await asyncio.gather(
            *(self._take_back(self._cancel_url, line, taken_back, deadline) for _ in range(workers))
        )
        return taken_back

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        if self._session is not None:
            await self._session.close()

    async def _work(
        self,
        line: Iterator[tuple[int, OutboundMessage]],
        outcomes: list[Outcome],
        deadline: float,
        within: float | None,
    ) -> None:
        loop = asyncio.get_running_loop()
        for place, message in line:
            async with self._slots:
                if self._closed:
                    outcomes[place] = TryLater(reason="the adapter is closed", code="closed")
                elif loop.time() <= deadline:
                    outcomes[place] = UNANSWERED
                    outcomes[place] = await self._send_one(message, within)

    async def _send_one(self, message: OutboundMessage, within: float | None) -> Outcome:
        try:
            url, headers, body = self._request(message)
        except BadValueError as error:
            return Refused(reason=str(error), code="bad_message")
        except (TypeError, ValueError, msgspec.MsgspecError):
            return Refused(reason="metadata must be JSON", code="bad_message")
        try:
            answer = await self._call(url, headers, body, within=within)
            return self._reading.outcome(answer, message)
        except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, one message pays for it
            _log.info("http.unanswered", message_id=message.message_id, error=type(error).__name__)
            return outcome_of_failure(error)

    async def _take_back(
        self, url: Fill, line: Iterator[tuple[int, str]], taken_back: list[bool], deadline: float
    ) -> None:
        loop = asyncio.get_running_loop()
        for place, provider_message_id in line:
            if self._closed or loop.time() > deadline:
                return
            try:
                async with self._slots:
                    answer = await self._call(
                        url(provider_message_id), self._plain_headers(), None, method="DELETE"
                    )
            except Exception as error:  # noqa: BLE001  # whatever a vendor makes the library do, it is not called back
                _log.info("http.not_cancelled", error=type(error).__name__)
            else:
                taken_back[place] = 200 <= answer.status < 300

    def _plain_headers(self) -> dict[str, str]:
        """Those of a request that is about no message's content."""
        return {name: fill(_NOBODY) for name, fill in self._headers.items()}

    def _request(self, message: OutboundMessage) -> tuple[str, dict[str, str], bytes]:
        headers = {name: fill(message) for name, fill in self._headers.items()}
        headers["Content-Type"] = "application/json"
        headers.setdefault(self._settings.idempotency_header, message.message_id)
        return self._url(message), headers, msgspec.json.encode(self._body(message))

    async def _call(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        *,
        method: str | None = None,
        within: float | None = None,
    ) -> HttpAnswer:
        """One request with one clock, however many hops it takes; only for those who have a slot."""
        session = self._session or self._open()
        usual = self._settings.timeout_seconds
        seconds = usual if within is None else min(within, usual)
        timeout = session.timeout if seconds == usual else self._timeout(seconds)
        ends = asyncio.get_running_loop().time() + seconds
        for _ in range(_MOST_HOPS):
            async with session.request(
                method or self._settings.method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,
                timeout=timeout,
            ) as response:
                onward = _same_place(url, response.status, response.headers.get("Location"))
                if onward is None:
                    return HttpAnswer(
                        status=response.status,
                        retry_after=response.headers.get("Retry-After"),
                        content=await _whole(response),
                    )
                url = onward
            timeout = self._timeout(ends - asyncio.get_running_loop().time())
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
            timeout=self._timeout(settings.timeout_seconds),
            auto_decompress=True,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers={"User-Agent"},
            headers={"User-Agent": "tidings"},
            trust_env=False,
        )
        return self._session

    def _timeout(self, seconds: float) -> "aiohttp.ClientTimeout":
        import aiohttp

        seconds = max(seconds, _LEAST)
        return aiohttp.ClientTimeout(
            total=seconds,
            connect=min(self._settings.connect_seconds, _TO_REACH_IT * seconds),
            # To the moment: two ends that are rounded up can become one.
            ceil_threshold=math.inf,
        )

    def _socket(self, info: Any) -> socket.socket:
        """Called for the address that is really connected to: no name can be looked up twice in two ways."""
        family, kind, protocol, _, address = info
        if not self._guard(str(address[0])):
            raise NotAllowedThereError("the vendor's address is not one that we may connect to")
        return socket.socket(family, kind, protocol)


async def _whole(response: "aiohttp.ClientResponse") -> bytes:
    """What was answered, in however many pieces it comes; of an endless answer the beginning."""
    content = bytearray()
    async for piece in response.content.iter_any():
        content += piece
        if len(content) >= _MOST_ANSWER_BYTES:
            break
    return bytes(content[:_MOST_ANSWER_BYTES])


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
