"""Telegram: the request on the wire, what its few numbers and many words mean, what people write to a bot."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import structlog

from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callback_forms import RawCallback, ReadInbound, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.kernel.http.errors import MalformedBodyError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.telegram_bot.adapter import KIND, TelegramSettings
from tidings.router.adapters.telegram_bot.callbacks import TelegramForm

TOKEN = "123456:ABC-DEF1234ghIkl-zyx57W2v1u123ew11"
CHAT = "5123456789"
TEXT = replace(MESSAGE, channel="telegram", to=CHAT, html=None)
ACCEPTED = http.answer("200 OK", b'{"ok":true,"result":{"message_id":17,"chat":{"id":5123456789}}}')
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = TelegramForm()
SETTINGS = TelegramSettings(token=TOKEN, webhook_secret="the-old-secret-01 the-new-secret-01")
KEYS = FORM.keys(SETTINGS) or {}


@asynccontextmanager
async def played(*answers: bytes, **more: Any) -> AsyncIterator[tuple[Adapter, http.PlayedHttp]]:
    """A bot whose server gives these answers."""
    async with http.played_http(*answers) as vendor:
        settings = {"api_url": f"http://127.0.0.1:{vendor.port}", "token": TOKEN, **more}
        read = msgspec.convert(settings, TelegramSettings)
        adapter = KIND.adapter(read, AdapterContext(clock=SystemClock()))
        try:
            yield adapter, vendor
        finally:
            await adapter.close()


async def sent(status: str, said: dict[str, Any]) -> Outcome:
    """What becomes of a message that Telegram answers so."""
    number = int(status.split(maxsplit=1)[0])
    body = msgspec.json.encode({"ok": False, "error_code": number, **said})
    async with played(http.answer(status, body)) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])
    return outcome


async def test_a_message_goes_out_as_telegram_wants_it() -> None:
    """The chat's number is somebody's address: the message is called by a mark of it."""
    async with played(ACCEPTED) as (adapter, vendor):
        (outcome,) = await adapter.send([TEXT])

    (head, body) = vendor.heard[0]
    assert isinstance(outcome, Accepted)
    assert outcome.sender == "123456"
    assert outcome.provider_message_id is not None
    assert outcome.provider_message_id.endswith(":17")
    assert CHAT not in repr(outcome)
    assert head.startswith(f"POST /bot{TOKEN}/sendMessage HTTP/1.1\r\n")
    assert "Content-Type: application/json\r\n" in head
    assert msgspec.json.decode(body) == {
        "chat_id": 5123456789,
        "text": "The secret of the tea",
        "link_preview_options": {"is_disabled": True},
    }


async def test_channels_have_names_and_pictures_can_be_had() -> None:
    async with played(ACCEPTED, link_previews=True) as (adapter, vendor):
        await adapter.send([replace(TEXT, to="@green_shop")])
        await adapter.send([replace(TEXT, to="-1001234567890")])

    first, second = (msgspec.json.decode(body) for _, body in vendor.heard)
    assert first["chat_id"] == "@green_shop"
    assert first["link_preview_options"] == {"is_disabled": False}
    assert second["chat_id"] == -1001234567890


async def test_two_chats_never_share_a_messages_name() -> None:
    """Telegram counts messages chat by chat."""
    other = http.answer("200 OK", b'{"ok":true,"result":{"message_id":17,"chat":{"id":5123456780}}}')
    async with played(ACCEPTED, other, ACCEPTED) as (adapter, _):
        found = [(await adapter.send([TEXT]))[0] for _ in range(3)]

    names = [one.provider_message_id for one in found if isinstance(one, Accepted)]
    assert names[0] == names[2]
    assert names[0] != names[1]


@pytest.mark.parametrize(
    "change", [{"to": "laila"}, {"to": "0"}, {"to": "@a b"}, {"text": None}, {"text": ""}]
)
async def test_what_cant_be_said_is_refused_without_asking(change: dict[str, Any]) -> None:
    async with played(ACCEPTED) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, **change)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert vendor.heard == []


@pytest.mark.parametrize(
    ("status", "words", "code", "meaning"),
    [
        (400, "Bad Request: chat not found", "400:chat_not_found", ("failed_perm", "invalid_address")),
        (400, "Bad Request: PEER_ID_INVALID", "400:chat_not_found", ("failed_perm", "invalid_address")),
        (
            400,
            "Bad Request: group chat was upgraded to a supergroup chat",
            "400:chat_moved",
            ("failed_perm", "invalid_address"),
        ),
        (
            400,
            "Bad Request: message is too long",
            "400:too_long",
            ("rejected_by_provider", "content_refused"),
        ),
        (400, "Bad Request: can't parse entities", "400", ("rejected_by_provider", "bad_request")),
        (403, "Forbidden: user is deactivated", "403:deactivated", ("failed_perm", "invalid_address")),
        (
            403,
            "Forbidden: bot can't initiate conversation with a user",
            "403:not_started",
            ("rejected_by_recipient", "not_started"),
        ),
        (403, "Forbidden: bot was blocked by the user", "403", ("rejected_by_recipient", "bot_blocked")),
        (
            403,
            "Forbidden: bot was kicked from the group chat",
            "403",
            ("rejected_by_recipient", "bot_blocked"),
        ),
    ],
)
async def test_a_no_is_understood_by_its_words(
    status: int, words: str, code: str, meaning: tuple[str, str]
) -> None:
    outcome = await sent(f"{status} No", {"description": words})

    assert isinstance(outcome, Refused)
    assert (outcome.code, outcome.reason) == (code, words)
    assert {seed.code: (seed.canonical, seed.reason) for seed in KIND.statuses}[code] == meaning
    assert (outcome.status == "rejected_by_recipient") == (meaning[0] == "rejected_by_recipient")


async def test_telegram_says_for_how_long_it_wants_to_be_left_alone() -> None:
    """In the body, and not in a header."""
    said = {"description": "Too Many Requests: retry after 35", "parameters": {"retry_after": 35}}

    assert await sent("429 Too Many Requests", said) == TryLater(
        reason="Too Many Requests: retry after 35", code="429", after=timedelta(seconds=35)
    )


@pytest.mark.parametrize("status", ["401 Unauthorized", "404 Not Found", "409 Conflict", "503 Oh"])
async def test_our_own_trouble_is_not_the_messages(status: str) -> None:
    assert type(await sent(status, {"description": "x"})) is TryLater


async def test_of_an_internal_error_nobody_knows_what_had_been_done() -> None:
    """A bot server that is restarted says so of what it was doing."""
    assert type(await sent("500 Oh", {"description": "Internal Server Error: restart"})) is Unlearned


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"ok":false}',
        b'{"ok":true,"result":{"chat":{"id":1}}}',
        b'{"ok":true,"result":{"message_id":1}}',
    ],
)
async def test_a_success_that_is_none_is_unlearned(body: bytes) -> None:
    async with played(http.answer("200 OK", body)) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is Unlearned


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http.answer("200 OK", b'{"ok":true,"result":{"id":123456,"is_bot":true}}'), Accepted),
        (http.answer("200 OK", b"<html>hello</html>"), TryLater),
        (http.answer("401 Unauthorized", b'{"ok":false,"error_code":401}'), Refused),
        (http.answer("404 Not Found", b'{"ok":false,"error_code":404}'), Refused),
        (http.answer("500 Oh", b""), TryLater),
    ],
)
async def test_a_check_asks_the_bot_who_it_is(answer: bytes, kind: type[Outcome]) -> None:
    async with played(answer) as (adapter, vendor):
        found = await adapter.check()

    assert type(found) is kind
    assert vendor.heard[0][0].startswith(f"GET /bot{TOKEN}/getMe HTTP/1.1\r\n")


async def test_the_token_is_never_shown() -> None:
    """It is in every address that is asked, and errors of all kinds hold addresses."""
    told: list[object] = []
    with structlog.testing.capture_logs() as logs:
        answers = [
            http.CLOSE,
            b"no http at all\r\n\r\n" + http.CLOSE,
            http.answer("307 Go", headers="Location: /x\r\n"),
        ]
        for answer in answers:
            async with played(answer, timeout_seconds=2.0) as (adapter, _):
                told += [*await adapter.send([TEXT]), await adapter.check(), adapter]
        async with played(http.HANG, timeout_seconds=0.1) as (adapter, _):
            told += await adapter.send([TEXT])
        async with played(ACCEPTED, api_url="http://127.0.0.1:1") as (adapter, _):
            told += [*await adapter.send([TEXT]), await adapter.check()]

    assert "ABC-DEF" not in f"{told!r} {logs!r} {SETTINGS!r}"
    assert repr(SETTINGS) == "TelegramSettings(bot='123456')"


# --- callbacks


def told(update: dict[str, Any], *, secret: str | None = "the-new-secret-01") -> RawCallback:
    """An update that Telegram sends with this secret."""
    headers = {"content-type": ["application/json"]}
    if secret is not None:
        headers["x-telegram-bot-api-secret-token"] = [secret]
    return RawCallback(headers=headers, body=msgspec.json.encode({"update_id": 1, **update}), received_at=NOW)


def message(**more: Any) -> dict[str, Any]:
    """What somebody wrote."""
    person = {"id": 5123456789, "is_bot": False, "first_name": "Laila", "last_name": "U."}
    chat = {"id": 5123456789, "type": "private"}
    return {"message_id": 18, "from": person, "chat": chat, "date": 1763208000, **more}


@pytest.mark.parametrize(
    ("secret", "code"),
    [
        ("the-old-secret-01", None),
        ("the-new-secret-01", None),
        ("the-old-secret-01 the-new-secret-01", "mismatch"),
        ("another", "mismatch"),
        ("", "unsigned"),
        (None, "unsigned"),
    ],
)
async def test_whoever_knows_the_secret_is_telegram(secret: str | None, code: str | None) -> None:
    """Either one, while one takes the place of the other."""
    found = await FORM.verify(told({}, secret=secret), KEYS)

    assert (found.code if isinstance(found, UnverifiedCallback) else None) == code
    assert isinstance(found, VerifiedCallback) == (code is None)


async def test_what_somebody_writes() -> None:
    """It answers our message, under the name that this message was given when it was sent."""
    async with played(ACCEPTED) as (adapter, _):
        (ours,) = await adapter.send([TEXT])
    assert isinstance(ours, Accepted)

    earlier = {"message_id": 17, "chat": {"id": 5123456789, "type": "private"}, "date": 1}
    found = FORM.read(told({"message": message(text="stop", reply_to_message=earlier)}), KEYS)

    (one,) = found.inbound
    assert one == ReadInbound(
        vendor_message_id=one.vendor_message_id,
        channel="telegram",
        sender=CHAT,
        to="123456",
        text="stop",
        occurred_at=datetime(2025, 11, 15, 12, tzinfo=UTC),
        sender_name="Laila U.",
        answers=ours.provider_message_id,
    )
    assert one.vendor_message_id.endswith(":18")
    assert CHAT not in repr(found)
    assert ours.sender == one.to


@pytest.mark.parametrize(
    ("more", "kind", "text"),
    [
        ({"photo": [{"file_id": "x"}], "caption": "look"}, "photo", "look"),
        ({"animation": {}, "document": {}}, "animation", ""),
        ({"venue": {}, "location": {}}, "venue", ""),
        ({"contact": {"phone_number": "+93701234567"}}, "contact", ""),
    ],
)
def test_whatever_somebody_sends_has_its_kind(more: dict[str, Any], kind: str, text: str) -> None:
    (one,) = FORM.read(told({"message": message(**more)}), KEYS).inbound

    assert (one.kind, one.text) == (kind, text)


def test_a_button_that_is_pressed() -> None:
    pressed = {
        "id": "4382bfdwdsb323b2d9",
        "from": {"id": 5123456789, "first_name": "Laila"},
        "message": message(text="Tea?"),
        "data": "yes",
    }

    reading = FORM.read(told({"callback_query": pressed}), KEYS)

    (one,) = reading.inbound
    assert reading.reply is not None
    assert msgspec.json.decode(reading.reply.body) == {
        "method": "answerCallbackQuery",
        "callback_query_id": "4382bfdwdsb323b2d9",
    }
    assert (one.kind, one.text, one.sender, one.sender_name) == ("button", "yes", CHAT, "Laila")
    assert one.vendor_message_id == "callback:4382bfdwdsb323b2d9"
    assert one.answers is not None
    assert one.answers.endswith(":18")


@pytest.mark.parametrize(
    "update",
    [
        {"edited_message": message(text="stop")},
        {"my_chat_member": {"chat": {"id": 1}, "new_chat_member": {"status": "kicked"}}},
        {"channel_post": message(text="x")},
        {"message": message(new_chat_members=[{"id": 1}])},
        {"message": message(text="x", **{"from": {"id": 2, "is_bot": True}})},
        {},
    ],
)
def test_what_no_person_says_to_us_is_left_aside(update: dict[str, Any]) -> None:
    """An edited text, somebody who blocked the bot, somebody who joined, another bot."""
    found = FORM.read(told(update), KEYS)

    assert (list(found.events), list(found.inbound)) == ([], [])


def test_what_is_no_update_is_refused() -> None:
    with pytest.raises(MalformedBodyError):
        FORM.read(RawCallback(headers={}, body=b"<html>", received_at=NOW), KEYS)


async def test_only_a_bot_with_a_secret_hears_anything() -> None:
    assert FORM.keys(TelegramSettings(token=TOKEN)) is None
    assert TOKEN not in repr(KEYS)
    async with played(ACCEPTED) as (deaf, _), played(ACCEPTED, webhook_secret="s" * 16) as (hears, _):
        assert deaf.capabilities == Capabilities()
        assert hears.capabilities == Capabilities(inbound=True)


@pytest.mark.parametrize(
    "settings",
    [
        {"token": "no token"},
        {"token": TOKEN, "webhook_secret": "short"},
        {"token": TOKEN, "webhook_secret": "a secret with an ü in it"},
        {"token": TOKEN, "tokn": "x"},
    ],
)
def test_settings_that_are_none(settings: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(settings, TelegramSettings)
