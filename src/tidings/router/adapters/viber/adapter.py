"""Viber: one bot that writes to people who have subscribed to it.

Viber answers 200 to everything; whether it took a message stands in `status`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    CodeMeaning,
    Verdict,
    at,
    believed,
    checked,
    code_seeds,
    scalar,
    text_at,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.kind import AdapterContext, AdapterKind, StatusSeed
from tidings.router.adapters.setting_types import ONE_LINE
from tidings.router.adapters.viber.callbacks import ViberForm

_MOST_NAME: Final = 28
_MOST_RECEIVER: Final = 255
_TOKEN_REFUSED: Final = 2

#: `status` in an answer → what it means for the message, and how it is kept. The list is that of developers.viber.com,
#: "Error codes"; another number is a general error.
_CODES: Final[Mapping[int, CodeMeaning]] = {
    1: ("refused", "rejected_by_provider", "bad_request"),
    2: ("try_later", "rejected_by_provider", "credentials"),
    3: ("refused", "rejected_by_provider", "bad_request"),
    4: ("refused", "rejected_by_provider", "bad_request"),
    5: ("refused", "failed_perm", "invalid_address"),
    6: ("refused", "rejected_by_recipient", "not_subscribed"),
    7: ("try_later", "rejected_by_provider", "account_blocked"),
    8: ("try_later", "rejected_by_provider", "account_unready"),
    9: ("try_later", "rejected_by_provider", "account_blocked"),
    # Viber lets no bot write that has no hook.
    10: ("try_later", "rejected_by_provider", "webhook_not_set"),
    11: ("refused", "rejected_by_recipient", "recipient_unsupported"),
    12: ("try_later", "failed_temp", "throttled"),
    13: ("refused", "rejected_by_recipient", "recipient_unsupported"),
    14: ("refused", "rejected_by_provider", "bad_request"),
    15: ("try_later", "rejected_by_provider", "account_unready"),
    16: ("refused", "rejected_by_provider", "bad_request"),
    17: ("refused", "rejected_by_provider", "bad_request"),
    18: ("refused", "rejected_by_provider", "bad_request"),
    19: ("refused", "rejected_by_provider", "bad_request"),
    20: ("refused", "rejected_by_provider", "bad_request"),
    21: ("refused", "rejected_by_provider", "country_refused"),
    22: ("refused", "rejected_by_provider", "bad_request"),
    23: ("try_later", "rejected_by_provider", "insufficient_credit"),
    24: ("try_later", "rejected_by_provider", "insufficient_credit"),
}
#: A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {"500": "unlearned"}
_SEEDS: Final = (
    *code_seeds(_CODES),
    # Told later, with words and without a number.
    StatusSeed(code="failed", canonical="failed_perm", reason="permanent_failure"),
)


class ViberSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bot."""

    api_url: ApiUrl = "https://chatapi.viber.com"
    #: The bot's token, which also signs what Viber tells.
    auth_token: Annotated[
        str, Meta(min_length=8, max_length=200, pattern=r"^[!-~]+\Z", description="must be one word of ASCII")
    ]
    #: What Viber calls the bot: the `id` of `get_account_info`. Answers of people arrive under it.
    bot_id: Annotated[
        str,
        Meta(
            min_length=1, max_length=100, pattern=r"^[!-~]+\Z", description="must be an id such as pa:753465"
        ),
    ]
    #: What people see above a message; the sender's name where this is left out.
    sender_name: (
        Annotated[
            str,
            Meta(
                min_length=1,
                max_length=_MOST_NAME,
                pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
                description=ONE_LINE,
            ),
        ]
        | None
    ) = None
    #: The address of a picture beside it.
    sender_avatar: (
        Annotated[
            str,
            Meta(
                max_length=2048,
                pattern=r"^https://[^\s\x00-\x1f\x7f-\x9f]+\Z",
                description="must be an https address",
            ),
        ]
        | None
    ) = None
    #: People whose Viber is older than this do not get a message.
    min_api_version: Annotated[int, Meta(ge=1, le=99)] = 1

    def __repr__(self) -> str:
        return f"ViberSettings(bot_id={self.bot_id!r})"


