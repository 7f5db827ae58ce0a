"""What Vonage is asked, letter by letter, and what is made of its answers and its webhooks."""

import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from tests.support.clock import ManualClock
from tests.support.played_http import PlayedHttp, answer, played_http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import (
    ParsedCallback,
    RawCallback,
    UnverifiedCallback,
    VendorCost,
    VerifiedCallback,
)
from tidings.contracts.messages import Accepted, Address, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.vonage.adapter import KIND, VonageSettings
from tidings.router.adapters.vonage.callbacks import VonageForm, claims_of, token_fits

APPLICATION = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab"
BASIC: dict[str, Any] = {"api_key": "a1b2c3d4", "api_secret": "s3cret"}
SMS = replace(
    MESSAGE, channel="sms", to="+93700123456", sender=Address(value="+447700900001"), html=None, subject=None
)
TAKEN = answer("202 Accepted", b'{"message_uuid": "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab"}')
NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
#: The sample of Vonage's documentation; its Ruby library verifies it with this secret.
SAMPLE = (
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmRmLTNmYmU4Y2U1MTFi"
    "NSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6ImQ2YzBlNzRiNTg1N2RmMjBlM2I3ZTUxYjMwYzBjMmE0MGVjNzNhNzc4NzliNmYwNzRkZGM3"
    "YTIzMTdkZDAzMWIiLCJhcGlfa2V5IjoiYTFiMmMzZCIsImFwcGxpY2F0aW9uX2lkIjoiYWFhYWFhYWEtYmJiYi1jY2NjLWRkZGQtMDEyMzQ1Njc4OWFi"
    "In0.JQRKi1d0SQitmjPINfTWMpt3XZkGsLbD7EjCdXoNSbk"
)
SECRET = "ZYtdTtGV3BCFN7tWmOWr1md66XsquMggr4W2cTtXtcPgfnI0Xw"


@cache
def private_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


@asynccontextmanager
async def asked(
    *parts: bytes, clock: ManualClock | None = None, **more: Any
) -> AsyncIterator[tuple[Any, PlayedHttp]]:
    async with played_http(*parts) as played:
        given = {"api_url": f"http://127.0.0.1:{played.port}", **more}
        around = AdapterContext(clock=clock or ManualClock(NOW))
        adapter = KIND.adapter(msgspec.convert(given, VonageSettings), around)
        try:
            yield adapter, played
        finally:
            await adapter.close()


async def test_a_text_as_vonage_wants_it() -> None:
    """Numbers without a plus; the answer's id is the message's."""
    async with asked(TAKEN, webhook_url="https://h.example/x", **BASIC) as (adapter, played):
        (outcome,) = await adapter.send([replace(SMS, text="سلام")])

    [(head, body)] = played.heard
    assert head.startswith("POST /v1/messages HTTP/1.1\r\n")
    # a1b2c3d4:s3cret
    assert "Authorization: Basic YTFiMmMzZDQ6czNjcmV0" in head
    assert json.loads(body) == {
        "message_type": "text",
        "channel": "sms",
        "to": "93700123456",
        "from": "447700900001",
        "text": "سلام",
        "client_ref": SMS.message_id,
        "webhook_url": "https://h.example/x",
        "webhook_version": "v1",
    }
    assert outcome == Accepted(
        provider_message_id="aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab", sender="+447700900001"
    )


async def test_an_application_signs_in_with_its_key() -> None:
    """One JWT for some minutes, then another."""
    clock = ManualClock(NOW)
    async with asked(TAKEN, clock=clock, application_id=APPLICATION, private_key=private_key()) as (
        adapter,
        played,
    ):
        for minutes in (0, 1, 10):
            await clock.advance(timedelta(minutes=minutes))
            await adapter.send([SMS])
        assert await adapter.check() is None

    tokens = [head.partition("Authorization: Bearer ")[2].partition("\r\n")[0] for head, _ in played.heard]
    claims = [
        jwt.decode(token, RSAKey.import_key(private_key()), algorithms=["RS256"]).claims for token in tokens
    ]
    assert tokens[0] == tokens[1] != tokens[2]
    assert claims[0]["application_id"] == APPLICATION
    assert (claims[0]["iat"], claims[0]["exp"]) == (int(NOW.timestamp()), int(NOW.timestamp()) + 900)
    assert claims[2]["iat"] - claims[0]["iat"] == 660


