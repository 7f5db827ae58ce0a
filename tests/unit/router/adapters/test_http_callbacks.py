"""The generic form: what is signed, and what the words mean."""

import asyncio
import base64
import hashlib
import hmac
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook

from tidings.contracts.callback_forms import (
    Details,
    RawCallback,
    ReadEvent,
    UnverifiedCallback,
    VendorCost,
    VerifiedCallback,
)
from tidings.contracts.callbacks import Callback, CallbackCost, CallbackEvent
from tidings.kernel.errors import TidingsError
from tidings.kernel.signed_webhooks.secrets import secrets_of
from tidings.kernel.signed_webhooks.signature import sign, signed_headers, signing_keys
from tidings.router.adapters.http.callbacks import GenericForm

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
FORM = GenericForm()


def verify(request: RawCallback, secret: str = SECRET) -> VerifiedCallback | UnverifiedCallback:
    """What the form says to it."""
    return asyncio.run(FORM.verify(request, {"secret": secret}))


def read(body: bytes) -> Sequence[ReadEvent]:
    """The events of a body."""
    return FORM.read(RawCallback(headers={}, body=body, received_at=NOW), {}).events


def raw(
    body: bytes = b"{}", *, secret: str = SECRET, webhook_id: str = "msg_1", **headers: str
) -> RawCallback:
    """A request that was signed now."""
    signed = signed_headers(secret, webhook_id=webhook_id, timestamp=int(NOW.timestamp()), body=body)
    given = {
        "content-type": "application/json",
        **signed,
        **{k.replace("_", "-"): v for k, v in headers.items()},
    }
    return RawCallback(headers={name: [value] for name, value in given.items()}, body=body, received_at=NOW)


def test_the_signature_of_the_standard() -> None:
    """The example of the Standard Webhooks libraries."""
    body = b'{"test": 2432232314}'

    signature = sign(SECRET, webhook_id="msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp=1614265330, body=body)

    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_plain_secret_signs_as_it_is() -> None:
    expected = hmac.new(b"plain-secret", b"w.1.body", hashlib.sha256).digest()

    assert sign("plain-secret", webhook_id="w", timestamp=1, body=b"body") == (
        "v1," + base64.b64encode(expected).decode()
    )
    assert signing_keys("plain-secret") == (b"plain-secret",)


_BYTES = bytes(range(25))
_ENCODED = base64.b64encode(_BYTES).decode()


@pytest.mark.parametrize(
    "secret",
    [
        f"whsec_{_ENCODED}",
        f"whsec_{_ENCODED.rstrip('=')}",
        f"whsec_{base64.b64encode(_BYTES[:24]).decode()}",
        _ENCODED,
        _ENCODED.rstrip("="),
        base64.b64encode(_BYTES[:24]).decode(),
        # Hexadecimal digits are base64 to the libraries.
        _BYTES.hex(),
    ],
)
def test_the_reference_library_verifies_what_we_sign_and_signs_what_we_verify(secret: str) -> None:
    """Every form of a secret that it takes: `standardwebhooks`, written by others."""
    theirs, body, now = Webhook(secret), b'{"events":[]}', datetime.now(UTC)
    ours = signed_headers(secret, webhook_id="msg_1", timestamp=int(now.timestamp()), body=body)
    signed = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": theirs.sign("msg_1", now, body.decode()),
        "content-type": "application/json",
    }
    request = RawCallback(
        headers={name: [value] for name, value in signed.items()}, body=body, received_at=now
    )

    assert theirs.verify(body, ours) == {"events": []}
    assert isinstance(verify(request, secret), VerifiedCallback)


def test_a_bare_secret_is_read_as_text_too() -> None:
    """Whoever signs with the letters themselves goes on being heard, and verifies what we sign."""
    text = hmac.digest(_ENCODED.encode(), b"w.1.body", "sha256")

    signatures = sign(_ENCODED, webhook_id="w", timestamp=1, body=b"body").split()

    assert signatures[1:] == ["v1," + base64.b64encode(text).decode()]


_LONG = ("the-old-secret-01", "the-new-secret-02")


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("one", ("one",)),
        ("whsec_a whsec_b", ("whsec_a", "whsec_b")),
        (" ".join(_LONG), _LONG),
        ("short\nand with blanks", ("short", "and with blanks")),
        ("windows\r\nlines\n", ("windows", "lines")),
        ("", ()),
        (" \n ", ()),
        # Of a passphrase no single word lets anybody in.
        ("correct horse battery", ("correct horse battery",)),
        ("the-old-secret-01 short", ("the-old-secret-01 short",)),
        ("a\nb\nc\nd\ne", ("a", "b", "c", "d")),
    ],
)
def test_which_secrets_a_text_holds(text: str, secrets: tuple[str, ...]) -> None:
    assert secrets_of(text) == secrets


