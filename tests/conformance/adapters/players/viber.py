"""Viber's REST Bot API: replies and callbacks as developers.viber.com shows them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent, ReadInbound

_TOKEN = "445da6az1s345z78-dazcczb2542zv51a-e0vc5fva17480im9"
_BOT = "pa:75346594275468546724"
_AT = datetime(2016, 3, 12, 6, 29, 57, 627000, tzinfo=UTC)


def _settings(port: int) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}",
        "auth_token": "hunter2-hunter2-hunter2",
        "bot_id": _BOT,
    }


def _example(
    body: bytes, digest: str, reading: ParsedCallback, *, token: str = _TOKEN, source: str = ""
) -> Example:
    return Example(
        source=source
        or "made after Viber's description of callbacks, signed with: openssl dgst -sha256 -hmac",
        settings={"auth_token": token, "bot_id": _BOT},
        request=RawCallback(
            headers={"content-type": ["application/json"], "x-viber-content-signature": [digest]},
            body=body,
            received_at=_AT,
        ),
        reading=reading,
        covered=("body", "x-viber-content-signature"),
    )


def _event(word: str, status: Any, details: Details | None = None) -> ParsedCallback:
    return ParsedCallback(
        events=[
            ReadEvent(
                vendor_message_id="491266184665523145",
                word=word,
                status=status,
                occurred_at=_AT,
                discriminator="1457764197627",
                details=details,
            )
        ]
    )


PLAYER = HttpPlayer(
    name="viber",
    settings=_settings,
    replies={
        "accepted": http.answer(
            "200 OK",
            b'{"status":0,"status_message":"ok","message_token":5741311803571721087,'
            b'"chat_hostname":"SN-CHAT-05_","billing_status":1}',
        ),
        "refused": http.answer(
            "200 OK", b'{"status":6,"status_message":"The receiver is not subscribed to the account"}'
        ),
        "throttled": http.answer("200 OK", b'{"status":12,"status_message":"Rate control breach"}'),
        "unavailable": http.answer("503 Service Unavailable", b"<html>Service Unavailable</html>"),
    },
    message=replace(MESSAGE, channel="viber", to="01234567890A=", html=None),
    bad=replace(MESSAGE, channel="viber", to="nobody\r\nX: y"),
    accepted_id="5741311803571721087",
    refused_code="6",
    examples=[
        _example(
            b'{"event":"webhook","timestamp":4977069964384421269,"message_token":1478683725125}',
            "d21b343448c8aee33b8e93768ef6ceb64a6ba6163099973a2b8bd028fea510ef",
            ParsedCallback(),
            token="44dafb7e0f40021e-61a47a1e6778d187-f2c5a676a07050b3",
            source="github.com/Viber/viber-bot-python, tests/api/test_api.py, test_verify_signature",
        ),
        _example(
            b'{"event":"delivered","timestamp":1457764197627,"message_token":491266184665523145,'
            b'"user_id":"01234567890A="}',
            "adffb0c187cdc79245fae3b532617183c68d34c951c2577b11eb360d27dfc891",
            _event("delivered", "delivered"),
        ),
        _example(
            b'{"event":"seen","timestamp":1457764197627,"message_token":491266184665523145,'
            b'"user_id":"01234567890A="}',
            "55b3e9eb943e37db7cff9cf4f1063b7e9cc40e9abf58d7acecdfa97f25731356",
            _event("seen", "delivered_read"),
        ),
        _example(
            b'{"event":"failed","timestamp":1457764197627,"message_token":491266184665523145,'
            b'"user_id":"01234567890A=","desc":"failure description"}',
            "7e06b72b26c617fbc7e6ccaecfe0e1f9e9ea2cd8d233ffeb56240ab1aa8fd856",
            _event("failed", "failed_perm", Details(code="failed", reason="failure description")),
        ),
        _example(
            b'{"event":"message","timestamp":1457764197627,"message_token":4912661846655238145,"sender":{"id":'
            b'"01234567890A=","name":"John McClane","avatar":"http://avatar.example.com","country":"UK",'
            b'"language":"en","api_version":1},"message":{"type":"text","text":"a message to the service",'
            b'"media":"http://example.com","location":{"lat":50.76891,"lon":6.11499},'
            b'"tracking_data":"tracking data"}}',
            "adcadb7ad3a4eddc56f4ce0210f6fc3c9d42ec9d8cf817b0a1a3c60f8c0dbf82",
            ParsedCallback(
                inbound=[
                    ReadInbound(
                        vendor_message_id="4912661846655238145",
                        channel="viber",
                        sender="01234567890A=",
                        to=_BOT,
                        text="a message to the service",
                        occurred_at=_AT,
                        sender_name="John McClane",
                    )
                ]
            ),
        ),
    ],
)
