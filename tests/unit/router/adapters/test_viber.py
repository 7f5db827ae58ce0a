"""Viber: the request on the wire, what its numbers mean, what its callbacks say."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.adapters import Adapter
from tidings.contracts.callback_forms import ParsedCallback, RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Address, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.kernel.http.errors import MalformedBodyError
from tidings.kernel.refusals import InvalidError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.viber.adapter import KIND, ViberSettings
from tidings.router.adapters.viber.callbacks import ViberForm

TOKEN = "445da6az1s345z78-dazcczb2542zv51a-e0vc5fva17480im9"
BOT = "pa:75346594275468546724"
TEXT = replace(MESSAGE, channel="viber", to="01234567890A=", html=None)
ACCEPTED = http.answer("200 OK", b'{"status":0,"status_message":"ok","message_token":5741311803571721087}')
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
FORM = ViberForm()
KEYS = {"secret": TOKEN, "bot": BOT}


@asynccontextmanager
async def played(*answers: bytes, **more: Any) -> AsyncIterator[tuple[Adapter, http.PlayedHttp]]:
    """A bot whose vendor gives these answers."""
    async with http.played_http(*answers) as vendor:
        settings = {"api_url": f"http://127.0.0.1:{vendor.port}", "auth_token": TOKEN, "bot_id": BOT, **more}
        read = msgspec.convert(settings, ViberSettings)
        adapter = KIND.adapter(read, AdapterContext(clock=SystemClock()))
        try:
            yield adapter, vendor
        finally:
            await adapter.close()


async def test_a_message_goes_out_as_viber_wants_it() -> None:
    """Under the sender's own name, where the account has none."""
    async with played(ACCEPTED) as (adapter, vendor):
        outcomes = await adapter.send([TEXT])

    (head, body) = vendor.heard[0]
    assert outcomes == [Accepted(provider_message_id="5741311803571721087", sender=BOT)]
    assert head.startswith("POST /pa/send_message HTTP/1.1\r\n")
    assert f"X-Viber-Auth-Token: {TOKEN}\r\n" in head
    assert msgspec.json.decode(body) == {
        "receiver": "01234567890A=",
        "min_api_version": 1,
        "sender": {"name": "Green Shop"},
        "type": "text",
        "text": "The secret of the tea",
    }


async def test_the_accounts_name_goes_before_the_senders() -> None:
    more = {"sender_name": "Tea", "sender_avatar": "https://shop.example/tea.png", "min_api_version": 7}
    async with played(ACCEPTED, **more) as (adapter, vendor):
        await adapter.send([TEXT])
    async with played(ACCEPTED) as (adapter, other):
        await adapter.send([replace(TEXT, sender=Address(value="A shop with a name that is far too long"))])

    body = msgspec.json.decode(vendor.heard[0][1])
    assert body["sender"] == {"name": "Tea", "avatar": "https://shop.example/tea.png"}
    assert body["min_api_version"] == 7
    # Viber takes 28 characters.
    assert msgspec.json.decode(other.heard[0][1])["sender"] == {"name": "A shop with a name that is f"}


@pytest.mark.parametrize(
    "change",
    [
        {"to": ""},
        {"to": "a b"},
        {"to": "x" * 256},
        {"to": "a\r\nb"},
        {"text": None},
        {"sender": Address(value=" ")},
    ],
)
async def test_what_cant_be_said_is_refused_without_asking(change: dict[str, Any]) -> None:
    async with played(ACCEPTED) as (adapter, vendor):
        (outcome,) = await adapter.send([replace(TEXT, **change)])

    assert isinstance(outcome, Refused)
    assert outcome.code == "bad_message"
    assert vendor.heard == []


