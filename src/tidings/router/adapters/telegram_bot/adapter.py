"""Telegram: one bot that writes to people who have begun a chat with it.

The bot's token is a part of every address that is asked, so no address is ever shown. Telegram tells nothing of what becomes
of a message.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final

from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer, wait_of
from tidings.kernel.http_client.pool import HttpRequest
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
from tidings.router.adapters.kind import AdapterContext, AdapterKind, seeds_of
from tidings.router.adapters.telegram_bot.callbacks import TelegramForm, bot_id, marking_key, message_name

#: A chat's number, or the name of a public channel.
_CHAT: Final = re.compile(r"(-?[1-9][0-9]{0,18})|@[A-Za-z][A-Za-z0-9_]{3,31}")

#: Telegram has three numbers for everything and says the rest in words. What their words begin with, in the order in which
#: they are looked for → our code. The words are those of github.com/tdlib/telegram-bot-api.
_WORDS: Final[Mapping[int, Mapping[str, str]]] = {
    400: {
        "bad request: chat not found": "400:chat_not_found",
        "bad request: user not found": "400:chat_not_found",
        "bad request: peer_id_invalid": "400:chat_not_found",
        "bad request: group chat was upgraded": "400:chat_moved",
        "bad request: message is too long": "400:too_long",
        "bad request: message text is empty": "400:empty",
        "bad request: have no rights": "403",
        "bad request: not enough rights": "403",
        "bad request: chat_write_forbidden": "403",
    },
    403: {
        "forbidden: user is deactivated": "403:deactivated",
        "forbidden: bot can't initiate": "403:not_started",
        "forbidden: bot can't send messages to bots": "403:is_bot",
    },
}
_SEEDS: Final = seeds_of(
    (
        ("400", "rejected_by_provider", "bad_request"),
        ("400:too_long", "rejected_by_provider", "content_refused"),
        ("400:empty", "rejected_by_provider", "content_refused"),
        ("400:chat_not_found", "failed_perm", "invalid_address"),
        ("400:chat_moved", "failed_perm", "invalid_address"),
        ("403:deactivated", "failed_perm", "invalid_address"),
        ("403:is_bot", "failed_perm", "invalid_address"),
        ("403:not_started", "rejected_by_recipient", "not_started"),
        # The person blocked the bot, or a group put it out.
        ("403", "rejected_by_recipient", "bot_blocked"),
        ("401", "rejected_by_provider", "credentials"),
        ("404", "rejected_by_provider", "credentials"),
        ("409", "failed_temp", "vendor_trouble"),
        ("429", "failed_temp", "throttled"),
    )
)
_BY_THE_PERSON: Final = frozenset(seed.code for seed in _SEEDS if seed.canonical == "rejected_by_recipient")
#: 404, an address without a bot behind it: the token is wrong. A 500 does not say that nothing was sent.
_STATUSES: Final[Mapping[str, Verdict]] = {"404": "try_later", "409": "try_later", "500": "unlearned"}


class TelegramSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One bot."""

    #: Telegram's, or that of a Bot API server of one's own.
    api_url: ApiUrl = "https://api.telegram.org"
    #: As BotFather gave it.
    token: Annotated[
        str,
        Meta(
            pattern=r"^[0-9]{3,20}:[A-Za-z0-9_-]{20,200}\Z",
            description="must be a token as BotFather gives it: digits, a colon, letters",
        ),
    ]
    #: Telegram sends it with everything that people write; without it nothing is taken in.
    webhook_secret: (
        Annotated[
            str,
            Meta(
                min_length=16,
                max_length=1100,
                pattern=r"^[A-Za-z0-9_-]{16,256}([ \n][A-Za-z0-9_-]{16,256}){0,3}\Z",
                description="must be 16 letters, digits, _ and - or more; up to four one on each line or with blanks between them",
            ),
        ]
        | None
    ) = None
    #: Show a picture of what the first link leads to.
    link_previews: bool = False

    def __repr__(self) -> str:
        return f"TelegramSettings(bot={bot_id(self.token)!r})"


class TelegramAdapter(OneRequestAdapter[TelegramSettings]):
    """Hands messages to one bot."""

    name = "telegram_bot"
    channels = frozenset({"telegram"})
    capabilities = Capabilities()

    def __init__(self, settings: TelegramSettings, around: AdapterContext) -> None:
        super().__init__(settings, around)
        self.capabilities = Capabilities(inbound=settings.webhook_secret is not None)
        self._bot = bot_id(settings.token)
        self._marking = marking_key(settings.token)
        self._url = f"{settings.api_url.rstrip('/')}/bot{settings.token}"
        self._link_previews = settings.link_previews

    async def check(self) -> Outcome:
        """Ask the bot who it is."""
        return await self._sender.check(HttpRequest(method="GET", url=f"{self._url}/getMe"), read=_checked)

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request."""
        chat = _CHAT.fullmatch(message.to)
        if chat is None:
            raise BadValueError("to", "must be the number of a chat, or the @name of a public channel")
        if not message.text:
            raise BadValueError("text", "is needed")
        body = {
            "chat_id": int(message.to) if chat[1] else message.to,
            "text": message.text,
            "link_preview_options": {"is_disabled": not self._link_previews},
        }
        return HttpRequest.json(f"{self._url}/sendMessage", body)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        said = answer.json()
        theirs = at(said, "ok") is False
        verdict = believed(verdict_of(answer.status, _STATUSES), answer, theirs=theirs)
        if verdict == "accepted":
            chat, number = text_at(said, "result.chat.id"), text_at(said, "result.message_id")
            if at(said, "ok") is not True or chat is None or number is None:
                return NO_MESSAGE_ID
            found = message_name(self._marking, chat, number)
            return Accepted(provider_message_id=found, sender=self._bot)
        # Without its words a 403 is a proxy's, and says nothing of the person.
        code = _code(answer.status, said) if theirs else f"page:{answer.status}"
        outcome = self._answered(
            verdict,
            answer,
            message,
            code=code,
            words=text_at(said, "description"),
            by_recipient=code in _BY_THE_PERSON,
        )
        if isinstance(outcome, TryLater) and outcome.after is None:
            return replace(outcome, after=wait_of(text_at(said, "parameters.retry_after"), self._clock))
        return outcome


def _code(status: int, said: Any) -> str | None:
    """Telegram's number, with what its words say more."""
    words = (text_at(said, "description") or "").lower()
    found = next((code for begins, code in _WORDS.get(status, {}).items() if words.startswith(begins)), None)
    return found or text_at(said, "error_code")


def _checked(answer: HttpAnswer) -> Outcome:
    if answer.status == 404:
        return Refused(reason="there is no bot with this token", code="404")
    if answer.status == 200 and at(answer.json(), "ok") is not True:
        return TryLater(reason="this is not the answer of a bot; check api_url", code="200")
    return checked(answer.status)


def _fixed_sender(settings: TelegramSettings, _: str) -> str | None:
    return bot_id(settings.token)


KIND = AdapterKind(
    adapter=TelegramAdapter,
    title="Telegram (Bot API)",
    settings=TelegramSettings,
    credential_fields=("token", "webhook_secret"),
    main_credential="token",
    fixed_sender=_fixed_sender,
    by_settings=frozenset({"inbound"}),
    callbacks=TelegramForm(),
    proof="X-Telegram-Bot-Api-Secret-Token: the account's webhook_secret itself",
    statuses=_SEEDS,
)
