"""Postmark: mails over its API, one request for each.

It has a batch endpoint for 500 as well. One request for each is the choice here: an answer that is lost then leaves one message
unlearned and not 500, and each message has its own time. Postmark does not recognise a repeated message.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Attachment, OutboundMessage, Outcome
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import Secrets
from tidings.router.adapters.callbacks.mail_events import MailMeaning, seeds
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import NO_MESSAGE_ID, Verdict, believed, text_at, verdict_of
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.mail.parts import ID_ARGUMENT, in_base64, parts_of
from tidings.router.adapters.postmark.callbacks import EVENT_CODES, PostmarkForm
from tidings.router.adapters.setting_types import Line

_Stream = Annotated[
    str,
    Meta(
        max_length=60, pattern=r"^[A-Za-z0-9_-]+\Z", description="must be the id of a stream such as outbound"
    ),
]
_User = Annotated[
    str,
    Meta(
        max_length=255,
        pattern=r"^[^\s:\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be a name without blanks and colons",
    ),
]
#: Headers that Postmark takes for orders.
_ORDERS: Final = ("x-pm-",)
#: Metadata of Postmark: so many characters in a value.
_MOST_METADATA: Final = 80
#: 403 without one of its codes is said by what stands before the API. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {"403": "try_later", "404": "try_later", "500": "unlearned"}
#: ErrorCode → what it means, where it is not that this message is refused for good. The token, maintenance, a sender that is
#: not confirmed yet, an account that may not send now, a stream that there is not: nothing is wrong with the message.
_VERDICTS: Final[Mapping[str, Verdict]] = {
    "10": "try_later",
    "100": "try_later",
    "400": "try_later",
    "401": "try_later",
    "405": "try_later",
    "412": "try_later",
    "413": "try_later",
    "429": "try_later",
    "1235": "try_later",
}
#: 300 is said of anything in a request. This is about the recipient: "Invalid 'To' address: 'x'.", "Error parsing 'To': …".
_BAD_ADDRESS: Final = re.compile(r"(?:Invalid|Error parsing) 'To'", re.IGNORECASE)
_CODES: Final[Mapping[str, MailMeaning]] = {
    "300": MailMeaning("rejected_by_provider", "invalid_request"),
    "300:to": MailMeaning("rejected_by_provider", "invalid_address"),
    "402": MailMeaning("rejected_by_provider", "invalid_request"),
    "403": MailMeaning("rejected_by_provider", "invalid_request"),
    # A hard bounce, a complaint or an opt-out: Postmark does not say which.
    "406": MailMeaning("rejected_by_provider", "blocked"),
    "409": MailMeaning("rejected_by_provider", "invalid_request"),
    "411": MailMeaning("rejected_by_provider", "content_refused"),
}


class PostmarkSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One server at Postmark, as it calls an account's mail of one kind."""

    api_url: ApiUrl = "https://api.postmarkapp.com"
    #: The Server API token; by reference as `server_token_ref`.
    server_token: Line
    #: The stream that mails go into; `outbound` is the one for single messages that every server has.
    message_stream: _Stream = "outbound"
    #: What the webhook's address has before the @: `https://user:password@…`. Both, or there is no hook.
    webhook_user: _User | None = None
    #: Several while one takes the place of another, one on each line; by reference as `webhook_password_ref`.
    webhook_password: Secrets | None = None
    #: Leaves opens and clicks to Postmark as its server has it; otherwise its tracking is off, because Tidings has its own.
    vendor_tracking: bool = False

    def __repr__(self) -> str:
        return f"PostmarkSettings(api_url={self.api_url!r}, message_stream={self.message_stream!r})"


class PostmarkAdapter(OneRequestAdapter[PostmarkSettings]):
    """Speaks to one server at Postmark."""

    name = "postmark"
    channels = frozenset({"email"})
    capabilities = Capabilities(html=True, attachments=True)

    def __init__(self, settings: PostmarkSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        if (settings.webhook_user is None) != (settings.webhook_password is None):
            missing = "webhook_user" if settings.webhook_user is None else "webhook_password"
            raise BadValueError(missing, "is needed as well: user name and password go together")
        # An execution that waits for receipts without a hook waits in vain, and then sends again elsewhere.
        told = settings.webhook_user is not None
        self.capabilities = Capabilities(html=True, attachments=True, receipts=told)
        self._api = settings.api_url.rstrip("/")
        self._headers = {"Accept": "application/json", "X-Postmark-Server-Token": settings.server_token}

    async def check(self) -> Outcome | None:
        """Ask about the server that the token is for."""
        return await self._sender.check(
            HttpRequest(method="GET", url=f"{self._api}/server", headers=self._headers)
        )

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The mail as a request."""
        return HttpRequest.json(f"{self._api}/email", self._body(message), self._headers)

    def _body(self, message: OutboundMessage) -> dict[str, Any]:
        parts = parts_of(message, orders=_ORDERS)
        body: dict[str, Any] = {
            "From": _mailbox(parts.sender, message.sender.name),
            "To": _mailbox(parts.to, message.to_name),
            "Subject": message.subject or "",
            "MessageStream": self._settings.message_stream,
            "Headers": [{"Name": name, "Value": value} for name, value in parts.headers],
        }
        if message.text is not None:
            body["TextBody"] = message.text
        if message.html is not None:
            body["HtmlBody"] = message.html
        if message.reply_to is not None and parts.reply_to is not None:
            body["ReplyTo"] = _mailbox(parts.reply_to, message.reply_to.name)
        if len(message.message_id) <= _MOST_METADATA:
            body["Metadata"] = {ID_ARGUMENT: message.message_id}
        if message.attachments:
            body["Attachments"] = [_file(one) for one in message.attachments]
        if not self._settings.vendor_tracking:
            body |= {"TrackOpens": False, "TrackLinks": "None"}
        return body

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        verdict = verdict_of(answer.status, _STATUSES)
        code, words = text_at(said, "ErrorCode"), text_at(said, "Message")
        verdict = believed(verdict, answer, theirs=code is not None)
        message_id = text_at(said, "MessageID")
        if code is not None and code != "0":
            # A code that is not known beside a status that says yes: the outcome is not known.
            verdict = _VERDICTS.get(code, "unlearned" if verdict == "accepted" else verdict)
            if code in _CODES:
                verdict = "refused"
            if code == "300" and _BAD_ADDRESS.match(words or ""):
                code = "300:to"
        elif verdict == "accepted" and not message_id:
            return NO_MESSAGE_ID
        return self._answered(
            verdict, answer, message, message_id=message_id, code=code if code != "0" else None, words=words
        )


def _mailbox(address: str, name: str | None) -> str:
    """An address with what people see beside it; always quoted, because Postmark refuses a bare comma."""
    if not name:
        return address
    quoted = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{quoted}" <{address}>'


def _file(attachment: Attachment) -> dict[str, str]:
    file = {
        "Name": attachment.filename,
        "Content": in_base64(attachment),
        "ContentType": attachment.media_type.lower(),
    }
    if attachment.inline_cid is not None:
        file["ContentID"] = f"cid:{attachment.inline_cid}"
    return file


KIND = AdapterKind(
    adapter=PostmarkAdapter,
    title="Postmark",
    settings=PostmarkSettings,
    credential_fields=("server_token", "webhook_password"),
    main_credential="server_token",
    by_settings=frozenset({"receipts"}),
    callbacks=PostmarkForm(),
    proof="Authorization: Basic, with the user and password of the webhook's address; nothing is signed",
    statuses=seeds({**_CODES, **EVENT_CODES}),
)
