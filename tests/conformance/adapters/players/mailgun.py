"""Mailgun: replies of its API, and its webhooks with the proof in their body."""

import hashlib
import hmac
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent

_AT = 1534108637
_KEY = "key-of-the-webhooks"


def _settings(port: int) -> dict[str, Any]:
    return {"api_url": f"http://127.0.0.1:{port}", "domain": "mg.shop.example", "api_key": "hunter2"}


def _told(event: dict[str, Any], read: dict[str, Any]) -> Example:
    """Short, so that what is signed stands in the middle: Mailgun does not sign the event."""
    event = {
        "id": "hTWCTD81RtiDN",
        "timestamp": 1534108637.153125,
        "message": {"headers": {"message-id": "1.DF5966@example.org"}},
        **event,
    }
    token = hashlib.sha256(json.dumps(event).encode()).hexdigest()[:50]
    proof = hmac.new(_KEY.encode(), f"{_AT}{token}".encode(), hashlib.sha256).hexdigest()
    body = {"signature": {"timestamp": str(_AT), "token": token, "signature": proof}, "event-data": event}
    return Example(
        source="fields of its webhook payloads; signed here with HMAC-SHA256, as its documentation says",
        settings={
            "domain": "mg.shop.example",
            "api_key": "hunter2",
            "webhook_signing_key": f"old-one\n{_KEY}",
        },
        request=RawCallback(
            headers={"content-type": ["application/json"]},
            body=json.dumps(body, separators=(",", ":")).encode(),
            received_at=datetime.fromtimestamp(_AT, UTC),
        ),
        reading=ParsedCallback(
            events=[
                ReadEvent(
                    vendor_message_id="1.DF5966@example.org",
                    occurred_at=datetime(2018, 8, 12, 21, 17, 17, 153125, tzinfo=UTC),
                    discriminator="1534108637.153125/hTWCTD81RtiDN",
                    **read,
                )
            ]
        ),
        window=timedelta(hours=8),
    )


PLAYER = HttpPlayer(
    name="mailgun",
    settings=_settings,
    replies={
        # As it answers: https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
        "accepted": http.answer(
            "200 OK", b'{"id":"<20160306015544.116301.25145@mg.shop.example>","message":"Queued. Thank you."}'
        ),
        "refused": http.answer(
            "400 BAD REQUEST",
            b'{"message":"to parameter is not a valid address. please check documentation"}',
        ),
        "throttled": http.answer(
            "429 TOO MANY REQUESTS",
            b'{"message":"Domain mg.shop.example is not allowed to send: request limit exceeded, try again later"}',
            headers="Retry-After: 7\r\n",
        ),
        "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    },
    accepted_id="20160306015544.116301.25145@mg.shop.example",
    refused_code="400:to",
    retry_after=timedelta(seconds=7),
    examples=[
        _told({"event": "accepted"}, {"word": "accepted", "status": "accepted"}),
        _told({"event": "delivered"}, {"word": "delivered", "status": "delivered"}),
        _told(
            {"event": "failed", "severity": "permanent", "delivery-status": {"code": 605}},
            {
                "word": "failed/permanent",
                "status": "bounced",
                "details": Details(code="605", effect="hard_bounce"),
            },
        ),
        _told(
            {"event": "failed", "severity": "temporary", "delivery-status": {"code": 450}},
            {"word": "failed/temporary", "status": "accepted", "details": Details(code="450")},
        ),
        _told(
            {"event": "complained"},
            {"word": "complained", "status": "complaint", "details": Details(effect="complaint")},
        ),
        _told({"event": "opened"}, {"word": "opened", "status": "opened"}),
        _told({"event": "clicked"}, {"word": "clicked", "status": "clicked"}),
        _told({"event": "unsubscribed"}, {"word": "unsubscribed", "status": "unknown"}),
    ],
)
