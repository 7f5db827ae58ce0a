"""Postmark: what goes over the wire, what its answers mean, whose records are believed."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from tests.support.played_http import answer
from tests.support.vendors import MESSAGE
from tests.unit.router.adapters.mails import FULL, FURTHER, answered, called, head_of, made, playing
from tidings.contracts.callback_forms import UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.router.adapters.postmark.adapter import KIND
from tidings.router.adapters.postmark.callbacks import PostmarkForm

SETTINGS = {"server_token": "hunter2"}
TAKEN = answer("200 OK", b'{"To": "x", "MessageID": "m-1", "ErrorCode": 0, "Message": "OK"}')


async def test_the_request() -> None:
    """All of a mail in Postmark's words, and its tracking off."""
    async with playing(KIND, {**SETTINGS, "message_stream": "bulk"}, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([FULL])

    assert list(outcomes) == [Accepted(provider_message_id="m-1")]
    line, headers = head_of(vendor.heard[0])
    assert line == "POST /email HTTP/1.1"
    assert headers["x-postmark-server-token"] == "hunter2"
    assert (headers["accept"], headers["content-type"]) == ("application/json", "application/json")
    assert json.loads(vendor.heard[0][1]) == {
        "From": '"Green \\"Tea\\", Shop" <orders@shop.example>',
        "To": '"لیلا" <laila.unmistakable@example.test>',
        "ReplyTo": '"Help" <help@shop.example>',
        "Subject": "Your most private order",
        "MessageStream": "bulk",
        "TextBody": "The secret of the tea",
        "HtmlBody": FULL.html,
        "Headers": [{"Name": name, "Value": value} for name, value in FURTHER],
        "Metadata": {"tidings_id": FULL.message_id},
        "Attachments": [
            {
                "Name": "leaf.png",
                "Content": "iVBORw==",
                "ContentType": "image/png",
                "ContentID": "cid:leaf@tidings",
            },
            {"Name": "bill.pdf", "Content": "JVBERg==", "ContentType": "application/pdf"},
        ],
        "TrackOpens": False,
        "TrackLinks": "None",
    }


async def test_what_does_not_fit_is_left_out() -> None:
    """Metadata ends at 80 characters; orders come from the account alone."""
    long = replace(MESSAGE, message_id="n" * 81, to_name=None, text=None)
    order = replace(MESSAGE, headers=(("X-PM-Message-Stream", "bulk"),))
    async with playing(KIND, {**SETTINGS, "vendor_tracking": True}, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([long, order])

    assert [type(one) for one in outcomes] == [Accepted, Refused]
    body = json.loads(vendor.heard[0][1])
    assert {"Metadata", "TrackOpens", "TextBody", "ReplyTo"}.isdisjoint(body)
    assert body["To"] == "laila.unmistakable@example.test"


def _error(code: int, words: str = "words") -> bytes:
    return json.dumps({"ErrorCode": code, "Message": words}).encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        ("422 Unprocessable", _error(300, "Invalid 'To' address: 'x'."), Refused, "300:to"),
        ("422 Unprocessable", _error(300, "Error parsing 'To': Illegal email domain"), Refused, "300:to"),
        ("422 Unprocessable", _error(300, "Invalid 'From' address: 'x'."), Refused, "300"),
        ("422 Unprocessable", _error(406), Refused, "406"),
        ("422 Unprocessable", _error(411), Refused, "411"),
        ("422 Unprocessable", _error(999), Refused, "999"),
        ("422 Unprocessable", _error(405), TryLater, "405"),
        ("422 Unprocessable", _error(401), TryLater, "401"),
        ("422 Unprocessable", _error(412), TryLater, "412"),
        ("422 Unprocessable", _error(413), TryLater, "413"),
        ("401 Unauthorized", _error(10), TryLater, "10"),
        ("503 Unavailable", _error(100), TryLater, "100"),
        ("403 Forbidden", b"<html>403 Forbidden</html>", TryLater, "403"),
        ("200 OK", _error(406), Refused, "406"),
        ("200 OK", _error(999), Unlearned, None),
        ("200 OK", b"{}", Unlearned, None),
        (
            "200 OK",
            b'{"MessageID": "m", "Message": "accepted, but delivery may be delayed."}',
            Accepted,
            None,
        ),
    ],
)
async def test_answers(status: str, body: bytes, kind: type[Any], code: str | None) -> None:
    """By Postmark's own codes; the token, the account and its credits are no fault of the message."""
    outcome = await answered(KIND, SETTINGS, answer(status, body))

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code


