"""HTTP: any vendor that takes JSON, described by settings instead of code.

The request is a template, the answer is read by its status and a path or two. What is certain is told as certain:
a connection that was never made is `TryLater`; one that ended after the request went out is `Unlearned`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Address, OutboundMessage, Outcome
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import SigningSecrets
from tidings.router.adapters.http.callbacks import GenericForm
from tidings.router.adapters.http.template import Fill, compile_header, compile_json, compile_url
from tidings.router.adapters.http_client.account import HttpAccount
from tidings.router.adapters.http_client.answers import NO_MESSAGE_ID, Verdict, text_at, verdict_of
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.setting_types import Line

_HeaderName = Annotated[
    str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,60}\Z", description="must be a header's name")
]
_Path = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*\Z",
        max_length=200,
        description="must be a path such as messages.0.id",
    ),
]
_Status = Annotated[
    str, Meta(pattern=r"^[1-5]([0-9]{2}|xx)\Z", description="must be a status such as 429 or 5xx")
]
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


class HttpVendorSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with a vendor that takes JSON."""

    url: Line
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    headers: Annotated[dict[_HeaderName, Line], Meta(max_length=50)] = msgspec.field(default_factory=dict)
    #: Any JSON with placeholders.
    body: dict[str, Any] | list[Any] | None = None
    #: For `{{secret.…}}`; by reference as `{"token_ref": "file://…"}`.
    secrets: Annotated[dict[str, Line], Meta(max_length=20)] = msgspec.field(default_factory=dict)
    #: Status → what it means, over the usual meanings.
    statuses: dict[_Status, Verdict] = msgspec.field(default_factory=dict)
    #: Where a success says how the vendor calls the message; then an answer without it is none.
    message_id_path: _Path | None = None
    #: Where a refusal says its code and its reason.
    error_code_path: _Path | None = None
    error_reason_path: _Path | None = None
    #: Answers a GET with 2xx where the credentials are good: for a check that sends nothing.
    check_url: Line | None = None
    #: Carries our message id, the same when a message is repeated.
    idempotency_header: _HeaderName = "Idempotency-Key"
    #: The vendor really drops repeats with the same key.
    idempotent: bool = False
    #: The vendor tells us later what became of a message, at `/hooks/…`.
    receipts: bool = False
    #: What those receipts are signed with; several while one takes the place of another, one on each line.
    callback_secret: SigningSecrets | None = None
    #: A DELETE there calls a message back; `{{provider_message_id}}` says which.
    cancel_url: Line | None = None

    def __repr__(self) -> str:
        return f"HttpVendorSettings(host={urlsplit(self.url).hostname!r})"


class HttpAdapter(OneRequestAdapter[HttpVendorSettings]):
    """Hands messages to one account at one vendor over HTTP."""

    name = "http"
    channels = frozenset({"email", "sms", "whatsapp", "telegram", "viber", "voice", "push", "webhook"})
    capabilities = Capabilities(html=True)

    def __init__(self, settings: HttpVendorSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        _refuse_deaf_receipts(settings)
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

    def _question(self, method: str, url: str) -> HttpRequest:
        """A request that is about no message's content."""
        headers = {name: fill(_NOBODY) for name, fill in self._headers.items()}
        return HttpRequest(method=method, url=url, headers=headers)

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        headers = {name: fill(message) for name, fill in self._headers.items()}
        headers["Content-Type"] = "application/json"
        headers.setdefault(self._settings.idempotency_header, message.message_id)
        return HttpRequest(
            method=self._settings.method,
            url=self._url(message),
            headers=headers,
            body=msgspec.json.encode(self._body(message)),
        )

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means: its status by the account's own table first, then what stands under the paths."""
        how = self._settings
        verdict = verdict_of(answer.status, how.statuses)
        said = answer.json()
        found = text_at(said, how.message_id_path)
        if verdict == "accepted" and how.message_id_path is not None and found is None:
            return NO_MESSAGE_ID
        return self._answered(
            verdict,
            answer,
            message,
            message_id=found,
            code=text_at(said, how.error_code_path),
            words=text_at(said, how.error_reason_path),
        )


def _refuse_deaf_receipts(settings: HttpVendorSettings) -> None:
    """An execution that waits for receipts that can't be told apart, or belong to nothing, waits in vain."""
    if not settings.receipts:
        return
    if settings.callback_secret is None:
        raise BadValueError("callback_secret", "is needed with receipts: it is what they are signed with")
    if settings.message_id_path is None:
        raise BadValueError(
            "message_id_path", "is needed with receipts: they name a message by the vendor's id"
        )


def _header_name(name: str, i: int) -> str:
    if name.lower() in _OURS:
        raise BadValueError(f"headers[{i}]", f"must not be {name}: it is written by itself")
    return name


KIND = AdapterKind(
    adapter=HttpAdapter,
    title="Any vendor that takes JSON",
    settings=HttpVendorSettings,
    credential_fields=("secrets", "callback_secret"),
    main_credential="secrets.token",
    verbatim=frozenset({"body"}),
    prices=("message", "segment", "minute"),
    by_settings=frozenset({"idempotent", "receipts", "cancel"}),
    callbacks=GenericForm(),
    proof="Standard Webhooks: HMAC-SHA256 over id, time and body, five minutes",
)
