"""HTTP: any vendor that takes JSON, described by settings instead of code.

The request is a template, the answer is read by its status and a path or two. What is certain is told as certain:
a connection that was never made is `TryLater`; one that ended after the request went out is `Unlearned`.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta

import msgspec

from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.messages import Address, OutboundMessage, Outcome
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.egress import Guard
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.http.template import Fill, compile_header, compile_json, compile_url
from tidings.router.adapters.http_client.account import HttpSettings, refuse_deaf_receipts, sender_of
from tidings.router.adapters.http_client.answers import Reading
from tidings.router.adapters.http_client.sender import VendorRequest
from tidings.router.adapters.kind import AdapterKind, Surroundings

__all__ = ["HttpAdapter", "HttpSettings"]

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
        self._sender = sender_of(settings, guard)

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        return self._sender.longest_send

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        return await self._sender.send(
            messages, ask=self._request, read=self._reading.outcome, within=within, learned=learned
        )

    async def check(self) -> Outcome | None:
        """Ask what `check_url` names; None where the settings name nothing."""
        if self._check_url is None:
            return None
        return await self._sender.check(self._question("GET", self._check_url(_NOBODY)))

    async def cancel(self, provider_message_ids: Sequence[str]) -> Sequence[bool]:
        """Ask what `cancel_url` names for each; False for all where the settings name nothing."""
        if self._cancel_url is None:
            return [False] * len(provider_message_ids)
        answers = await self._sender.each(
            [self._question("DELETE", self._cancel_url(one)) for one in provider_message_ids]
        )
        return [answer is not None and 200 <= answer.status < 300 for answer in answers]

    async def close(self) -> None:
        """End all connections."""
        await self._sender.close()

    def _question(self, method: str, url: str) -> VendorRequest:
        """A request that is about no message's content."""
        headers = {name: fill(_NOBODY) for name, fill in self._headers.items()}
        return VendorRequest(method=method, url=url, headers=headers)

    def _request(self, message: OutboundMessage) -> VendorRequest:
        headers = {name: fill(message) for name, fill in self._headers.items()}
        headers["Content-Type"] = "application/json"
        headers.setdefault(self._settings.idempotency_header, message.message_id)
        return VendorRequest(
            method=self._settings.method,
            url=self._url(message),
            headers=headers,
            body=msgspec.json.encode(self._body(message)),
        )


def _header_name(name: str, i: int) -> str:
    if name.lower() in _OURS:
        raise BadValueError(f"headers[{i}]", f"must not be {name}: it is written by itself")
    return name


def _make(settings: HttpSettings, around: Surroundings) -> Adapter:
    return HttpAdapter(settings, clock=around.clock, guard=around.guard)


KIND = AdapterKind(
    name="http",
    title="Any vendor that takes JSON",
    channels=HttpAdapter.channels,
    capabilities=HttpAdapter.capabilities,
    settings=HttpSettings,
    credential_fields=("secrets", "callback_secret"),
    main_credential="secrets.token",
    make=_make,
    verbatim=frozenset({"body"}),
    prices=("message", "segment", "minute"),
    by_settings=frozenset({"idempotent", "receipts", "cancel"}),
    callbacks=GenericForm(),
    proof="Standard Webhooks: HMAC-SHA256 over id, time and body, five minutes",
)