@pytest.mark.parametrize(
    ("status", "words", "kind", "meaning"),
    [
        (2, "invalidAuthToken", TryLater, ("rejected_by_provider", "credentials")),
        (3, "badData", Refused, ("rejected_by_provider", "bad_request")),
        (5, "receiverNotRegistered", Refused, ("failed_perm", "invalid_address")),
        (6, "receiverNotSubscribed", Refused, ("rejected_by_recipient", "not_subscribed")),
        (9, "publicAccountSuspended", TryLater, ("rejected_by_provider", "account_blocked")),
        (10, "webhookNotSet", TryLater, ("rejected_by_provider", "webhook_not_set")),
        (12, "tooManyRequests", TryLater, ("failed_temp", "throttled")),
        (13, "apiVersionNotSupported", Refused, ("rejected_by_recipient", "recipient_unsupported")),
        (21, "unsupportedCountry", Refused, ("rejected_by_provider", "country_refused")),
        (24, "noBalance", TryLater, ("rejected_by_provider", "insufficient_credit")),
    ],
)
async def test_a_success_may_be_a_no(
    status: int, words: str, kind: type[Outcome], meaning: tuple[str, str] | None
) -> None:
    """Viber answers 200 to everything."""
    answer = http.answer("200 OK", msgspec.json.encode({"status": status, "status_message": words}))
    async with played(answer) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])

    assert isinstance(outcome, Refused | TryLater)
    assert (type(outcome), outcome.code, outcome.reason) == (kind, str(status), words)
    assert {seed.code: (seed.canonical, seed.reason) for seed in KIND.statuses}.get(str(status)) == meaning
    if isinstance(outcome, Refused) and meaning is not None:
        assert (outcome.status == "rejected_by_recipient") == (meaning[0] == "rejected_by_recipient")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (http.answer("200 OK", b"<html>log in</html>"), Unlearned),
        (http.answer("200 OK", b'{"status":0}'), Unlearned),
        (http.answer("200 OK", b'{"status":false,"message_token":1}'), Unlearned),
        (http.answer("200 OK", b'{"status":"0","message_token":1}'), Unlearned),
        # A general error: nobody says what had been done before it.
        (http.answer("200 OK", b'{"status":99,"status_message":"generalError"}'), Unlearned),
        (http.answer("502 Bad Gateway", b"<html>"), Unlearned),
        (http.answer("503 Service Unavailable", b"<html>"), TryLater),
        (http.answer("429 Too Many Requests", b"", headers="Retry-After: 3\r\n"), TryLater),
    ],
)
async def test_what_is_not_vibers_is_not_believed(answer: bytes, kind: type[Outcome]) -> None:
    async with played(answer) as (adapter, _):
        (outcome,) = await adapter.send([TEXT])

    assert type(outcome) is kind


@pytest.mark.parametrize(
    ("answer", "kind", "word"),
    [
        (http.answer("200 OK", b'{"status":0,"id":"pa:75346594275468546724"}'), Accepted, ""),
        (http.answer("200 OK", b'{"status":0,"id":"pa:1"}'), Refused, "bot_id"),
        (http.answer("200 OK", b'{"status":2,"status_message":"invalidAuthToken"}'), Refused, "auth_token"),
        (http.answer("200 OK", b'{"status":9}'), TryLater, "9"),
        (http.answer("200 OK", b"<html>"), TryLater, "api_url"),
        (http.answer("500 Oh", b""), TryLater, "500"),
    ],
)
async def test_a_check_asks_whose_token_it_is(answer: bytes, kind: type[Outcome], word: str) -> None:
    """And notices an id that belongs to another bot: answers would arrive where nobody waits."""
    async with played(answer) as (adapter, vendor):
        found = await adapter.check()

    assert type(found) is kind
    assert word in getattr(found, "reason", "")
    assert vendor.heard[0][0].startswith("POST /pa/get_account_info HTTP/1.1\r\n")


def test_settings_show_no_token() -> None:
    assert repr(ViberSettings(auth_token=TOKEN, bot_id=BOT)) == f"ViberSettings(bot_id='{BOT}')"


# --- callbacks


def told(value: dict[str, Any] | bytes, *, secret: str = TOKEN) -> RawCallback:
    """A request that this token signed."""
    body = value if isinstance(value, bytes) else msgspec.json.encode(value)
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    headers = {"content-type": ["application/json"], "x-viber-content-signature": [signature]}
    return RawCallback(headers=headers, body=body, received_at=NOW)


async def test_the_bots_token_signs() -> None:
    request = told({"event": "webhook"})

    assert await FORM.verify(request, KEYS) == VerifiedCallback()
    for changed, code in [
        (told({"event": "webhook"}, secret="another"), "mismatch"),
        (replace(request, body=request.body + b" "), "mismatch"),
        (
            replace(request, headers={**request.headers, "x-viber-content-signature": ["0f"]}),
            "malformed",
        ),
        (replace(request, headers={"content-type": ["application/json"]}), "unsigned"),
    ]:
        found = await FORM.verify(changed, KEYS)
        assert isinstance(found, UnverifiedCallback)
        assert found.code == code


