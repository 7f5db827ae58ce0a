"""Voice one-time passwords: an operator's own gateway that calls a number and reads a code out.

The contract is ours: docs/vendors/voice-otp-gateway.md says what a gateway has to do. It knows a repeat by its reference.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Final
from urllib.parse import urlsplit

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import SigningSecrets
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
from tidings.router.adapters.kind import AdapterContext, AdapterKind, seeds_of
from tidings.router.adapters.setting_types import PRINTABLE, Language, SenderName
from tidings.router.adapters.voice_otp_gateway.callbacks import VoiceOtpForm


class VoiceOtpSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with a gateway."""

    #: Where the gateway is: calls are asked for at `{api_url}/calls`.
    api_url: ApiUrl
    #: Sent as `Authorization: Bearer …`.
    api_token: Annotated[
        str, Meta(min_length=1, max_length=2048, pattern=r"^[!-~]+\Z", description=PRINTABLE)
    ]
    #: What the gateway signs its callbacks with; several while one takes the place of another, one on each line.
    callback_secret: SigningSecrets | None = None
    #: The number that the phone shows; the tenant's sender where this is None.
    caller: SenderName | None = None
    #: The language in which a text is read out whose own nobody knows: a tag of BCP 47.
    language: Language = "en"
    #: How often it is said in one call.
    repeat: Annotated[int, Meta(ge=1, le=5)] = 2

    def __repr__(self) -> str:
        return f"VoiceOtpSettings(host={urlsplit(self.api_url).hostname!r})"


_NUMBER: Final = re.compile(r"\+[1-9][0-9]{5,14}")
#: What a one-time password looks like, in whatever digits.
_CODE: Final = re.compile(r"(?<![\w.,:/-])\d{4,10}(?![\w/-]|[.,:]\d)")
#: Statuses, over the usual meanings: 402 and 403 speak of the account.
_STATUSES: Final[Mapping[str, Verdict]] = {
    "402": "try_later",
    "403": "try_later",
    "404": "try_later",
    "500": "unlearned",
}
#: The gateway's codes that speak of the account or of now.
_TRY_LATER: Final = frozenset({"insufficient_credit", "rate_limited", "unavailable", "unauthorised"})
#: The codes and the words of the contract.
_MEANINGS: Final[tuple[tuple[str, Canonical, str], ...]] = (
    ("invalid_number", "failed_perm", "invalid_address"),
    ("blocked", "rejected_by_recipient", "blocked"),
    ("no_route", "rejected_by_provider", "no_route"),
    ("unsupported_language", "failed_perm", "content_refused"),
    ("unreachable", "failed_temp", "unreachable"),
    ("network_error", "failed_temp", "unavailable"),
    ("insufficient_credit", "failed_temp", "insufficient_credit"),
    ("rate_limited", "failed_temp", "rate_limited"),
    ("unavailable", "failed_temp", "unavailable"),
    ("no_answer", "failed_temp", "no_answer"),
    ("busy", "failed_temp", "busy"),
)


class VoiceOtpAdapter(OneRequestAdapter[VoiceOtpSettings]):
    """Hands calls to one gateway."""

    name = "voice_otp_gateway"
    channels = frozenset({"voice"})
    capabilities = Capabilities(idempotent=True)

    def __init__(self, settings: VoiceOtpSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        self.capabilities = Capabilities(idempotent=True, receipts=settings.callback_secret is not None)
        self._root = settings.api_url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {settings.api_token}", "Accept": "application/json"}

    async def check(self) -> Outcome:
        """Ask for the account."""
        url = f"{self._root}/account"
        return await self._sender.check(HttpRequest(method="GET", url=url, headers=self._headers))

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        if not _NUMBER.fullmatch(message.to):
            raise BadValueError("to", "must be a number such as +93700123456")
        if not message.text:
            raise BadValueError("text", "must not be empty")
        body: dict[str, Any] = {
            "reference": message.message_id,
            "to": message.to,
            "from": self._settings.caller or message.sender.value,
            "text": message.text,
            "language": message.language or self._settings.language,
            "repeat": self._settings.repeat,
        }
        code = code_in(message.text)
        if code is not None:
            body["code"] = code
        return HttpRequest.json(f"{self._root}/calls", body, self._headers)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        verdict = verdict_of(answer.status, _STATUSES)
        found = text_at(said, "id")
        if verdict == "accepted" and found is None:
            return NO_MESSAGE_ID
        code = text_at(said, "error.code")
        verdict = believed(verdict, answer, theirs=isinstance(at(said, "error"), dict))
        if verdict == "refused" and code in _TRY_LATER:
            verdict = "try_later"
        return self._answered(
            verdict, answer, message, message_id=found, code=code, words=text_at(said, "error.message")
        )


def code_in(text: str) -> str | None:
    """The one-time password of a text, in ASCII digits: its only number of 4 to 10 digits; None where that is not clear."""
    found = _CODE.findall(text)
    if len(found) != 1:
        return None
    return "".join(str(unicodedata.decimal(digit)) for digit in found[0])


def _fixed_sender(settings: VoiceOtpSettings, _: str) -> str | None:
    return settings.caller


KIND = AdapterKind(
    adapter=VoiceOtpAdapter,
    title="Voice one-time passwords (an operator's gateway)",
    settings=VoiceOtpSettings,
    credential_fields=("api_token", "callback_secret"),
    main_credential="api_token",
    fixed_sender=_fixed_sender,
    prices=("minute",),
    by_settings=frozenset({"receipts"}),
    callbacks=VoiceOtpForm(),
    proof="Standard Webhooks: HMAC-SHA256 over id, time and body, five minutes",
    statuses=seeds_of(_MEANINGS),
)
