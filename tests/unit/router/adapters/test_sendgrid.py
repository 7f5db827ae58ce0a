"""SendGrid: what goes over the wire, what its answers mean, whose events are believed."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.support.played_http import answer
from tests.unit.router.adapters.mails import FULL, FURTHER, NOW, answered, called, head_of, made, playing
from tidings.contracts.callback_forms import UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.sendgrid.adapter import KIND
from tidings.router.adapters.sendgrid.callbacks import SendgridForm

SETTINGS = {"api_key": "SG.hunter2"}
TAKEN = answer("202 Accepted", headers="X-Message-Id: m-1\r\n")


async def test_the_request() -> None:
    """All of a mail in SendGrid's words, and its tracking off."""
    async with playing(KIND, SETTINGS, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([FULL])

    assert list(outcomes) == [Accepted(provider_message_id="m-1")]
    line, headers = head_of(vendor.heard[0])
    assert line == "POST /v3/mail/send HTTP/1.1"
    assert headers["authorization"] == "Bearer SG.hunter2"
    assert headers["content-type"] == "application/json"
    assert json.loads(vendor.heard[0][1]) == {
        "personalizations": [
            {
                "to": [{"email": "laila.unmistakable@example.test", "name": "لیلا"}],
                "custom_args": {"tidings_id": FULL.message_id},
            }
        ],
        "from": {"email": "orders@shop.example", "name": 'Green "Tea", Shop'},
        "reply_to": {"email": "help@shop.example", "name": "Help"},
        "subject": "Your most private order",
        "content": [
            {"type": "text/plain", "value": "The secret of the tea"},
            {"type": "text/html", "value": FULL.html},
        ],
        "headers": dict(FURTHER),
        "attachments": [
            {
                "content": "iVBORw==",
                "type": "image/png",
                "filename": "leaf.png",
                "disposition": "inline",
                "content_id": "leaf@tidings",
            },
            {
                "content": "JVBERg==",
                "type": "application/pdf",
                "filename": "bill.pdf",
                "disposition": "attachment",
            },
        ],
        "tracking_settings": {
            "click_tracking": {"enable": False, "enable_text": False},
            "open_tracking": {"enable": False},
            "subscription_tracking": {"enable": False},
        },
    }


async def test_a_header_that_would_be_lost_is_refused() -> None:
    """SendGrid takes each name once, and orders from nobody but the account."""
    twice = replace(FULL, headers=(("X-A", "1"), ("x-a", "2")))
    order = replace(FULL, headers=(("X-SMTPAPI", "{}"),))
    async with playing(KIND, {**SETTINGS, "vendor_tracking": True}, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([twice, order, FULL])

    assert [getattr(one, "code", None) for one in outcomes] == ["bad_message", "bad_message", None]
    assert len(vendor.heard) == 1
    assert "tracking_settings" not in json.loads(vendor.heard[0][1])


def _error(words: str, field: str | None = None) -> bytes:
    return json.dumps({"errors": [{"message": words, "field": field, "help": None}]}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        ("400 Bad Request", _error("bad", "from.email"), Refused, "from.email"),
        ("400 Bad Request", _error("bad"), Refused, "400"),
        ("401 Unauthorized", _error("Maximum credits exceeded"), TryLater, "401"),
        ("403 Forbidden", _error("no verified Sender Identity", "from"), TryLater, "from"),
        ("413 Payload Too Large", b"", Refused, "413"),
        ("406 Not Acceptable", _error("Missing Accept header"), TryLater, "406"),
        ("451 Unavailable", _error("data residency"), TryLater, "451"),
        ("500 Internal Server Error", b"", Unlearned, None),
        ("502 Bad Gateway", b"", Unlearned, None),
        # Its sandbox mode: nothing is sent.
        ("200 OK", b"", Unlearned, None),
    ],
)
async def test_answers(status: str, body: bytes, kind: type[Any], code: str | None) -> None:
    """Money and credentials are no fault of the message; a yes without an id is none."""
    outcome = await answered(KIND, SETTINGS, answer(status, body))

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code


async def test_its_own_way_to_say_how_long() -> None:
    """Seconds since 1970 in place of Retry-After."""
    reset = int(NOW.timestamp()) + 42
    outcome = await answered(
        KIND, SETTINGS, answer("429 Too Many Requests", headers=f"X-RateLimit-Reset: {reset}\r\n")
    )

    assert isinstance(outcome, TryLater)
    assert outcome.after == timedelta(seconds=42)


async def test_a_check_asks_what_the_key_may_do() -> None:
    """And sends nothing."""
    async with playing(KIND, SETTINGS, answer("200 OK", b'{"scopes": []}')) as (adapter, vendor):
        assert await adapter.check() == Accepted()

    assert head_of(vendor.heard[0])[0] == "GET /v3/scopes HTTP/1.1"


def test_a_key_that_is_none_is_refused_at_once() -> None:
    """And not when the first event comes."""
    with pytest.raises(BadValueError, match="webhook_public_key"):
        made(KIND, {**SETTINGS, "webhook_public_key": "bm8ga2V5"})


# --- events

#: test/unit/test_eventwebhook.py of sendgrid-python.
KEY = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpV"
    "KS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="
)
OTHER_KEY = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEqTxd43gyp8IOEto2LdIfjRQrIbsd4SXZkLW6jDutdhXS"
    "JCWHw8REntlo7aNDthvj+y7GjUuFDb/R1NGe1OPzpA=="
)
SIGNATURE = "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="
BODY = (
    b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
    b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
    b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
    b'"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n'
)
SIGNED_AT = datetime(2020, 9, 14, 19, 41, 42, tzinfo=UTC)
FORM = SendgridForm()