@pytest.mark.parametrize(
    ("sender", "answerable"), [("Green Shop", None), ("447700900001", "+447700900001"), ("8080", "8080")]
)
async def test_names_cant_be_answered(sender: str, answerable: str | None) -> None:
    """Numbers are named as inbound messages name them."""
    async with asked(TAKEN, **BASIC) as (adapter, _):
        (outcome,) = await adapter.send([replace(SMS, sender=Address(value=sender))])

    assert isinstance(outcome, Accepted)
    assert outcome.sender == answerable


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (
            "422 Invalid",
            b'{"type": "https://x/api-errors/messages#1150", "title": "Invalid params"}',
            Refused,
            "1150",
        ),
        (
            "422 Invalid",
            b'{"type": "https://x/api-errors/messages#1070", "title": "quota"}',
            TryLater,
            "1070",
        ),
        ("401 No", b'{"type": "https://x/api-errors#unauthorized"}', TryLater, "unauthorized"),
        # messages/tests/data/low_balance_error.json of Vonage/vonage-python-sdk
        (
            "402 Pay",
            b'{"type": "https://developer.nexmo.com/api-errors/#low-balance"}',
            TryLater,
            "low-balance",
        ),
        ("403 No", b'{"type": "https://x/api-errors#account-suspended"}', TryLater, "account-suspended"),
        ("429 Slow", b'{"title": 1000}', TryLater, "1000"),
        ("500 Oops", b"{}", Unlearned, None),
        ("202 Accepted", b"{}", Unlearned, None),
    ],
)
async def test_what_the_answers_mean(status: str, body: bytes, kind: type[Outcome], code: str | None) -> None:
    """Money, credentials and pace are no trouble of the message."""
    async with asked(answer(status, body), **BASIC) as (adapter, _):
        (outcome,) = await adapter.send([SMS])

    assert isinstance(outcome, kind)
    assert getattr(outcome, "code", None) == code


async def test_a_person_who_wrote_stop_has_refused() -> None:
    """That no is theirs."""
    said = b'{"type": "https://x/api-errors/messages#1240", "title": "Illegal Number"}'
    async with asked(answer("422 Invalid", said), **BASIC) as (adapter, _):
        (outcome,) = await adapter.send([SMS])

    assert isinstance(outcome, Refused)
    assert outcome.status == "rejected_by_recipient"


async def test_the_api_key_is_checked() -> None:
    """Where there is one."""
    async with asked(answer("401 No", b"{}"), **BASIC) as (adapter, played):
        assert isinstance(await adapter.check(), Refused)

    assert played.heard[0][0].startswith("GET /v2/applications?page_size=1 ")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({}, "application_id"),
        ({"application_id": APPLICATION}, "private_key"),
        ({"api_key": "a1b2c3d4"}, "api_secret"),
        ({"application_id": APPLICATION, "private_key": "hunter2"}, "private_key"),
    ],
)
def test_half_of_the_credentials_is_none(given: dict[str, Any], field: str) -> None:
    """The account says what is missing, and not what it holds."""
    with pytest.raises(BadValueError) as refused:
        KIND.adapter(msgspec.convert(given, VonageSettings), AdapterContext(clock=ManualClock(NOW)))

    assert refused.value.field == field
    assert "hunter2" not in str(refused.value)


# --- webhooks


def called(body: bytes, token: str = SAMPLE) -> RawCallback:
    headers = {"content-type": ["application/json"], "authorization": [f"Bearer {token}"]}
    return RawCallback(headers=headers, body=body, received_at=datetime.fromtimestamp(1587494962, UTC))


def read(**told: Any) -> ParsedCallback:
    body = json.dumps({"message_uuid": "u-1", "channel": "sms", **told}).encode()
    return VonageForm().read(called(body), {})


def test_vonages_own_sample_fits() -> None:
    """And no other secret fits it."""
    claims = claims_of(SAMPLE)

    assert token_fits(SAMPLE, SECRET)
    assert not token_fits(SAMPLE, SECRET[:-1] + "0")
    assert claims is not None
    assert (claims.iat, claims.application_id) == (1587494962, APPLICATION)
    assert claims.payload_hash == "d6c0e74b5857df20e3b7e51b30c0c2a40ec73a77879b6f074ddc7a2317dd031b"


