"""A voice gateway as docs/vendors/voice-otp-gateway.md describes it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent, VendorCost

_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
_AT = datetime(2021, 2, 25, 15, 2, 10, tzinfo=UTC)


def _settings(port: int) -> dict[str, Any]:
    return {"api_url": f"http://127.0.0.1:{port}", "api_token": "hunter2", "callback_secret": _SECRET}


_EVENTS = (
    b'{"events": [{"id": "ev-1", "call_id": "call-17", "reference": "ntf_1", "status": "completed", '
    b'"occurred_at": "2021-02-25T15:02:00Z", "duration_seconds": 21, '
    b'"cost": {"micros": 50000, "currency": "USD"}}, '
    b'{"id": "ev-2", "call_id": "call-18", "status": "no_answer", "occurred_at": "2021-02-25T15:02:05Z"}]}'
)

PLAYER = HttpPlayer(
    name="voice_otp_gateway",
    settings=_settings,
    message=replace(MESSAGE, channel="voice", to="+93700123456", html=None, subject=None),
    replies={
        "accepted": http.answer("202 Accepted", b'{"id": "call-17", "status": "queued"}'),
        "refused": http.answer(
            "422 Unprocessable Entity",
            b'{"error": {"code": "invalid_number", "message": "+93700123456 is nobody\'s number"}}',
        ),
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"error": {"code": "rate_limited", "message": "slow down"}}',
            headers="Retry-After: 5\r\n",
        ),
        "unavailable": http.answer(
            "503 Service Unavailable", b'{"error": {"code": "unavailable", "message": "no lines"}}'
        ),
    },
    accepted_id="call-17",
    refused_code="invalid_number",
    retry_after=timedelta(seconds=5),
    examples=[
        Example(
            source="docs/vendors/voice-otp-gateway.md; signed with the openssl command",
            settings={
                "api_url": "https://voice.example.test",
                "api_token": "hunter2",
                "callback_secret": _SECRET,
            },
            request=RawCallback(
                headers={
                    "content-type": ["application/json"],
                    "webhook-id": ["msg_p5jXN8AQM9LWM0D4loKWxJek"],
                    "webhook-timestamp": ["1614265330"],
                    "webhook-signature": ["v1,qvqZMeQYqTGBe8Z6Vj8zvC2xNVaPM6Jyt0BNiDQPYdg="],
                },
                body=_EVENTS,
                received_at=_AT,
            ),
            reading=ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="call-17",
                        word="completed",
                        status="delivered",
                        occurred_at=datetime(2021, 2, 25, 15, 2, tzinfo=UTC),
                        discriminator="ev-1",
                        details=Details(reason="lasted 21 s", cost=VendorCost(micros=50_000, currency="USD")),
                    ),
                    ReadEvent(
                        vendor_message_id="call-18",
                        word="no_answer",
                        status="failed_temp",
                        occurred_at=datetime(2021, 2, 25, 15, 2, 5, tzinfo=UTC),
                        discriminator="ev-2",
                        details=Details(code="no_answer"),
                    ),
                ]
            ),
            covered=("body", "webhook-id", "webhook-timestamp", "webhook-signature"),
            window=timedelta(minutes=5),
        )
    ],
)