def _call(body: bytes = BODY, *, after: float = 0, **headers: str) -> Any:
    proof = {
        "x_twilio_email_event_webhook_signature": SIGNATURE,
        "x_twilio_email_event_webhook_timestamp": "1600112502",
        **headers,
    }
    return called(body, at=SIGNED_AT + timedelta(seconds=after), **proof)


@pytest.mark.parametrize("keys", [KEY, f"{OTHER_KEY} {KEY}"])
async def test_the_documented_example_verifies(keys: str) -> None:
    """With the key alone, and with a second one while it takes its place; also where SendGrid tries it again for a day."""
    for after in (-299, 299, 24 * 3600):
        assert await FORM.verify(_call(after=after), {"public_key": keys}) == VerifiedCallback()


@pytest.mark.parametrize(
    ("request_", "key", "code"),
    [
        (_call(), OTHER_KEY, "mismatch"),
        (_call(BODY.strip()), KEY, "mismatch"),
        (_call(BODY.replace(b"dropped", b"clicked")), KEY, "mismatch"),
        (_call(x_twilio_email_event_webhook_timestamp="1600112503"), KEY, "mismatch"),
        (_call(after=25 * 3600 + 1), KEY, "stale"),
        (_call(after=-301), KEY, "stale"),
        (_call(x_twilio_email_event_webhook_signature="no base64"), KEY, "malformed"),
        (_call(x_twilio_email_event_webhook_timestamp="yesterday"), KEY, "malformed"),
        (called(BODY, at=SIGNED_AT), KEY, "unsigned"),
    ],
)
async def test_others_are_refused(request_: Any, key: str, code: str) -> None:
    """Each with the word for it."""
    found = await FORM.verify(request_, {"public_key": key})

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code


@pytest.mark.parametrize(
    ("event", "message_id", "status", "details"),
    [
        # As accounts got them. The id of the message is not in this one's sg_message_id.
        (
            {
                "event": "dropped",
                "reason": "Invalid",
                "sg_message_id": "filter0093p1las1.9128.5717FB8127.0",
                "smtp-id": "<wrfRRvF7Q0GgwUo2CvDmEA@ismtpd0006p1sjc2.sendgrid.net>",
            },
            "wrfRRvF7Q0GgwUo2CvDmEA",
            "failed_perm",
            ("invalid", "Invalid", "invalid_address"),
        ),
        (
            {
                "event": "bounce",
                "type": "blocked",
                "reason": "unable to get mx info",
                "sg_message_id": "euo2iKxdSayPF4YE4--I7A.recvd-5f54b5d587-pczjm-1-67BADEEA-6.0",
                "smtp-id": "<870b3a2a-160c-4fc8-bc9a-bd0d5b943b81@forum.example>",
            },
            "euo2iKxdSayPF4YE4--I7A",
            "failed_perm",
            ("blocked", "unable to get mx info", None),
        ),
        (
            {
                "event": "bounce",
                "type": "bounce",
                "status": "5.0.0",
                "reason": "500 unknown recipient laila@example.test",
                "sg_message_id": "14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0",
                "smtp-id": "<14c5d75ce93.dfd.64b469@ismtpd-555>",
            },
            "14c5d75ce93.dfd.64b469",
            "bounced",
            ("bounce", "5.0.0: 500 unknown recipient ***", "hard_bounce"),
        ),
        (
            {"event": "group_resubscribe", "sg_message_id": "a.recvd-1.0"},
            "a",
            "unknown",
            None,
        ),
    ],
)
def test_events_find_their_message(
    event: dict[str, Any], message_id: str, status: str, details: tuple[str, str, str] | None
) -> None:
    """By the id of the answer, wherever SendGrid writes it; an address in a reason is not kept."""
    body = json.dumps([{"sg_event_id": "e", "timestamp": 1, "email": "a@b.example", **event}]).encode()

    (read,) = FORM.read(called(body), {}).events

    assert (read.vendor_message_id, read.status) == (message_id, status)
    found = read.details
    assert (None if found is None else (found.code, found.reason, found.effect)) == details


def test_a_zero_character_costs_no_other_event() -> None:
    """A stranger's mail server writes the reason of its bounce."""
    events = [
        {
            "event": "bounce",
            "type": "bounce",
            "reason": "no\0body",
            "sg_message_id": "a.recvd-1.0",
            "timestamp": 1,
        },
        {"event": "delivered", "sg_message_id": "b.recvd-1.0", "timestamp": 1},
    ]

    read = FORM.read(called(json.dumps(events).encode()), {}).events

    assert [one.vendor_message_id for one in read] == ["a", "b"]
    assert read[0].details is not None
    assert read[0].details.reason == "nobody"


def test_what_is_about_no_message_is_left_aside() -> None:
    """Changes of the account are told in the same way; a time of next year is none."""
    body = json.dumps(
        [
            {"event": "account_status_change", "type": "compliance_suspend", "timestamp": 1},
            {"event": "delivered", "sg_message_id": "a.recvd-1.0", "timestamp": 1826712000},
        ]
    ).encode()

    (read,) = FORM.read(called(body), {}).events

    assert (read.word, read.occurred_at, read.discriminator) == ("delivered", None, "1826712000.0")