def test_what_became_of_a_message() -> None:
    """The words of a failure without anybody's number; a time that means nothing is left out."""
    common = {"message_token": 5741311803571721087, "timestamp": 1763208000123, "user_id": "01234567890A="}
    readings = [
        FORM.read(told({**common, "event": "delivered"}), KEYS),
        FORM.read(told({**common, "event": "seen", "message_token": "5741311803571721087"}), KEYS),
        FORM.read(told({**common, "event": "failed", "desc": "no device of +93701234567"}), KEYS),
        FORM.read(told({**common, "event": "delivered", "timestamp": 4977069964384421269}), KEYS),
    ]

    events = [event for reading in readings for event in reading.events]
    assert {event.vendor_message_id for event in events} == {"5741311803571721087"}
    assert [(event.word, event.status, event.discriminator) for event in events] == [
        ("delivered", "delivered", "1763208000123"),
        ("seen", "delivered_read", "1763208000123"),
        ("failed", "failed_perm", "1763208000123"),
        ("delivered", "delivered", "4977069964384421269"),
    ]
    assert events[0].occurred_at == datetime(2025, 11, 15, 12, 0, 0, 123000, tzinfo=UTC)
    assert events[3].occurred_at is None
    assert events[2].details is not None
    assert events[2].details.reason == "no device of ***"


@pytest.mark.parametrize(
    ("message", "kind", "text"),
    [
        ({"type": "text", "text": "STOP"}, "text", "STOP"),
        ({"type": "picture", "media": "https://x.example", "text": "look"}, "picture", "look"),
        ({"type": "location", "location": {"lat": 1.0, "lon": 2.0}}, "location", ""),
    ],
)
def test_what_somebody_writes(message: dict[str, Any], kind: str, text: str) -> None:
    """It arrives under the bot's id, which an accepted message names as its sender."""
    sender = {"id": "01234567890A=", "name": "John McClane"}
    value = {"event": "message", "timestamp": 1763208000123, "message_token": 18, "sender": sender}

    (one,) = FORM.read(told({**value, "message": message}), KEYS).inbound

    assert (one.vendor_message_id, one.channel, one.sender, one.to) == ("18", "viber", "01234567890A=", BOT)
    assert (one.kind, one.text, one.sender_name, one.answers) == (kind, text, "John McClane", None)


def test_who_subscribes_can_be_reached() -> None:
    """Taken as something they wrote, without words: so it finds the person, and their profile learns the id."""
    value = {
        "event": "subscribed",
        "timestamp": 1763208000123,
        "message_token": 19,
        "user": {"id": "01234567890A=", "name": "John McClane", "language": "en", "api_version": 1},
    }

    (one,) = FORM.read(told(value), KEYS).inbound

    assert (one.vendor_message_id, one.channel, one.sender, one.to) == ("19", "viber", "01234567890A=", BOT)
    assert (one.kind, one.text, one.sender_name) == ("subscribed", "", "John McClane")


@pytest.mark.parametrize("event", ["webhook", "unsubscribed", "conversation_started", "client_status", "new"])
def test_what_is_about_no_message_is_left_aside(event: str) -> None:
    """And answered with nothing: to somebody who opens the chat an answer would be a message."""
    value = {"event": event, "timestamp": 1457764197627, "message_token": 1, "user": {"id": "x"}}

    assert FORM.read(told(value), KEYS) == ParsedCallback()
    assert FORM.reply is not None
    assert (FORM.reply.status, FORM.reply.body) == (200, b"")


def test_what_names_nothing_is_refused() -> None:
    with pytest.raises(InvalidError, match="message_token"):
        FORM.read(told({"event": "delivered", "timestamp": 1}), KEYS)
    with pytest.raises(InvalidError, match="user"):
        FORM.read(told({"event": "subscribed", "message_token": 1}), KEYS)
    with pytest.raises(InvalidError, match="sender"):
        FORM.read(told({"event": "message", "message_token": 1, "message": {"type": "text"}}), KEYS)
    with pytest.raises(MalformedBodyError):
        FORM.read(told(b"event=delivered"), KEYS)