class ViberAdapter(OneRequestAdapter[ViberSettings]):
    """Hands messages to one bot."""

    name = "viber"
    channels = frozenset({"viber"})
    capabilities = Capabilities(receipts=True, inbound=True)

    def __init__(self, settings: ViberSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        self._url = f"{settings.api_url.rstrip('/')}/pa"
        self._headers = {"X-Viber-Auth-Token": settings.auth_token}

    async def check(self) -> Outcome:
        """Ask for the account of the token."""
        request = HttpRequest.json(f"{self._url}/get_account_info", {}, self._headers)
        return await self._sender.check(request, read=self._checked)

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        to = message.to
        if not to or len(to) > _MOST_RECEIVER or not to.isprintable() or " " in to:
            raise BadValueError("to", "must be Viber's id of a person")
        if not message.text:
            raise BadValueError("text", "is needed")
        sender: dict[str, Any] = {"name": self._name(message)}
        if self._settings.sender_avatar is not None:
            sender["avatar"] = self._settings.sender_avatar
        body = {
            "receiver": to,
            "min_api_version": self._settings.min_api_version,
            "sender": sender,
            "type": "text",
            "text": message.text,
        }
        return HttpRequest.json(f"{self._url}/send_message", body, self._headers)

    def _name(self, message: OutboundMessage) -> str:
        """Viber wants one, and a short one."""
        name = self._settings.sender_name or message.sender.name or message.sender.value
        name = " ".join(name.split())[:_MOST_NAME].strip()
        if not name:
            raise BadValueError("sender_name", "is needed, here or as the sender's name")
        return name

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        status = at(said, "status")
        theirs = isinstance(status, int) and not isinstance(status, bool)
        verdict = believed(verdict_of(answer.status, _STATUSES), answer, theirs=theirs)
        if verdict == "accepted":
            if not theirs:
                return NO_MESSAGE_ID
            if status == 0:
                token = text_at(said, "message_token")
                if token is None:
                    return NO_MESSAGE_ID
                return Accepted(provider_message_id=token, sender=self._settings.bot_id)
        meaning = _CODES.get(status) if isinstance(status, int) else None
        if meaning is not None:
            verdict = meaning[0]
        elif verdict == "accepted":
            # A general error: it does not say what had been done before.
            verdict = "unlearned"
        return self._answered(
            verdict,
            answer,
            message,
            code=scalar(status),
            words=text_at(said, "status_message"),
            by_recipient=meaning is not None and meaning[1] == "rejected_by_recipient",
        )

    def _checked(self, answer: HttpAnswer) -> Outcome:
        said = answer.json()
        status = at(said, "status")
        if answer.status != 200 or not isinstance(status, int):
            found = checked(answer.status)
            return found if not isinstance(found, Accepted) else _NOT_VIBER
        if status == _TOKEN_REFUSED:
            return Refused(reason="the vendor does not accept the auth_token", code="2")
        if status != 0:
            return TryLater(reason=f"the vendor answered status {status}", code=str(status))
        if text_at(said, "id") != self._settings.bot_id:
            return Refused(reason="bot_id is not the id of the bot whose auth_token this is", code="bot_id")
        return Accepted()


_NOT_VIBER: Final = TryLater(reason="this is not an answer of Viber's; check api_url", code="200")


def _fixed_sender(settings: ViberSettings, _: str) -> str | None:
    return settings.bot_id


KIND = AdapterKind(
    adapter=ViberAdapter,
    title="Viber (REST Bot API)",
    settings=ViberSettings,
    credential_fields=("auth_token",),
    main_credential="auth_token",
    fixed_sender=_fixed_sender,
    callbacks=ViberForm(),
    proof="X-Viber-Content-Signature: HMAC-SHA256 over the body with the bot's token",
    statuses=_SEEDS,
)
