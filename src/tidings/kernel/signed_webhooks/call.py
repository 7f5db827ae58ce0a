"""Calls a webhook once, signed, and says what became of it."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final, Literal, TypeAlias

from tidings.kernel.ca_bundle import trusting
from tidings.kernel.clock import Clock
from tidings.kernel.egress import Guard, public_only
from tidings.kernel.http_client.answer import CallFailure, failure_of, wait_of
from tidings.kernel.http_client.pool import HttpPool, HttpRequest
from tidings.kernel.logs import get_logger
from tidings.kernel.signed_webhooks.signature import signed_by_each

_log = get_logger("signed_webhooks")
#: Gone: a webhook that says so wants no more.
_GONE: Final = 410
#: A webhook that answers so can't take anything just now, whatever it is.
_BUSY: Final = frozenset({429, 502, 503, 504})

#: Why a call was not taken, in our words and without an address.
WebhookFailure: TypeAlias = Literal[
    "answered", "gone", "address", "connection", "tls", "timeout", "unanswered"
]
_FAILURES: Final[Mapping[CallFailure, WebhookFailure]] = {
    "address": "address",
    "url": "address",
    "certificate": "tls",
    "tls": "tls",
    "connection": "connection",
    "timeout": "timeout",
    "disconnected": "unanswered",
    "broken_off": "unanswered",
    "no_http": "unanswered",
    "unknown": "unanswered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookResult:
    """What became of a call."""

    delivered: bool
    #: What was answered; None where nothing was.
    status: int | None = None
    #: In our words, without an address.
    reason: str | None = None
    #: How long the webhook wants to be left alone.
    after: timedelta | None = None
    #: It is of no use to come again.
    final: bool = False

    @property
    def away(self) -> bool:
        """Whether another call would hardly do better now: nothing was answered, or that it is too busy."""
        return not self.delivered and (self.status is None or self.status in _BUSY or self.after is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookCall:
    """What is told, and where."""

    url: str = field(repr=False)
    #: Each signs.
    secrets: Sequence[str] = field(repr=False)
    #: The same however often it is told.
    webhook_id: str
    body: bytes = field(repr=False)
    content_type: str = "application/json"
    #: Beside those of the signature.
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    #: Other certificates than the system's, and one to show.
    context: ssl.SSLContext | None = field(default=None, repr=False)
    #: Seconds; None: as long as the caller usually waits.
    within: float | None = None


class WebhookCaller:
    """One pool of connections for all webhooks; none of them leads into our own network, and redirects are not followed."""

    def __init__(
        self,
        *,
        clock: Clock,
        guard: Guard = public_only,
        connections: int = 64,
        timeout_seconds: float = 10.0,
        ca_file: str | None = None,
    ) -> None:
        self._clock = clock
        #: One for each connection: the clock of a call that has none does not run.
        self._slots = asyncio.Semaphore(connections)
        self._pool = HttpPool(
            guard=guard,
            connections=connections,
            connect_seconds=5.0,
            timeout_seconds=timeout_seconds,
            context=True if ca_file is None else trusting(ca_file),
            names_apart=True,
        )

    async def call(self, call: WebhookCall) -> WebhookResult:
        """Tell it; nothing that the webhook does makes this raise."""
        try:
            async with self._slots:
                request = HttpRequest(url=call.url, headers=self._headers(call), body=call.body)
                answer = await self._pool.ask(request, within=call.within, context=call.context)
        except Exception as error:  # noqa: BLE001  # whatever a webhook makes the library do, it is told
            _log.info("webhook_unanswered", webhook_id=call.webhook_id, error=type(error).__name__)
            return WebhookResult(delivered=False, reason=_FAILURES[failure_of(error)])
        if 200 <= answer.status < 300:
            return WebhookResult(delivered=True, status=answer.status)
        return WebhookResult(
            delivered=False,
            status=answer.status,
            reason="gone" if answer.status == _GONE else "answered",
            after=wait_of(answer.retry_after, self._clock),
            final=answer.status == _GONE,
        )

    async def close(self) -> None:
        """End all connections."""
        await self._pool.close()

    def _headers(self, call: WebhookCall) -> dict[str, str]:
        timestamp = int(self._clock.now().timestamp())
        signed = signed_by_each(call.secrets, webhook_id=call.webhook_id, timestamp=timestamp, body=call.body)
        return {**call.headers, "content-type": call.content_type, **signed}
