"""SendGrid: mails over its Web API v3, one request for each.

It takes a mail in pieces and answers 202 with its id in a header. It does not recognise a repeated message, so an answer that
was never learned stays unlearned.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Address, Attachment, OutboundMessage, Outcome, TryLater
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer, wait_of
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.callbacks.mail_events import MailMeaning, seeds
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    Verdict,
    at,
    believed,
    text_at,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.mail.parts import ID_ARGUMENT, MailParts, in_base64, parts_of
from tidings.router.adapters.sendgrid.callbacks import EVENT_CODES, SendgridForm, public_key
from tidings.router.adapters.setting_types import Line

#: Headers that SendGrid takes for orders, or writes itself.
_ORDERS: Final = ("x-sg-", "x-smtpapi")
#: 401 is also what an account without credits is told; 403 a sender that is not verified yet, or a key that may not send.
#: 404, 405, 406, 451: the address, or another region's account. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {
    "403": "try_later",
    "404": "try_later",
    "405": "try_later",
    "406": "try_later",
    "451": "try_later",
    "500": "unlearned",
}
#: Errors have no codes: the name of the field that is wrong stands in for one.
_CODES: Final[Mapping[str, MailMeaning]] = {
    "personalizations.0.to.0.email": MailMeaning("rejected_by_provider", "invalid_address"),
    "from.email": MailMeaning("rejected_by_provider", "sender_refused"),
    "413": MailMeaning("failed_perm", "message_too_large"),
}
_UNTRACKED: Final[Mapping[str, Any]] = {
    "click_tracking": {"enable": False, "enable_text": False},
    "open_tracking": {"enable": False},
    "subscription_tracking": {"enable": False},
}


class SendgridSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with SendGrid."""

    #: `https://api.eu.sendgrid.com` for a subuser in the EU.
    api_url: ApiUrl = "https://api.sendgrid.com"
    #: With the permission to send mail; by reference as `api_key_ref`.
    api_key: Line
    #: What the signed event webhook is verified with, as its page shows it: base64, no secret. Several with blanks between them
    #: while one takes the place of another. Without it there is no hook.
    webhook_public_key: Line | None = None
    #: Leaves opens and clicks to SendGrid as its account has it; otherwise its tracking is off, because Tidings has its own.
    vendor_tracking: bool = False

    def __repr__(self) -> str:
        return f"SendgridSettings(api_url={self.api_url!r})"


class SendgridAdapter(OneRequestAdapter[SendgridSettings]):
    """Speaks to one account at SendGrid."""

    name = "sendgrid"
    channels = frozenset({"email"})
    capabilities = Capabilities(html=True, attachments=True)

    def __init__(self, settings: SendgridSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        for key in (settings.webhook_public_key or "").split():
            if public_key(key) is None:
                raise BadValueError(
                    "webhook_public_key", "must be the verification key as SendGrid shows it, in base64"
                )
        # An execution that waits for receipts without a hook waits in vain, and then sends again elsewhere.
        told = settings.webhook_public_key is not None
        self.capabilities = Capabilities(html=True, attachments=True, receipts=told)
        self._api = settings.api_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {settings.api_key}"}

    async def check(self) -> Outcome | None:
        """Ask what the key may do."""
        return await self._sender.check(
            HttpRequest(method="GET", url=f"{self._api}/v3/scopes", headers=self._headers)
        )

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The mail as a request."""
        body = _body(message, parts_of(message, orders=_ORDERS))
        if not self._settings.vendor_tracking:
            body["tracking_settings"] = _UNTRACKED
        return HttpRequest.json(f"{self._api}/v3/mail/send", body, self._headers)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        verdict = verdict_of(answer.status, _STATUSES)
        message_id = answer.headers.get("X-Message-Id")
        if verdict == "accepted" and not message_id:
            return NO_MESSAGE_ID
        said = answer.json()
        verdict = believed(verdict, answer, theirs=isinstance(at(said, "errors"), list))
        outcome = self._answered(
            verdict,
            answer,
            message,
            message_id=message_id,
            code=text_at(said, "errors.0.field"),
            words=text_at(said, "errors.0.message"),
        )
        if isinstance(outcome, TryLater) and outcome.after is None:
            return replace(outcome, after=self._until_reset(answer))
        return outcome

    def _until_reset(self, answer: HttpAnswer) -> timedelta | None:
        """SendGrid says when its limit ends in seconds since 1970, in place of Retry-After."""
        reset = answer.headers.get("X-RateLimit-Reset", "")
        if answer.status != 429 or not (reset.isascii() and reset.isdecimal()):
            return None
        left = int(reset[:11]) - int(self._clock.now().timestamp())
        return wait_of(str(max(left, 0)), self._clock)


def _body(message: OutboundMessage, parts: MailParts) -> dict[str, Any]:
    names = [name.lower() for name, _ in parts.headers]
    if len(set(names)) != len(names):
        raise BadValueError("headers", "must have each name once: SendGrid takes no more")
    body: dict[str, Any] = {
        "personalizations": [
            {"to": [_address(parts.to, message.to_name)], "custom_args": {ID_ARGUMENT: message.message_id}}
        ],
        "from": _address(parts.sender, message.sender.name),
        "subject": message.subject or "",
        "content": _content(message),
        "headers": dict(parts.headers),
    }
    if parts.reply_to is not None:
        body["reply_to"] = _address(parts.reply_to, _name_of(message.reply_to))
    if message.attachments:
        body["attachments"] = [_file(one) for one in message.attachments]
    return body


def _content(message: OutboundMessage) -> list[dict[str, str]]:
    """Plain text first, as SendGrid wants it; an empty one only where there is nothing else."""
    bodies = (("text/plain", message.text), ("text/html", message.html))
    given = [{"type": kind, "value": value} for kind, value in bodies if value is not None]
    return [one for one in given if one["value"]] or given[:1]


def _name_of(address: Address | None) -> str | None:
    return address.name if address is not None else None


def _address(email: str, name: str | None) -> dict[str, str]:
    return {"email": email, "name": name} if name else {"email": email}


def _file(attachment: Attachment) -> dict[str, str]:
    file = {
        "content": in_base64(attachment),
        "type": attachment.media_type.lower(),
        "filename": attachment.filename,
        "disposition": "attachment",
    }
    if attachment.inline_cid is not None:
        file |= {"disposition": "inline", "content_id": attachment.inline_cid}
    return file


KIND = AdapterKind(
    adapter=SendgridAdapter,
    title="SendGrid",
    settings=SendgridSettings,
    credential_fields=("api_key",),
    main_credential="api_key",
    by_settings=frozenset({"receipts"}),
    callbacks=SendgridForm(),
    proof="X-Twilio-Email-Event-Webhook-Signature: ECDSA P-256 over the time and the body, a day",
    statuses=seeds({**_CODES, **EVENT_CODES}),
)
