"""Mailgun: what goes over the wire, what its answers mean, whose events are believed."""

import base64
import email
import hashlib
import hmac
import json
from dataclasses import replace
from datetime import timedelta
from email.message import EmailMessage
from email.policy import HTTP, default
from typing import Any

import pytest

from tests.support.played_http import answer
from tests.support.vendors import MESSAGE
from tests.unit.router.adapters.mails import FULL, NOW, answered, called, head_of, playing
from tidings.contracts.callback_forms import RawCallback, UnverifiedCallback, VerifiedCallback
from tidings.contracts.messages import Accepted, Refused, TryLater, Unlearned
from tidings.router.adapters.mail.mime import build
from tidings.router.adapters.mailgun.adapter import KIND
from tidings.router.adapters.mailgun.callbacks import MailgunForm

SETTINGS = {"domain": "mg.shop.example", "api_key": "hunter2"}
TAKEN = answer("200 OK", b'{"id": "<m-1@mg.shop.example>", "message": "Queued. Thank you."}')


def _form(heard: tuple[str, bytes]) -> list[tuple[str, bytes]]:
    _, headers = head_of(heard)
    form = email.message_from_bytes(
        b"Content-Type: " + headers["content-type"].encode() + b"\r\n\r\n" + heard[1], policy=HTTP
    )
    assert isinstance(form, EmailMessage)
    found: list[tuple[str, bytes]] = []
    for part in form.iter_parts():
        inner: Any = part.get_payload()
        content: Any = inner[0].as_bytes() if isinstance(inner, list) else part.get_payload(decode=True)
        found.append((str(part.get_param("name", header="content-disposition")), content))
    return found


async def test_the_request() -> None:
    """The whole mail as we build it, its tracking off, our id beside it."""
    async with playing(KIND, SETTINGS, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([FULL])

    assert list(outcomes) == [Accepted(provider_message_id="m-1@mg.shop.example")]
    line, headers = head_of(vendor.heard[0])
    assert line == "POST /v3/mg.shop.example/messages.mime HTTP/1.1"
    assert headers["authorization"] == "Basic " + base64.b64encode(b"api:hunter2").decode()
    *fields, (name, mail) = _form(vendor.heard[0])
    assert fields == [
        ("to", b"laila.unmistakable@example.test"),
        ("v:tidings_id", FULL.message_id.encode()),
        ("o:tracking", b"no"),
        ("o:tracking-clicks", b"no"),
        ("o:tracking-opens", b"no"),
    ]
    assert name == "message"
    assert build(FULL, at=NOW).data() in vendor.heard[0][1]
    parsed = email.message_from_bytes(mail, policy=default)
    assert parsed["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert parsed["X-Campaign"] == "Grüße"


async def test_orders_come_from_the_account_alone() -> None:
    """A header by which Mailgun is told something is refused; its tracking may be left as it is there."""
    order = replace(MESSAGE, headers=(("X-Mailgun-Drop-Message", "yes"),))
    async with playing(KIND, {**SETTINGS, "vendor_tracking": True}, TAKEN) as (adapter, vendor):
        outcomes = await adapter.send([order, MESSAGE])

    assert [type(one) for one in outcomes] == [Refused, Accepted]
    assert [name for name, _ in _form(vendor.heard[0])] == ["to", "v:tidings_id", "message"]


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        ("400 BAD REQUEST", b'{"message": "\'to\' parameter is not a valid address"}', Refused, "400:to"),
        ("400 BAD REQUEST", b'{"message": "from parameter is missing"}', Refused, "400"),
        (
            "400 BAD REQUEST",
            b'{"message": "Sandbox subdomains are for test purposes only. Please add your own domain"}',
            TryLater,
            "400",
        ),
        ("401 UNAUTHORIZED", b"Forbidden", TryLater, "401"),
        ("402 PAYMENT REQUIRED", b"{}", TryLater, "402"),
        ("403 FORBIDDEN", b'{"message": "not allowed to send"}', TryLater, "403"),
        ("404 NOT FOUND", b'{"message": "Domain not found: mg.shop.example"}', TryLater, "404"),
        ("413 TOO LARGE", b"{}", Refused, "413"),
        ("500 OH", b'{"message": "Internal Error"}', Unlearned, None),
        ("200 OK", b"Mailgun Magnificent API", Unlearned, None),
    ],
)
async def test_answers(status: str, body: bytes, kind: type[Any], code: str | None) -> None:
    """Money, credentials and the domain are no fault of the message; a yes without an id is none."""
    outcome = await answered(KIND, SETTINGS, answer(status, body))

    assert type(outcome) is kind
    assert getattr(outcome, "code", None) == code


