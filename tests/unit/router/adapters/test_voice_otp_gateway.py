"""What a voice gateway is asked, letter by letter, and what is made of its answers and its callbacks."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from tests.support.played_http import PlayedHttp, answer, played_http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Details, RawCallback, VendorCost
from tidings.contracts.messages import Accepted, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.kernel.refusals import InvalidError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.voice_otp_gateway.adapter import KIND, VoiceOtpSettings, code_in
from tidings.router.adapters.voice_otp_gateway.callbacks import VoiceOtpForm

CALL = replace(MESSAGE, channel="voice", to="+93700123456", html=None, subject=None)
TAKEN = answer("202 Accepted", b'{"id": "call-17", "status": "queued"}')
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def asked(*parts: bytes, **more: Any) -> AsyncIterator[tuple[Any, PlayedHttp]]:
    async with played_http(*parts) as played:
        given = {"api_url": f"http://127.0.0.1:{played.port}/v1/", "api_token": "t0ken", **more}
        adapter = KIND.adapter(msgspec.convert(given, VoiceOtpSettings), AdapterContext(clock=SystemClock()))
        try:
            yield adapter, played
        finally:
            await adapter.close()


async def test_a_call_as_the_contract_has_it() -> None:
    """The text, and the code where it is clear which."""
    async with asked(TAKEN, language="fa-AF", repeat=3, caller="+93200000000") as (adapter, played):
        (outcome,) = await adapter.send([replace(CALL, text="کد شما ۴۸۲۹۱۰ است")])

    [(head, body)] = played.heard
    assert head.startswith("POST /v1/calls HTTP/1.1\r\n")
    assert "Authorization: Bearer t0ken" in head
    assert json.loads(body) == {
        "reference": CALL.message_id,
        "to": "+93700123456",
        "from": "+93200000000",
        "text": "کد شما ۴۸۲۹۱۰ است",
        "code": "482910",
        "language": "fa-AF",
        "repeat": 3,
    }
    assert outcome == Accepted(provider_message_id="call-17")


async def test_a_call_speaks_the_language_of_its_text() -> None:
    """The account's is for texts whose language nobody knows."""
    async with asked(TAKEN, language="en") as (adapter, played):
        await adapter.send([replace(CALL, language="ps-AF")])
        await adapter.send([CALL])

    assert [json.loads(body)["language"] for _, body in played.heard] == ["ps-AF", "en"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Your code is 482910.", "482910"),
        ("482910", "482910"),
        ("Code: 0042, good for 5 minutes", "0042"),
        ("482910 or 482911", None),
        ("call +93700123456", None),
        ("It costs 1000.50", None),
        ("on 2026-11-15", None),
        ("room 12", None),
        ("A482910", None),
    ],
)
def test_a_code_is_sent_where_it_is_clear(text: str, code: str | None) -> None:
    """One number of 4 to 10 digits, and no other."""
    assert code_in(text) == code


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        ("422 Invalid", "invalid_number", Refused),
        ("400 Bad", "unsupported_language", Refused),
        ("422 Invalid", "insufficient_credit", TryLater),
        ("401 No", "unauthorised", TryLater),
        ("402 Pay", "insufficient_credit", TryLater),
        ("403 No", "forbidden", TryLater),
        ("429 Slow", "rate_limited", TryLater),
        ("500 Oops", "internal", Unlearned),
        ("200 OK", "", Unlearned),
    ],
)
async def test_what_the_answers_mean(status: str, error: str, kind: type[Outcome]) -> None:
    """Trouble of the account is no trouble of the message; a success without an id is none."""
    said = json.dumps({"error": {"code": error, "message": "+93700123456 is no good"}}).encode()
    async with asked(answer(status, said)) as (adapter, _):
        (outcome,) = await adapter.send([CALL])

    assert isinstance(outcome, kind)
    if isinstance(outcome, Refused | TryLater):
        assert outcome.code == error
        assert "93700123456" not in outcome.reason


async def test_the_account_is_checked() -> None:
    """With the token."""
    async with asked(answer("200 OK", b'{"status": "active"}')) as (adapter, played):
        assert await adapter.check() == Accepted()

    assert played.heard[0][0].startswith("GET /v1/account ")


async def test_receipts_come_where_there_is_a_secret() -> None:
    """A repeat is always known by its reference."""
    async with asked(TAKEN) as (deaf, _), asked(TAKEN, callback_secret="whsec_c2VjcmV0") as (hears, _):
        assert (deaf.capabilities.receipts, hears.capabilities.receipts) == (False, True)
        assert deaf.capabilities.idempotent


def read(**event: Any) -> Any:
    body = json.dumps({"events": [{"id": "ev-1", "call_id": "call-17", **event}]}).encode()
    request = RawCallback(headers={}, body=body, received_at=NOW)
    (found,) = VoiceOtpForm().read(request, {}).events
    return found


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("queued", "accepted"),
        ("ringing", "sent"),
        ("answered", "delivered"),
        ("completed", "delivered"),
        ("no_answer", "failed_temp"),
        ("busy", "failed_temp"),
        ("failed", "failed_perm"),
        ("melted", "unknown"),
    ],
)
def test_what_became_of_a_call(word: str, status: str) -> None:
    """The contract's words in ours."""
    event = read(status=word)

    assert (event.vendor_message_id, event.word, event.status, event.discriminator) == (
        "call-17",
        word,
        status,
        "ev-1",
    )


def test_how_long_it_was_and_what_it_cost() -> None:
    """The real price; a time of next week is none."""
    event = read(
        status="completed",
        duration_seconds=21.5,
        cost={"micros": 50_000, "currency": "USD"},
        occurred_at="2026-11-22T12:00:00Z",
    )

    assert event.details == Details(reason="lasted 21.5 s", cost=VendorCost(micros=50_000, currency="USD"))
    assert event.occurred_at is None


@pytest.mark.parametrize("bad", [{"status": ""}, {"status": "busy", "duration_seconds": -1}, {"id": ""}])
def test_what_is_not_of_the_contract_is_refused(bad: dict[str, Any]) -> None:
    """By name."""
    with pytest.raises(InvalidError):
        read(**{"status": "busy", **bad})
