"""Any vendor that takes JSON: replies as several gave them, put together."""

from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import http_settings
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent, VendorCost

# The example of the Standard Webhooks libraries signs with this secret, this id and this time.
_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
_AT = datetime(2021, 2, 25, 15, 2, 10, tzinfo=UTC)


def _settings(port: int) -> dict[str, Any]:
    return http_settings(
        port,
        error_code_path="error.code",
        error_reason_path="error.message",
        receipts=True,
        callback_secret="hunter2",
        cancel_url=f"http://127.0.0.1:{port}/send/{{{{provider_message_id}}}}",
    )


def _signed(body: bytes, signature: str) -> RawCallback:
    return RawCallback(
        headers={
            "content-type": ["application/json"],
            "webhook-id": ["msg_p5jXN8AQM9LWM0D4loKWxJek"],
            "webhook-timestamp": ["1614265330"],
            "webhook-signature": [signature],
        },
        body=body,
        received_at=_AT,
    )


_EVENT = (
    b'{"events": [{"id": "ev-1", "message_id": "m-1", "status": "failed", "code": "30003", '
    b'"occurred_at": "2021-02-25T15:02:00Z", "cost": {"micros": 4200, "currency": "EUR"}}]}'
)

PLAYER = HttpPlayer(
    name="http",
    settings=_settings,
    replies={
        "accepted": http.answer("202 Accepted", b'{"id": "vendor-17", "status": "queued"}'),
        "refused": http.answer(
            "400 Bad Request",
            b'{"error": {"code": 21211, "message": "laila.unmistakable@example.test is not a valid recipient"}}',
        ),
        "throttled": http.answer("429 Too Many Requests", b"{}", headers="Retry-After: 7\r\n"),
        "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    },
    accepted_id="vendor-17",
    refused_code="21211",
    has_words=False,
    retry_after=timedelta(seconds=7),
    examples=[
        Example(
            source="made with the openssl command: printf '%s' id.time.body | openssl dgst -sha256 -hmac",
            settings={
                "url": "https://vendor.example/send",
                "message_id_path": "id",
                "receipts": True,
                "callback_secret": _SECRET,
            },
            request=_signed(_EVENT, "v1,gPo2IHhToOKXG8wrxKwZiIZnZU29ao2ztHBlyrre0bA="),
            reading=ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="m-1",
                        word="failed",
                        status="failed_perm",
                        occurred_at=datetime(2021, 2, 25, 15, 2, tzinfo=UTC),
                        discriminator="2021-02-25T15:02:00+00:00",
                        details=Details(code="30003", cost=VendorCost(micros=4200, currency="EUR")),
                    )
                ]
            ),
            covered=("body", "webhook-id", "webhook-timestamp", "webhook-signature"),
            window=timedelta(minutes=5),
        )
    ],
)
