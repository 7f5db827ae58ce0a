"""Vonage: text messages over its Messages API, version 1.

The Messages API and not the older SMS API: its answers and its webhooks are JSON, its webhooks are signed over the whole body
with a time, and they say what a message cost. It is signed in to with the JWT of an application, or with the API key and
secret; Vonage sends webhooks for applications only. It knows no key by which it would drop a repeat.
"""

import base64
import re
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import Secrets
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import NO_MESSAGE_ID, Verdict, believed, text_at, verdict_of
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind, seeds_of
from tidings.router.adapters.setting_types import SenderName, ShortToken
from tidings.router.adapters.signing_keys import rsa_key, signed
from tidings.router.adapters.vonage.callbacks import VonageForm, code_of, number


class VonageSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One application at Vonage, or an account without one."""

    #: The application with the webhooks that tell what became of messages; with its private key in PEM.
    application_id: (
        Annotated[
            str,
            Meta(
                pattern=r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z", description="must be a UUID"
            ),
        ]
        | None
    ) = None
    #: RSA, in PEM. One of more than some 5000 bits takes seconds to be looked at.
    private_key: Annotated[str, Meta(min_length=1, max_length=4096)] | None = None
    #: The account's API key and secret: they sign in where there is no application, and answer a check.
    api_key: (
        Annotated[
            str,
            Meta(pattern=r"^[0-9A-Za-z]{4,64}\Z", description="must be letters and digits, such as a1b2c3d4"),
        ]
        | None
    ) = None
    api_secret: ShortToken | None = None
    #: What webhooks are signed with, from the dashboard; several while one takes the place of another, one on each line.
    signature_secret: Secrets | None = None
    #: A sender that goes before the tenant's: a number or a name.
    sms_from: SenderName | None = None
    #: This account's hook, told to Vonage with every message; otherwise the application's own is called.
    webhook_url: ApiUrl | None = None
    api_url: ApiUrl = "https://api.nexmo.com"

    def __repr__(self) -> str:
        return f"VonageSettings(application_id={self.application_id!r})"


_NUMBER: Final = re.compile(r"\+[1-9][0-9]{5,14}")
_ANSWERABLE: Final = re.compile(r"\+?[0-9]{3,15}")
_KEY_REMEDY: Final = "must be an RSA private key in PEM, as Vonage gave it"
#: A JWT of ours is good for so long; half of that it is used.
_GOOD_FOR: Final = timedelta(minutes=15)
#: Vonage keeps a reference of this length in every version of its webhooks.
_MOST_REFERENCE: Final = 40
#: Statuses, over the usual meanings. 402: no credit. 403, 404: the account. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {
    "402": "try_later",
    "403": "try_later",
    "404": "try_later",
    "500": "unlearned",
}
#: Codes that speak of the account, its money or its pace: nothing is wrong with the message.
_TRY_LATER: Final = frozenset(
    {
        "1000",  # throttled
        "1030",  # internal error
        "1060",  # account barred
        "1070",  # quota
        "1080",  # account not enabled for REST
        "1100",  # communication failed
        "1241",  # too many send requests
        "low-balance",
        "unauthorized",
        "forbidden",
        "unprovisioned",
        "account-suspended",
    }
)
#: Vonage's codes of the Messages API, as far as texts can have them.
_MEANINGS: Final[tuple[tuple[str, Canonical, str], ...]] = (
    ("1000", "failed_temp", "rate_limited"),
    ("1010", "failed_perm", "content_refused"),
    ("1020", "failed_perm", "content_refused"),
    ("1030", "failed_temp", "unknown_error"),
    ("1040", "failed_perm", "no_route"),
    ("1050", "rejected_by_provider", "blocked"),
    ("1060", "failed_temp", "account_suspended"),
    ("1070", "failed_temp", "insufficient_credit"),
    ("1080", "failed_temp", "account_suspended"),
    ("1090", "failed_perm", "content_too_long"),
    ("1100", "failed_temp", "unavailable"),
    ("1120", "rejected_by_provider", "invalid_sender"),
    ("1140", "rejected_by_provider", "not_enabled"),
    ("1160", "rejected_by_provider", "unverified_recipient"),
    ("1170", "failed_perm", "invalid_address"),
    ("1180", "failed_temp", "unreachable"),
    ("1190", "failed_perm", "invalid_address"),
    ("1200", "failed_perm", "unreachable"),
    ("1210", "rejected_by_provider", "content_refused"),
    ("1220", "failed_temp", "unreachable"),
    ("1230", "failed_temp", "unavailable"),
    ("1240", "rejected_by_recipient", "unsubscribed"),
    ("1241", "failed_temp", "rate_limited"),
    ("1250", "failed_perm", "no_route"),
    ("1260", "failed_perm", "unreachable"),
    ("1270", "rejected_by_recipient", "age_restricted"),
    ("1280", "rejected_by_recipient", "blocked"),
    ("1290", "failed_temp", "recipient_without_credit"),
    ("1300", "rejected_by_recipient", "not_on_channel"),
    ("1310", "rejected_by_recipient", "unsuitable_device"),
    ("1330", "failed_perm", "unknown_error"),
    ("1360", "failed_temp", "expired"),
)


class VonageAdapter(OneRequestAdapter[VonageSettings]):
    """Hands texts to one account at Vonage."""

    name = "vonage"
    channels = frozenset({"sms"})
    capabilities = Capabilities()

    def __init__(self, settings: VonageSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        _refuse_half(settings)
        self._key = (
            None
            if settings.private_key is None
            else rsa_key(settings.private_key, "private_key", _KEY_REMEDY)
        )
        #: Until when it is used, and the JWT.
        self._token: tuple[datetime, str] | None = None
        told = self._key is not None and settings.signature_secret is not None
        self.capabilities = Capabilities(receipts=told, inbound=told)
        self._root = settings.api_url.rstrip("/")

    async def check(self) -> Outcome | None:
        """Ask for the list of applications with the API key; None without one: a JWT can be asked nothing that sends nothing."""
        basic = _basic(self._settings)
        if basic is None:
            return None
        url = f"{self._root}/v2/applications?page_size=1"
        return await self._sender.check(HttpRequest(method="GET", url=url, headers={"Authorization": basic}))

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        if not _NUMBER.fullmatch(message.to):
            raise BadValueError("to", "must be a number such as +93700123456")
        if not message.text:
            raise BadValueError("text", "must not be empty")
        sender = self._settings.sms_from or message.sender.value
        if not sender:
            raise BadValueError("from", "must be a number or a name")
        body: dict[str, Any] = {
            "message_type": "text",
            "channel": "sms",
            "to": message.to.removeprefix("+"),
            "from": sender.removeprefix("+"),
            "text": message.text,
        }
        if len(message.message_id) <= _MOST_REFERENCE:
            body["client_ref"] = message.message_id
        if self._settings.webhook_url is not None:
            body |= {"webhook_url": self._settings.webhook_url, "webhook_version": "v1"}
        headers = {"Authorization": self._authorisation(), "Accept": "application/json"}
        return HttpRequest.json(f"{self._root}/v1/messages", body, headers)

    def _authorisation(self) -> str:
        if self._key is None:
            return _basic(self._settings) or ""
        now = self._clock.now()
        if self._token is None or now >= self._token[0]:
            made = int(now.timestamp())
            claims = {
                "application_id": self._settings.application_id,
                "iat": made,
                "exp": made + int(_GOOD_FOR.total_seconds()),
                "jti": secrets.token_hex(16),
            }
            self._token = now + _GOOD_FOR / 2, signed({"alg": "RS256", "typ": "JWT"}, claims, self._key)
        return f"Bearer {self._token[1]}"

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        verdict = verdict_of(answer.status, _STATUSES)
        if verdict == "accepted":
            found = text_at(said, "message_uuid")
            if found is None:
                return NO_MESSAGE_ID
            return Accepted(provider_message_id=found[:200], sender=self._answerable(message))
        code = code_of(said) if isinstance(said, dict) else None
        verdict = believed(verdict, answer, theirs=code is not None)
        if verdict == "refused" and code in _TRY_LATER:
            verdict = "try_later"
        words = text_at(said, "detail") or text_at(said, "title")
        return self._answered(verdict, answer, message, code=code, words=words, by_recipient=code == "1240")

    def _answerable(self, message: OutboundMessage) -> str | None:
        """Where an answer will arrive: a number, not a name."""
        sender = self._settings.sms_from or message.sender.value
        return number(sender.removeprefix("+")) if _ANSWERABLE.fullmatch(sender) else None


def _refuse_half(settings: VonageSettings) -> None:
    """Half of a pair signs in to nothing."""
    if (settings.application_id is None) != (settings.private_key is None):
        raise BadValueError("private_key", "goes with application_id: set both, or neither")
    if (settings.api_key is None) != (settings.api_secret is None):
        raise BadValueError("api_secret", "goes with api_key: set both, or neither")
    if settings.application_id is None and settings.api_key is None:
        raise BadValueError("application_id", "and private_key are needed, or api_key and api_secret")


def _basic(settings: VonageSettings) -> str | None:
    if settings.api_key is None or settings.api_secret is None:
        return None
    return "Basic " + base64.b64encode(f"{settings.api_key}:{settings.api_secret}".encode()).decode()


def _fixed_sender(settings: VonageSettings, _: str) -> str | None:
    return settings.sms_from


KIND = AdapterKind(
    adapter=VonageAdapter,
    title="Vonage (Messages API)",
    settings=VonageSettings,
    credential_fields=("private_key", "api_secret", "signature_secret"),
    main_credential="private_key",
    fixed_sender=_fixed_sender,
    prices=("segment",),
    by_settings=frozenset({"receipts", "inbound"}),
    callbacks=VonageForm(),
    proof="Authorization: a JWT, HS256, with the hash of the body, a day",
    statuses=seeds_of(_MEANINGS),
)