@pytest.mark.parametrize(
    ("replies", "kind", "asked"),
    [
        ([answer("200 OK", b"{}")], Accepted, ["GET /v3/domains/mg.shop.example"]),
        ([answer("404 NOT FOUND", b"{}")], TryLater, ["GET /v3/domains/mg.shop.example"]),
        (
            [
                answer("401 UNAUTHORIZED"),
                answer("400 BAD REQUEST", b'{"message": "to parameter is missing"}'),
            ],
            Accepted,
            ["GET /v3/domains/mg.shop.example", "POST /v3/mg.shop.example/messages.mime"],
        ),
        (
            [answer("401 UNAUTHORIZED")],
            Refused,
            ["GET /v3/domains/mg.shop.example", "POST /v3/mg.shop.example/messages.mime"],
        ),
    ],
)
async def test_a_check_asks_about_the_domain(replies: list[bytes], kind: type[Any], asked: list[str]) -> None:
    """A key that can only send may not ask that: a mail with nothing in it tells as much, and nothing is sent."""
    async with playing(KIND, SETTINGS, *replies) as (adapter, vendor):
        checked = await adapter.check()

    assert type(checked) is kind
    assert [head_of(heard)[0].removesuffix(" HTTP/1.1") for heard in vendor.heard] == asked
    assert [body for _, body in vendor.heard[1:]] in ([], [b"o:testmode=yes"])


# --- events

#: A "delivered" event as an account got it in 2018, with other names.
EVENT: dict[str, Any] = {
    "tags": [],
    "timestamp": 1534108637.153125,
    "storage": {"url": "https://sw.api.mailgun.net/v3/domains/example.org/messages/eyJwI", "key": "eyJwI"},
    "recipient-domain": "example.com",
    "id": "hTWCTD81RtiDN-",
    "campaigns": [],
    "user-variables": {},
    "flags": {"is-routed": False, "is-authenticated": True, "is-test-mode": False},
    "log-level": "info",
    "envelope": {"sender": "test@example.org", "transport": "smtp", "targets": "recipient@example.com"},
    "message": {
        "headers": {
            "to": "recipient@example.com",
            "message-id": "20180812211713.1.DF5966851B4BAA99@example.org",
            "from": "test@example.org",
            "subject": "Testing",
        },
        "attachments": [],
        "size": 809,
    },
    "recipient": "recipient@example.com",
    "event": "delivered",
    "delivery-status": {"tls": True, "attempt-no": 1, "description": "", "code": 250, "message": "OK"},
}
TOKEN = "651869375b9df3c98fc15c4889b102119add1235c38fc92824"


def _called(
    event: dict[str, Any] | None = None, *, key: str = "k", token: Any = TOKEN, old: float = 0, **proof: Any
) -> RawCallback:
    timestamp = str(int(NOW.timestamp() - old))
    signature = hmac.new(key.encode(), f"{timestamp}{token}".encode(), hashlib.sha256).hexdigest()
    signed = {"timestamp": timestamp, "token": token, "signature": signature, **proof}
    return called(json.dumps({"signature": signed, "event-data": {**EVENT, **(event or {})}}).encode())


