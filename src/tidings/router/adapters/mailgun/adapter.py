"""Mailgun: whole mails over its HTTP API, one request for each.

We build the mail ourselves and hand it over as it is (`messages.mime`): pictures, files, headers and the one-click unsubscribe
are exactly those that any mail server would get, and a repeated message has the same Message-ID. Mailgun does not recognise a
repeat, so an answer that was never learned stays unlearned.
"""

import base64
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import Secrets
from tidings.router.adapters.callbacks.mail_events import MailMeaning, seeds
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    Verdict,
    believed,
    checked,
    text_at,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.mail.parts import ID_ARGUMENT, whole_mail
from tidings.router.adapters.mailgun.callbacks import EVENT_CODES, MailgunForm, bare_id
from tidings.router.adapters.setting_types import Line

_Domain = Annotated[
    str,
    Meta(
        max_length=253, pattern=r"^[A-Za-z0-9.-]+\Z", description="must be a domain such as mg.shop.example"
    ),
]
#: Headers that Mailgun takes for orders.
_ORDERS: Final = ("x-mailgun-",)
#: Our credentials, our bill, our domain: nothing is wrong with the message. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {
    "402": "try_later",
    "403": "try_later",
    "404": "try_later",
    "420": "try_later",
    "421": "try_later",
    "500": "unlearned",
}
#: Errors have no codes. This is said of the recipient: "to parameter is not a valid address. please check documentation".
_BAD_ADDRESS: Final = re.compile(r"'?to'? parameter is not a valid address", re.IGNORECASE)
#: And this of the domain or the account, sometimes with 400: "Domain … is not allowed to send: …", "Sandbox subdomains are for
#: test purposes only. …".
_OF_ACCOUNT: Final = re.compile(
    r"not allowed to send|for test purposes only|activate your mailgun account|account (is )?disabled",
    re.IGNORECASE,
)
_CODES: Final[Mapping[str, MailMeaning]] = {
    "400:to": MailMeaning("rejected_by_provider", "invalid_address"),
    "413": MailMeaning("failed_perm", "message_too_large"),
}
_UNTRACKED: Final = (("o:tracking", "no"), ("o:tracking-clicks", "no"), ("o:tracking-opens", "no"))


class MailgunSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sending domain at Mailgun."""

    #: `https://api.eu.mailgun.net` for a domain in the EU.
    api_url: ApiUrl = "https://api.mailgun.net"
    #: The domain that Mailgun sends for.
    domain: _Domain
    #: A sending key of the domain, or the account's; by reference as `api_key_ref`.
    api_key: Line
    #: The HTTP webhook signing key, which is another than the API key. Several while one takes the place of another, one on
    #: each line. Without it there is no hook.
    webhook_signing_key: Secrets | None = None
    #: Leaves opens and clicks to Mailgun as its domain has it; otherwise its tracking is off, because Tidings has its own.
    vendor_tracking: bool = False

    def __repr__(self) -> str:
        return f"MailgunSettings(api_url={self.api_url!r}, domain={self.domain!r})"


class MailgunAdapter(OneRequestAdapter[MailgunSettings]):
    """Speaks to one domain at Mailgun."""

    name = "mailgun"
    channels = frozenset({"email"})
    capabilities = Capabilities(html=True, attachments=True)

    def __init__(self, settings: MailgunSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        # An execution that waits for receipts without a hook waits in vain, and then sends again elsewhere.
        told = settings.webhook_signing_key is not None
        self.capabilities = Capabilities(html=True, attachments=True, receipts=told)
        api = settings.api_url.rstrip("/")
        self._messages = f"{api}/v3/{settings.domain}/messages.mime"
        self._domain = f"{api}/v3/domains/{settings.domain}"
        pair = base64.b64encode(f"api:{settings.api_key}".encode()).decode("ascii")
        self._headers = {"Authorization": f"Basic {pair}"}

    async def check(self) -> Outcome | None:
        """Ask about the domain; with a key that can only send, for a mail that has nothing in it and is refused."""
        found = await self._sender.check(HttpRequest(method="GET", url=self._domain, headers=self._headers))
        if not isinstance(found, Refused):
            return found
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._sender.check(
            HttpRequest(url=self._messages, headers={**self._headers, **kind}, body=b"o:testmode=yes"),
            read=lambda answer: Accepted() if answer.status == 400 else checked(answer.status),
        )

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The mail as a request."""
        mail = whole_mail(message, at=self._clock.now(), orders=_ORDERS)
        fields = [("to", mail.to), (f"v:{ID_ARGUMENT}", message.message_id)]
        if not self._settings.vendor_tracking:
            fields += _UNTRACKED
        kind, body = _form(fields, mail.data())
        return HttpRequest(url=self._messages, headers={**self._headers, "Content-Type": kind}, body=body)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        verdict = verdict_of(answer.status, _STATUSES)
        said = answer.json()
        # 200 is also what an address that leads nowhere is told: "Mailgun Magnificent API", and no id.
        message_id = bare_id(text_at(said, "id"))
        if verdict == "accepted" and not message_id:
            return NO_MESSAGE_ID
        words = text_at(said, "message")
        verdict = believed(verdict, answer, theirs=words is not None)
        if verdict == "refused" and _OF_ACCOUNT.search(words or ""):
            verdict = "try_later"
        of_address = verdict == "refused" and _BAD_ADDRESS.match(words or "")
        return self._answered(
            verdict,
            answer,
            message,
            message_id=message_id,
            code="400:to" if of_address else None,
            words=words,
        )


def _form(fields: Sequence[tuple[str, str]], mail: bytes) -> tuple[str, bytes]:
    """The mail as the file of a form, among fields that hold no line breaks; and what kind of body that is."""
    boundary = secrets.token_hex(16)
    pieces = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields
    ]
    pieces += (
        f'--{boundary}\r\nContent-Disposition: form-data; name="message"; filename="message.mime"\r\n'.encode(),
        b"Content-Type: message/rfc822\r\n\r\n",
        mail,
        f"\r\n--{boundary}--\r\n".encode(),
    )
    return f"multipart/form-data; boundary={boundary}", b"".join(pieces)


KIND = AdapterKind(
    adapter=MailgunAdapter,
    title="Mailgun",
    settings=MailgunSettings,
    credential_fields=("api_key", "webhook_signing_key"),
    main_credential="api_key",
    by_settings=frozenset({"receipts"}),
    callbacks=MailgunForm(),
    proof="in the body: HMAC-SHA256 over a time and a token, eight hours; the event itself is not signed",
    statuses=seeds({**_CODES, **EVENT_CODES}),
)