async def test_a_check_asks_about_the_server() -> None:
    """And sends nothing."""
    async with playing(KIND, SETTINGS, answer("200 OK", b'{"ID": 1}')) as (adapter, vendor):
        assert await adapter.check() == Accepted()

    assert head_of(vendor.heard[0])[0] == "GET /server HTTP/1.1"


def test_user_and_password_go_together() -> None:
    """Half of them would never be asked for."""
    with pytest.raises(BadValueError, match="webhook_user"):
        made(KIND, {**SETTINGS, "webhook_password": "p"})


# --- records

FORM = PostmarkForm()
KEYS = {"user": "tidings", "password": "old-one\nhunter2"}


def _basic(pair: str) -> str:
    return "Basic " + base64.b64encode(pair.encode()).decode()


@pytest.mark.parametrize("pair", ["tidings:hunter2", "tidings:old-one"])
async def test_who_knows_the_password_is_believed(pair: str) -> None:
    """Either, while one takes the place of the other."""
    assert await FORM.verify(called(b"{}", authorization=_basic(pair)), KEYS) == VerifiedCallback()


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "unsigned"),
        (_basic("tidings:hunter3"), "mismatch"),
        (_basic("other:hunter2"), "mismatch"),
        (_basic("tidings:old-one hunter2"), "mismatch"),
        (_basic("tidings"), "mismatch"),
        ("Basic " + base64.b64encode(b"tidings:\xff").decode(), "mismatch"),
        ("Basic !!", "malformed"),
        ("Bearer hunter2", "malformed"),
    ],
)
async def test_others_are_refused(header: str | None, code: str) -> None:
    """Each with the word for it."""
    request = called(b"{}", authorization=header) if header else called(b"{}")

    found = await FORM.verify(request, KEYS)

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code


def _bounce(type_: str, **more: Any) -> dict[str, Any]:
    return {"RecordType": "Bounce", "ID": 7, "Type": type_, "BouncedAt": "2014-08-01T13:28:10Z", **more}


@pytest.mark.parametrize(
    ("record", "status", "code", "effect"),
    [
        (_bounce("SoftBounce"), "bounced", "SoftBounce", "soft_bounce"),
        (_bounce("BadEmailAddress"), "failed_perm", "BadEmailAddress", "invalid_address"),
        (_bounce("Blocked"), "failed_perm", "Blocked", None),
        (_bounce("SpamNotification"), "rejected_by_recipient", "SpamNotification", None),
        (_bounce("SpamComplaint"), "complaint", "SpamComplaint", "complaint"),
        (_bounce("Transient"), "accepted", "Transient", None),
        (_bounce("AutoResponder"), "unknown", "AutoResponder", None),
        (_bounce("SomethingNew"), "unknown", "SomethingNew", None),
    ],
)
def test_bounces(record: dict[str, Any], status: str, code: str, effect: str | None) -> None:
    """By their type; what is tried again is not lost, a program that answers is no bounce."""
    body = json.dumps({"MessageID": "m-1", **record}).encode()

    (read,) = FORM.read(called(body), {}).events

    assert (read.vendor_message_id, read.word, read.status) == ("m-1", "bounce", status)
    assert read.details is not None
    assert (read.details.code, read.details.effect) == (code, effect)


def test_no_address_is_kept() -> None:
    """Though Postmark quotes it."""
    words = "smtp;550 5.1.1 <laila@example.test>: user unknown"
    body = json.dumps(
        {"MessageID": "m-1", **_bounce("HardBounce", Details=words, Email="laila@example.test")}
    )

    (read,) = FORM.read(called(body.encode()), {}).events

    assert read.details is not None
    assert read.details.reason == "smtp;550/5.1.1 <***>: user unknown"


def test_a_zero_character_makes_no_record_unreadable() -> None:
    """A stranger's mail server writes the details of a bounce."""
    record = json.dumps({"MessageID": "m-1", **_bounce("HardBounce", Details="no\0body")}).encode()

    (read,) = PostmarkForm().read(called(record), {}).events

    assert read.details is not None
    assert read.details.reason == "nobody"


def test_a_record_without_a_message_is_left_aside() -> None:
    """Somebody was put on a list by hand: no mail of ours is the cause."""
    body = b'{"RecordType": "SubscriptionChange", "MessageID": "", "SuppressSending": true}'

    assert FORM.read(called(body), {}).events == ()
