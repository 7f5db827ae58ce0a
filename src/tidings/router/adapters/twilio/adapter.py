"""Twilio: text messages, WhatsApp and calls that are read out, over its REST API of 2010-04-01.

Twilio knows no key by which it would drop a repeat: what was asked and not answered is `Unlearned`.
"""

import base64
import re
from collections.abc import Mapping
from typing import Annotated, Final
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import Secrets
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
from tidings.router.adapters.setting_types import Language, SenderName, ShortToken
from tidings.router.adapters.twilio.callbacks import TwilioForm
from tidings.router.adapters.twilio.voice_languages import twilio_language
from tidings.router.adapters.whatsapp_templates import content_variables

_ContentSid = Annotated[
    str,
    Meta(
        pattern=r"^HX[0-9a-fA-F]{32}\Z", description="must be the id of a content template, such as HX0123…"
    ),
]


class TwilioSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One account with Twilio, or one of its subaccounts."""

    account_sid: Annotated[
        str, Meta(pattern=r"^AC[0-9a-fA-F]{32}\Z", description="must be an account's id, such as AC0123…")
    ]
    #: Signs in, where there is no API key; Twilio signs its callbacks with it in either case.
    auth_token: ShortToken | None = None
    #: An API key: it signs in instead of the auth token. Both or neither.
    api_key_sid: (
        Annotated[
            str, Meta(pattern=r"^SK[0-9a-fA-F]{32}\Z", description="must be a key's id, such as SK0123…")
        ]
        | None
    ) = None
    api_key_secret: ShortToken | None = None
    #: What callbacks are signed with, where that is not `auth_token`; several while one takes the place of
    #: another, one on each line.
    callback_auth_token: Secrets | None = None
    #: Texts and WhatsApp messages go out through this service, which chooses the sender.
    messaging_service_sid: (
        Annotated[
            str, Meta(pattern=r"^MG[0-9a-fA-F]{32}\Z", description="must be a service's id, such as MG0123…")
        ]
        | None
    ) = None
    #: Senders that go before the tenant's: a number, a short code or a name; WhatsApp and calls need a number.
    sms_from: SenderName | None = None
    whatsapp_from: SenderName | None = None
    voice_from: SenderName | None = None
    #: Which content template of Twilio's stands for a WhatsApp template: by its name, or its name, a slash and its language.
    content_sids: Annotated[dict[str, _ContentSid], Meta(max_length=1000)] = msgspec.field(
        default_factory=dict
    )
    #: The language and the voice in which calls are read out where the text is in this language, or nobody knows in which, and how
    #: often a call says its text. Other texts are read out in their own language.
    voice_language: Language = "en-US"
    voice: (
        Annotated[
            str, Meta(pattern=r"^[A-Za-z0-9._-]{1,60}\Z", description="must be a voice such as Polly.Joanna")
        ]
        | None
    ) = None
    voice_repeat: Annotated[int, Meta(ge=1, le=5)] = 2
    #: This account's hook, as Twilio reaches it: told to Twilio with every message. Calls have no receipts without it.
    status_callback: ApiUrl | None = None
    api_url: ApiUrl = "https://api.twilio.com"

    def __repr__(self) -> str:
        return f"TwilioSettings(account_sid={self.account_sid!r})"


_NUMBER: Final = re.compile(r"\+[1-9][0-9]{5,14}")
_SHORT_CODE: Final = re.compile(r"[0-9]{3,8}")
_HX: Final = re.compile(r"HX[0-9a-fA-F]{32}")
#: The person has replied STOP.
_STOPPED: Final = "21610"
#: Twilio takes no longer TwiML in a request (error 32018).
_MOST_TWIML: Final = 4000
#: Characters that XML 1.0 has no way to write.
_NOT_XML: Final = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: Statuses, over the usual meanings. 403, 404: the account, not the message. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {"403": "try_later", "404": "try_later", "500": "unlearned"}
#: Codes that speak of the account, its money or its pace: nothing is wrong with the message.
_TRY_LATER: Final = frozenset(
    {
        "10001",  # account is not active
        "10004",  # too many calls at once
        "10005",  # the account may not call
        "14107",  # more messages than the sender may send
        "20003",  # authenticate
        "20005",  # account not active
        "20429",  # too many requests
        "21611",  # this sender has too many messages in its queue
        "30001",  # queue overflow
        "30002",  # account suspended
        "63001",  # the channel does not know the account
        "63010",  # the channel's or Twilio's own trouble with it
        "63012",
        "63020",  # the business's account at the channel: blocked, or not paid
        "63017",  # the account's pace
        "63018",  # the channel's rate limit
        "63038",  # the account's daily messages are used up
    }
)
#: Twilio's dictionary of errors, as far as it speaks of messages and calls.
_MEANINGS: Final[tuple[tuple[str, Canonical, str], ...]] = (
    # When a message or a call is asked for.
    ("21211", "failed_perm", "invalid_address"),  # 'To' is not a valid number
    ("21214", "failed_perm", "unreachable"),  # 'To' can't be reached by a call
    ("21217", "failed_perm", "invalid_address"),  # number does not appear to be valid
    ("21219", "rejected_by_provider", "unverified_recipient"),  # trial account, calls
    ("21212", "rejected_by_provider", "invalid_sender"),
    ("21215", "rejected_by_provider", "country_not_enabled"),  # calls
    ("21408", "rejected_by_provider", "country_not_enabled"),  # texts
    ("21602", "failed_perm", "content_refused"),  # a body is required
    ("21603", "rejected_by_provider", "invalid_sender"),
    ("21606", "rejected_by_provider", "invalid_sender"),
    ("21608", "rejected_by_provider", "unverified_recipient"),  # trial account
    (_STOPPED, "rejected_by_recipient", "unsubscribed"),
    ("21612", "rejected_by_provider", "no_route"),
    ("21614", "failed_perm", "invalid_address"),  # not a mobile number
    ("21617", "failed_perm", "content_too_long"),
    ("21635", "failed_perm", "invalid_address"),  # 'To' is a landline
    ("21656", "rejected_by_provider", "template_mismatch"),  # ContentVariables are not valid
    ("32018", "failed_perm", "content_too_long"),  # TwiML over 4000 characters
    # Told later.
    ("30001", "failed_temp", "queue_full"),
    ("30002", "failed_temp", "account_suspended"),
    ("30003", "failed_temp", "unreachable"),  # handset off or out of reach
    ("30004", "rejected_by_recipient", "blocked"),
    ("30005", "failed_perm", "invalid_address"),  # unknown handset
    ("30006", "failed_perm", "landline"),  # landline, or a carrier out of reach
    ("30007", "rejected_by_provider", "content_refused"),  # filtered
    ("30008", "failed_temp", "unknown_error"),
    ("30022", "failed_temp", "rate_limited"),
    ("30023", "failed_temp", "daily_limit"),
    ("30034", "rejected_by_provider", "unregistered_sender"),
    # WhatsApp and other channels.
    ("63001", "failed_temp", "credentials"),
    ("63003", "failed_perm", "not_on_channel"),  # could not find 'To'
    ("63005", "failed_perm", "content_refused"),
    ("63010", "failed_temp", "unavailable"),
    ("63012", "failed_temp", "unavailable"),
    ("63013", "rejected_by_provider", "content_refused"),  # against the channel's policy
    ("63014", "rejected_by_recipient", "blocked"),
    ("63016", "rejected_by_provider", "outside_window"),  # a template is needed
    ("63017", "failed_temp", "rate_limited"),
    ("63018", "failed_temp", "rate_limited"),
    ("63020", "failed_temp", "account_suspended"),
    ("63021", "failed_perm", "content_refused"),
    ("63024", "rejected_by_recipient", "not_on_channel"),  # invalid message recipient
    ("63038", "failed_temp", "daily_limit"),
    ("92007", "rejected_by_provider", "template_mismatch"),  # a content variable holds what may not be there
    # Calls are told by word.
    ("busy", "failed_temp", "busy"),
    ("no-answer", "failed_temp", "no_answer"),
)


class TwilioAdapter(OneRequestAdapter[TwilioSettings]):
    """Hands messages to one account at Twilio."""

    name = "twilio"
    channels = frozenset({"sms", "whatsapp", "voice"})
    capabilities = Capabilities()

    def __init__(self, settings: TwilioSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        told = settings.status_callback is not None or settings.messaging_service_sid is not None
        signed = settings.auth_token is not None or settings.callback_auth_token is not None
        self.capabilities = Capabilities(receipts=told and signed, inbound=signed)
        self._authorisation = _authorisation(settings)
        self._root = f"{settings.api_url.rstrip('/')}/2010-04-01/Accounts/{settings.account_sid}"

    async def check(self) -> Outcome:
        """Ask for the account; with an API key, which must not see that, for the list of messages."""
        url = (
            f"{self._root}.json"
            if self._settings.api_key_sid is None
            else f"{self._root}/Messages.json?PageSize=1"
        )
        return await self._sender.check(HttpRequest(method="GET", url=url, headers=self._authorisation))

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        if not _NUMBER.fullmatch(message.to):
            raise BadValueError("to", "must be a number such as +93700123456")
        if message.channel == "voice":
            path, fields = "Calls.json", self._call(message)
        else:
            path, fields = "Messages.json", self._message(message)
        if self._settings.status_callback is not None:
            fields.append(("StatusCallback", self._settings.status_callback))
            if message.channel == "voice":
                fields += [("StatusCallbackEvent", event) for event in ("answered", "completed")]
        return HttpRequest(
            url=f"{self._root}/{path}",
            headers={
                **self._authorisation,
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
            body=urlencode(fields, quote_via=quote).encode(),
        )

    def _message(self, message: OutboundMessage) -> list[tuple[str, str]]:
        before = "whatsapp:" if message.channel == "whatsapp" else ""
        fields = [("To", before + message.to)]
        sender = self._from(message)
        if sender is not None:
            fields.append(("From", before + sender))
        if self._settings.messaging_service_sid is not None:
            fields.append(("MessagingServiceSid", self._settings.messaging_service_sid))
        content = self._content_sid(message)
        if content is not None and message.template is not None:
            places = content_variables(message.template)
            fields.append(("ContentSid", content))
            if places:
                fields.append(("ContentVariables", msgspec.json.encode(places).decode()))
        elif message.text:
            fields.append(("Body", message.text))
        else:
            raise BadValueError("text", "must not be empty")
        return fields

    def _call(self, message: OutboundMessage) -> list[tuple[str, str]]:
        if not message.text:
            raise BadValueError("text", "must not be empty")
        sender = self._settings.voice_from or message.sender.value
        if not _NUMBER.fullmatch(sender):
            raise BadValueError("from", "must be a number such as +14155550100: a call has no other sender")
        spoken = self._settings
        language = twilio_language(message.language, spoken.voice_language)
        # A voice speaks one language; another is left to the voice that Twilio has for it.
        own = language == spoken.voice_language
        voice = f" voice={quoteattr(spoken.voice)}" if spoken.voice is not None and own else ""
        twiml = (
            f"<Response><Say language={quoteattr(language)}{voice} "
            f'loop="{spoken.voice_repeat}">{escape(_NOT_XML.sub(" ", message.text))}</Say></Response>'
        )
        if len(twiml) > _MOST_TWIML:
            raise BadValueError(
                "text", f"is too long to be read out: the TwiML is over {_MOST_TWIML} characters"
            )
        return [("To", message.to), ("From", sender), ("Twiml", twiml)]

    def _from(self, message: OutboundMessage) -> str | None:
        """Who it is from; None where the messaging service chooses."""
        own = self._settings.sms_from if message.channel == "sms" else self._settings.whatsapp_from
        if own is None and self._settings.messaging_service_sid is not None:
            return None
        sender = own or message.sender.value
        if not sender or not sender.isprintable():
            raise BadValueError("from", "must be a number, a short code or a name")
        return sender.removeprefix("whatsapp:")

    def _content_sid(self, message: OutboundMessage) -> str | None:
        """The content template; None where the text is sent as it is."""
        if message.channel != "whatsapp" or message.template is None:
            return None
        name, known = message.template.name, self._settings.content_sids
        if _HX.fullmatch(name):
            return name
        return known.get(f"{name}/{message.template.language}", known.get(name))

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        verdict = verdict_of(answer.status, _STATUSES)
        if verdict == "accepted":
            return self._taken(said, answer, message)
        code = text_at(said, "code")
        verdict = believed(verdict, answer, theirs=code is not None)
        if verdict == "refused" and code in _TRY_LATER:
            verdict = "try_later"
        words = text_at(said, "message")
        return self._answered(verdict, answer, message, code=code, words=words, by_recipient=code == _STOPPED)

    def _taken(self, said: object, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        sid = text_at(said, "sid")
        if sid is None:
            return NO_MESSAGE_ID
        if at(said, "status") in {"failed", "undelivered", "canceled"}:
            # 201 with "status": "failed": it was made, and it goes nowhere.
            code, words = text_at(said, "error_code"), text_at(said, "error_message")
            verdict: Verdict = "try_later" if code in _TRY_LATER else "refused"
            by_recipient = code == _STOPPED
            return self._answered(verdict, answer, message, code=code, words=words, by_recipient=by_recipient)
        return Accepted(provider_message_id=sid[:200], sender=self._answerable(message))

    def _answerable(self, message: OutboundMessage) -> str | None:
        """Where an answer will arrive, as an inbound message names it."""
        if message.channel == "voice":
            return None
        sender = self._from(message)
        if sender is None:
            return self._settings.messaging_service_sid
        return sender if _NUMBER.fullmatch(sender) or _SHORT_CODE.fullmatch(sender) else None


def _authorisation(settings: TwilioSettings) -> dict[str, str]:
    if (settings.api_key_sid is None) != (settings.api_key_secret is None):
        raise BadValueError("api_key_secret", "goes with api_key_sid: set both, or neither")
    user, password = settings.api_key_sid, settings.api_key_secret
    if user is None or password is None:
        user, password = settings.account_sid, settings.auth_token
    if password is None:
        raise BadValueError("auth_token", "is needed, or api_key_sid and api_key_secret")
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def _fixed_sender(settings: TwilioSettings, channel: str) -> str | None:
    if channel == "voice":
        return settings.voice_from
    own = settings.sms_from if channel == "sms" else settings.whatsapp_from
    return settings.messaging_service_sid if own is None else own.removeprefix("whatsapp:")


KIND = AdapterKind(
    adapter=TwilioAdapter,
    title="Twilio",
    settings=TwilioSettings,
    credential_fields=("auth_token", "api_key_secret", "callback_auth_token"),
    main_credential="auth_token",
    fixed_sender=_fixed_sender,
    prices=("message", "segment", "minute"),
    by_settings=frozenset({"receipts", "inbound"}),
    callbacks=TwilioForm(),
    proof="X-Twilio-Signature: HMAC-SHA1 over the address and all fields; no time",
    statuses=seeds_of(_MEANINGS),
)