@pytest.mark.parametrize(
    ("token", "keys", "code"),
    [
        # It is signed, and for another body.
        (SAMPLE, {"secret": SECRET}, "mismatch"),
        (SAMPLE, {"secret": f"old {SECRET}", "application": "another"}, "mismatch"),
        # {"alg": "none"}
        ("eyJhbGciOiJub25lIn0." + SAMPLE.split(".")[1] + ".", {"secret": SECRET}, "malformed"),
        ("no.jwt", {"secret": SECRET}, "malformed"),
        ("", {"secret": SECRET}, "unsigned"),
    ],
)
async def test_what_does_not_fit_is_refused(token: str, keys: dict[str, str], code: str) -> None:
    """In words that say which."""
    found = await VonageForm().verify(called(b"{}", token), keys)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code


@pytest.mark.parametrize(
    ("after", "fits"),
    [(-301, False), (-299, True), (0, True), (24 * 3600, True), (25 * 3600 + 1, False)],
)
async def test_a_webhook_is_good_for_as_long_as_vonage_tries_it_again(after: int, fits: bool) -> None:
    body = b'{"message_uuid": "u-1", "status": "delivered"}'
    claims = {"iat": 1587494962, "payload_hash": hashlib.sha256(body).hexdigest()}
    request = called(body, jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET)))
    late = replace(request, received_at=request.received_at + timedelta(seconds=after))

    found = await VonageForm().verify(late, {"secret": SECRET})

    assert (found == VerifiedCallback()) is fits
    assert fits or (isinstance(found, UnverifiedCallback) and found.code == "stale")


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("submitted", "sent"),
        ("delivered", "delivered"),
        ("read", "delivered_read"),
        ("rejected", "rejected_by_provider"),
        ("undeliverable", "failed_temp"),
        ("evaporated", "unknown"),
    ],
)
def test_what_became_of_a_text(word: str, status: str) -> None:
    """Vonage's words in ours."""
    (event,) = read(status=word, timestamp="2026-11-15T12:00:00.000Z").events

    assert (event.vendor_message_id, event.word, event.status) == ("u-1", word, status)


@pytest.mark.parametrize(
    ("usage", "micros"),
    [
        ({"currency": "EUR", "price": "0.0333"}, 33_300),
        ({"currency": "EUR", "price": 0.05}, 50_000),
        ({"currency": "EUR", "price": "much"}, None),
        ({"currency": "EUR", "price": "-1"}, None),
        ({"currency": "EUR", "price": "NaN"}, None),
        ({"currency": "EUR", "price": "1e999999999"}, None),
        ({"currency": "EUR", "price": "1e-999999999"}, 0),
        ({"currency": "EUR", "price": "Infinity"}, None),
        ({"currency": "euros", "price": "1"}, None),
        ({"price": "1"}, None),
    ],
)
def test_what_it_cost(usage: dict[str, Any], micros: int | None) -> None:
    """To the millionth; nonsense is no price."""
    (event,) = read(status="delivered", usage=usage).events

    cost = event.details.cost if event.details is not None else None
    assert cost == (None if micros is None else VendorCost(micros=micros, currency="EUR"))


def test_an_error_in_an_error_has_its_code() -> None:
    """As the tests of Vonage's Kotlin library have it."""
    error = {
        "error": {"type": "https://x/api-errors/messages#1180", "title": 1180, "detail": "off: +93700123456"}
    }
    (event,) = read(status="rejected", error=error).events

    assert event.details is not None
    assert event.details.code == "1180"
    assert "93700123456" not in (event.details.reason or "")


def test_other_channels_and_half_messages_say_nothing_for_us() -> None:
    """An application can have more than texts."""
    whole = {"from": "93700123456", "to": "447700900001", "text": "hi", "message_type": "text"}

    assert len(read(**whole).inbound) == 1
    assert read(**{**whole, "text": "a\0b"}).inbound[0].text == "ab"
    assert read(**{**whole, "channel": "whatsapp"}) == ParsedCallback()
    assert read(text="hi") == ParsedCallback()