def test_a_word_of_a_passphrase_opens_nothing() -> None:
    found = verify(raw(secret="horse"), "correct horse battery")

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"


@given(body=st.binary(max_size=200), at=st.integers(min_value=0), bit=st.integers(min_value=0, max_value=7))
def test_no_bit_of_the_body_can_be_changed(body: bytes, at: int, bit: int) -> None:
    request = raw(body or b"x")
    place = at % len(request.body)
    changed = bytearray(request.body)
    changed[place] ^= 1 << bit

    assert isinstance(verify(request), VerifiedCallback)
    forged = RawCallback(headers=request.headers, body=bytes(changed), received_at=NOW)
    assert verify(forged) == verify(raw(b"other", secret="no"))


def test_an_id_with_a_dot_is_refused() -> None:
    """`a.1` at 2 and `a` at 1 would be one signature."""
    found = verify(raw(webhook_id="a.1"))

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "malformed"


@pytest.mark.parametrize("timestamp", ["", "-1", "1e9", "1.5", "１２", "9" * 12, "soon"])
def test_a_time_that_is_none(timestamp: str) -> None:
    found = verify(raw(webhook_timestamp=timestamp))

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "malformed"


@pytest.mark.parametrize(
    "signature", ["", "v1", "v1,", "v1,é", "v2,AAAA", "v1," + "A" * 10_000, " ".join(["v1,A"] * 50)]
)
def test_signatures_that_are_none(signature: str) -> None:
    found = verify(raw(webhook_signature=signature))

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"


def test_an_empty_secret_lets_nobody_in() -> None:
    request = raw(secret="")

    assert isinstance(verify(request, ""), UnverifiedCallback)
    assert isinstance(verify(request, "   "), UnverifiedCallback)


def test_an_event_as_it_is_read() -> None:
    at = NOW - timedelta(seconds=3)
    body = msgspec.json.encode(
        Callback(
            events=[
                CallbackEvent(
                    id="e-1",
                    message_id="m" * 300,
                    status="Rejected",
                    occurred_at=at.astimezone(),
                    code=" 30003 ",
                    reason="the number +1 500 555 0199\nis off",
                    cost=CallbackCost(micros=1, currency="USD"),
                )
            ]
        )
    )

    [event] = read(body)

    assert (event.status, event.word) == ("rejected_by_recipient", "rejected")
    assert event.vendor_message_id == "m" * 200
    assert event.occurred_at == at
    assert event.discriminator == "2026-11-15T11:59:57+00:00"
    assert event.details == Details(
        code="30003", reason="the number *** is off", cost=VendorCost(micros=1, currency="USD")
    )


def test_without_a_time_the_events_id_tells_it_apart() -> None:
    long = "x" * 500

    first, second, third = read(
        msgspec.json.encode(
            {
                "events": [
                    {"id": "e-1", "message_id": "m", "status": "sent"},
                    {"id": long, "message_id": "m", "status": "sent"},
                    {"id": long + "y", "message_id": "m", "status": "sent"},
                ]
            }
        )
    )

    assert first.discriminator == "e-1"
    assert first.details is None
    assert len(second.discriminator) < 200
    assert second.discriminator != third.discriminator


@pytest.mark.parametrize(
    ("occurred_at", "kept"),
    [
        ("2026-11-16T11:00:00Z", True),
        ("2026-11-17T12:00:01Z", False),
        ("0001-01-01T00:00:00+14:00", False),
        ("9999-12-31T23:59:59-14:00", False),
        ("1970-01-01T00:00:00Z", True),
    ],
)
def test_times_that_mean_nothing_are_left_out(occurred_at: str, kept: bool) -> None:
    body = msgspec.json.encode(
        {"events": [{"id": "e", "message_id": "m", "status": "sent", "occurred_at": occurred_at}]}
    )

    [event] = read(body)

    assert (event.occurred_at is not None) == kept


@pytest.mark.parametrize("code", ["laila@example.test", "+15005550199", "two words", "", "x" * 65])
def test_a_code_that_is_none_is_left_out(code: str) -> None:
    body = msgspec.json.encode(
        {"events": [{"id": "e", "message_id": "m", "status": "failed", "code": code, "reason": "no"}]}
    )

    [event] = read(body)

    assert event.details == Details(reason="no")


def test_fields_that_nobody_knows_are_left_aside() -> None:
    body = msgspec.json.encode(
        {"events": [{"id": "e", "message_id": "m", "status": "sent", "carrier": {"name": "x"}}], "batch": 7}
    )

    assert len(read(body)) == 1


@given(st.binary(max_size=300))
def test_nothing_makes_the_reader_fall(body: bytes) -> None:
    """Whatever comes is read or refused in words."""
    with suppress(TidingsError):
        read(body)