async def test_what_mailgun_signs_verifies() -> None:
    """Told again after hours as well; with a second key while one takes the place of another."""
    form = MailgunForm()

    for keys in ("k", "old\nk"):
        assert await form.verify(_called(), {"secret": keys}) == VerifiedCallback()
    hours = timedelta(hours=7, minutes=59).total_seconds()
    assert await form.verify(_called(old=hours), {"secret": "k"}) == VerifiedCallback()


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (_called(key="other"), "mismatch"),
        (_called(signature="0" * 64), "mismatch"),
        (_called(signature="ä"), "mismatch"),
        (_called(old=28_801), "stale"),
        (_called(old=-301), "stale"),
        (_called(timestamp="soon"), "malformed"),
        (_called(token="a b"), "malformed"),
        (_called(token=5), "malformed"),
        (called(b'{"event-data": {}}'), "malformed"),
        (called(b"no json"), "malformed"),
    ],
)
async def test_others_are_refused(request_: RawCallback, code: str) -> None:
    """Each with the word for it."""
    found = await MailgunForm().verify(request_, {"secret": "k"})

    assert isinstance(found, UnverifiedCallback)
    assert found.code == code


async def test_a_token_is_good_for_one_event() -> None:
    """Mailgun does not sign the event: another one beside a token that was seen is refused, the same one is not."""
    form = MailgunForm()
    assert await form.verify(_called(), {"secret": "k"}) == VerifiedCallback()

    found = await form.verify(_called({"event": "complained"}), {"secret": "k"})

    assert isinstance(found, UnverifiedCallback)
    assert found.code == "mismatch"
    assert await form.verify(_called(), {"secret": "k"}) == VerifiedCallback()
    other = _called({"event": "complained"}, token="f" * 50)
    assert await form.verify(other, {"secret": "k"}) == VerifiedCallback()


async def test_a_zero_character_makes_no_event_unreadable() -> None:
    """A stranger's mail server writes the words of a failure."""
    event = {
        "event": "failed",
        "severity": "permanent",
        "delivery-status": {"code": 550, "message": "no\0body"},
    }
    request = _called(event)

    assert await MailgunForm().verify(request, {"secret": "k"}) == VerifiedCallback()
    (read,) = MailgunForm().read(request, {}).events
    assert read.details is not None
    assert read.details.reason == "nobody"


def _failed(severity: str, reason: str | None, code: int, words: str = "") -> dict[str, Any]:
    status = {"code": code, "message": words}
    return {"event": "failed", "severity": severity, "reason": reason, "delivery-status": status}


@pytest.mark.parametrize(
    ("event", "word", "status", "details"),
    [
        ({}, "delivered", "delivered", None),
        (
            _failed("permanent", "bounce", 550, "5.1.1 The account\n5.1.1 laila@example.test is not there"),
            "failed/permanent",
            "bounced",
            ("550", "5.1.1 The account 5.1.1 *** is not there", "hard_bounce"),
        ),
        (
            _failed("permanent", "generic", 550, "5.7.1 blocked"),
            "failed/permanent",
            "failed_perm",
            ("550", "5.7.1 blocked", None),
        ),
        (
            _failed("permanent", "suppress-complaint", 607),
            "failed/permanent",
            "rejected_by_recipient",
            ("607", None, "complaint"),
        ),
        (
            _failed("permanent", None, 606),
            "failed/permanent",
            "rejected_by_recipient",
            ("606", None, None),
        ),
        (
            _failed("temporary", "greylisted", 450, "Greylisted"),
            "failed/temporary",
            "accepted",
            ("450", "Greylisted", None),
        ),
        (
            {"event": "rejected", "reject": {"reason": "Sandbox"}, "delivery-status": {}},
            "rejected",
            "rejected_by_provider",
            (None, "Sandbox", None),
        ),
        ({"event": "complained"}, "complained", "complaint", (None, None, "complaint")),
        ({"event": "unsubscribed"}, "unsubscribed", "unknown", None),
    ],
)
def test_events(
    event: dict[str, Any], word: str, status: str, details: tuple[str | None, str | None, str | None] | None
) -> None:
    """What is tried again is not lost; a 550 alone says nothing about the address."""
    (read,) = MailgunForm().read(_called(event), {}).events

    assert read.vendor_message_id == "20180812211713.1.DF5966851B4BAA99@example.org"
    assert (read.word, read.status, read.discriminator) == (word, status, "1534108637.153125/hTWCTD81RtiDN-")
    found = read.details
    assert (None if found is None else (found.code, found.reason, found.effect)) == details


def test_an_event_without_a_message_is_left_aside() -> None:
    """There is nothing that it could be about."""
    assert MailgunForm().read(_called({"message": {}}), {}).events == ()
