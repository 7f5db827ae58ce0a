"""WhatsApp over Meta's Cloud API: templates that Meta has approved, and free texts to people who wrote within 24 hours.

One account is one telephone number of a business. What becomes of a message is told later, at the hook.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.signed_webhooks.secrets import AsciiSecrets
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    Verdict,
    at,
    believed,
    checked,
    text_at,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.whatsapp_cloud.callbacks import WhatsAppForm, message_name
from tidings.router.adapters.whatsapp_cloud.error_codes import MEANINGS, SEEDS, MetaErrorMeaning
from tidings.router.adapters.whatsapp_templates import whatsapp_template

_Secret = Annotated[
    str, Meta(min_length=8, max_length=2048, pattern=r"^[!-~]+\Z", description="must be one word of ASCII")
]
_NUMBER: Final = re.compile(r"\+[1-9][0-9]{4,14}")
#: Of error 100: the number in the address of the request is not there, or not for this token.
_NO_SUCH_OBJECT: Final = 33
_WINDOW_CLOSED: Final = 131047
#: Statuses without a code that is known, over the usual meanings. 403, 404: the token, the number, the version in the address.
#: A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {"403": "try_later", "404": "try_later", "500": "unlearned"}
_TEMPLATE_NEEDED: Final = (
    "the person has not written within 24 hours, and then WhatsApp takes only templates that Meta has approved; "
    "name one for this text"
)


class WhatsAppSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One telephone number of a business."""

    #: With the version; Meta ends each one about two years after it came.
    api_url: ApiUrl = "https://graph.facebook.com/v24.0"
    #: Meta's id of the number that messages come from; not the number itself.
    phone_number_id: Annotated[
        str, Meta(pattern=r"^[0-9]{5,32}\Z", description="must be the digits of Meta's phone number ID")
    ]
    #: Of a system user with `whatsapp_business_messaging`; one that does not end.
    access_token: _Secret
    #: The secret of the Meta app, which signs callbacks; without it nothing is taken in.
    app_secret: AsciiSecrets | None = None
    #: Any word: Meta asks the hook for it once, when its address is entered.
    verify_token: AsciiSecrets | None = None

    def __repr__(self) -> str:
        return f"WhatsAppSettings(phone_number_id={self.phone_number_id!r})"


class WhatsAppAdapter(OneRequestAdapter[WhatsAppSettings]):
    """Hands messages to one number."""

    name = "whatsapp_cloud"
    channels = frozenset({"whatsapp"})
    capabilities = Capabilities()

    def __init__(self, settings: WhatsAppSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        heard = settings.app_secret is not None
        self.capabilities = Capabilities(receipts=heard, inbound=heard)
        self._from = settings.phone_number_id
        self._url = f"{settings.api_url.rstrip('/')}/{settings.phone_number_id}"
        self._headers = {"Authorization": f"Bearer {settings.access_token}"}

    async def check(self) -> Outcome:
        """Ask for the number itself."""
        request = HttpRequest(method="GET", url=f"{self._url}?fields=id", headers=self._headers)
        return await self._sender.check(request, read=_checked)

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        if not _NUMBER.fullmatch(message.to):
            raise BadValueError("to", "must be a telephone number with + and the country code")
        body = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            "to": message.to,
            **(
                {"type": "template", "template": whatsapp_template(message.template)}
                if message.template is not None
                else _text(message.text)
            ),
        }
        return HttpRequest.json(f"{self._url}/messages", body, self._headers)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        error = at(said, "error")
        verdict = believed(verdict_of(answer.status, _STATUSES), answer, theirs=isinstance(error, dict))
        message_id = text_at(said, "messages.0.id")
        if verdict == "accepted" and error is None:
            if message_id is None:
                return NO_MESSAGE_ID
            return Accepted(provider_message_id=message_name(message_id), sender=self._from)
        meaning = _meaning(error)
        if meaning is not None:
            verdict = meaning.verdict
        elif verdict == "accepted":
            # An error in a success: the outcome is not known.
            verdict = "unlearned"
        elif verdict == "refused" and at(error, "is_transient") is True:
            verdict = "try_later"
        code = text_at(error, "code")
        words = text_at(error, "error_data.details") or text_at(error, "message")
        if code == str(_WINDOW_CLOSED):
            words = _TEMPLATE_NEEDED
        by_them = meaning is not None and meaning.canonical == "rejected_by_recipient"
        return self._answered(verdict, answer, message, code=code, words=words, by_recipient=by_them)


def _text(text: str | None) -> Mapping[str, Any]:
    if not text:
        raise BadValueError("text", "is needed where no template is named")
    return {"type": "text", "text": {"preview_url": False, "body": text}}


def _meaning(error: Any) -> MetaErrorMeaning | None:
    code, subcode = at(error, "code"), at(error, "error_subcode")
    if not isinstance(code, int):
        return None
    if code == 100 and subcode == _NO_SUCH_OBJECT:
        return MEANINGS[_NO_SUCH_OBJECT]
    return MEANINGS.get(code)


def _checked(answer: HttpAnswer) -> Outcome:
    """By Meta's code: a token that is no good can be answered with 400."""
    meaning = _meaning(at(answer.json(), "error"))
    if meaning is None:
        return checked(answer.status)
    code = text_at(answer.json(), "error.code") or str(answer.status)
    if meaning.reason == "credentials":
        return Refused(reason="the vendor does not accept the access_token", code=code)
    if meaning.reason == "account_unready":
        return Refused(reason="there is no such phone_number_id, or not for this access_token", code=code)
    return TryLater(reason=f"the vendor answered {answer.status}", code=code)


def _fixed_sender(settings: WhatsAppSettings, _: str) -> str | None:
    return settings.phone_number_id


KIND = AdapterKind(
    adapter=WhatsAppAdapter,
    title="WhatsApp (Meta Cloud API)",
    settings=WhatsAppSettings,
    credential_fields=("access_token", "app_secret", "verify_token"),
    main_credential="access_token",
    fixed_sender=_fixed_sender,
    by_settings=frozenset({"receipts", "inbound"}),
    callbacks=WhatsAppForm(),
    proof="X-Hub-Signature-256: HMAC-SHA256 over the body with the app's secret",
    statuses=SEEDS,
)
