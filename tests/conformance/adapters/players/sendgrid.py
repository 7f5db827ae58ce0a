"""SendGrid: replies of its Web API v3, and its signed events."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tidings.contracts.callback_forms import Canonical, Details, ParsedCallback, RawCallback, ReadEvent

#: Of the tests of sendgrid-python (test/unit/test_eventwebhook.py).
_DOCUMENTED_KEY = (
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpV"
    "KS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=="
)
_DOCUMENTED_SIGNATURE = (
    "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="
)
_DOCUMENTED_BODY = (
    b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
    b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
    b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
    b'"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n'
)
_KEY = ec.generate_private_key(ec.SECP256R1())
_PUBLIC = base64.b64encode(
    _KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
).decode()
_SIGNATURE = "x-twilio-email-event-webhook-signature"
_TIMESTAMP = "x-twilio-email-event-webhook-timestamp"


def _settings(port: int) -> dict[str, Any]:
    return {"api_url": f"http://127.0.0.1:{port}", "api_key": "SG.hunter2"}


def _example(
    source: str, *, key: str, body: bytes, signature: str, timestamp: int, reading: ParsedCallback
) -> Example:
    return Example(
        source=source,
        settings={"api_key": "SG.hunter2", "webhook_public_key": key},
        request=RawCallback(
            headers={
                "content-type": ["application/json"],
                _SIGNATURE: [signature],
                _TIMESTAMP: [str(timestamp)],
            },
            body=body,
            received_at=datetime.fromtimestamp(timestamp, UTC),
        ),
        reading=reading,
        covered=("body", _SIGNATURE, _TIMESTAMP),
        window=timedelta(hours=25),
    )


def _told(event: dict[str, Any], read: ReadEvent) -> Example:
    """An event as an account got it, signed here."""
    timestamp = 1461095300
    body = json.dumps([{"email": "recipient@example.com", **event}]).encode()
    signature = base64.b64encode(_KEY.sign(str(timestamp).encode() + body, ec.ECDSA(SHA256()))).decode()
    source = "events of its Event Webhook reference; signed here with a key of P-256"
    return _example(
        source,
        key=_PUBLIC,
        body=body,
        signature=signature,
        timestamp=timestamp,
        reading=ParsedCallback(events=[read]),
    )


_ID = "wrfRRvF7Q0GgwUo2CvDmEA"
_WHERE = {"sg_message_id": f"{_ID}.filter0425p1mdw1.13037.57168B4A1D.0", "timestamp": 1461095250}
_AT = datetime(2016, 4, 19, 19, 47, 30, tzinfo=UTC)
_OTHERS: list[tuple[str, Canonical]] = [
    ("delivered", "delivered"),
    ("open", "opened"),
    ("click", "clicked"),
    ("spamreport", "complaint"),
    ("unsubscribe", "unknown"),
]

PLAYER = HttpPlayer(
    name="sendgrid",
    settings=_settings,
    replies={
        # 202 with nothing in it: https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
        "accepted": http.answer("202 Accepted", headers=f"X-Message-Id: {_ID}\r\n"),
        # The form of every error, and the words of this one: …/mail-send/errors
        "refused": http.answer(
            "400 Bad Request",
            b'{"errors":[{"message":"Does not contain a valid address: laila.unmistakable@example.test",'
            b'"field":"personalizations.0.to.0.email","help":null}]}',
        ),
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"errors":[{"message":"too many requests","field":null,"help":null}]}',
            headers="X-RateLimit-Limit: 600\r\nX-RateLimit-Remaining: 0\r\n",
        ),
        "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    },
    accepted_id=_ID,
    refused_code="personalizations.0.to.0.email",
    examples=[
        _example(
            "the signed example in the tests of sendgrid-python",
            key=_DOCUMENTED_KEY,
            body=_DOCUMENTED_BODY,
            signature=_DOCUMENTED_SIGNATURE,
            timestamp=1600112502,
            reading=ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="LRzXl_NHStOGhQ4kofSm_A",
                        word="dropped",
                        status="bounced",
                        occurred_at=datetime(2020, 9, 14, 19, 41, 32, tzinfo=UTC),
                        discriminator="ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",
                        details=Details(
                            code="bounced_address", reason="Bounced Address", effect="hard_bounce"
                        ),
                    )
                ]
            ),
        ),
        _told(
            {**_WHERE, "event": "processed", "sg_event_id": "ZyjAM5rnQmuI1KFInHQ3Nw"},
            ReadEvent(
                vendor_message_id=_ID,
                word="processed",
                status="accepted",
                occurred_at=_AT,
                discriminator="ZyjAM5rnQmuI1KFInHQ3Nw",
            ),
        ),
        _told(
            {
                **_WHERE,
                "event": "deferred",
                "sg_event_id": "b_syL5UiTvWC_Ky5L6Bs5Q",
                "response": "400 try again later",
                "attempt": "5",
            },
            ReadEvent(
                vendor_message_id=_ID,
                word="deferred",
                status="accepted",
                occurred_at=_AT,
                discriminator="b_syL5UiTvWC_Ky5L6Bs5Q",
                details=Details(reason="400 try again later"),
            ),
        ),
        _told(
            {
                **_WHERE,
                "event": "bounce",
                "type": "bounce",
                "status": "5.1.1",
                "reason": "550 5.1.1 The email account that you tried to reach does not exist.",
                "sg_event_id": "lC0Rc-FuQmKbnxCWxX1jRQ",
            },
            ReadEvent(
                vendor_message_id=_ID,
                word="bounce",
                status="bounced",
                occurred_at=_AT,
                discriminator="lC0Rc-FuQmKbnxCWxX1jRQ",
                details=Details(
                    code="bounce",
                    reason="550/5.1.1 The email account that you tried to reach does not exist.",
                    effect="hard_bounce",
                ),
            ),
        ),
        *(
            _told(
                {**_WHERE, "event": word, "sg_event_id": f"{word}-nOSv8m0eTQ-vxvwNwt3fZQ"},
                ReadEvent(
                    vendor_message_id=_ID,
                    word=word,
                    status=status,
                    occurred_at=_AT,
                    discriminator=f"{word}-nOSv8m0eTQ-vxvwNwt3fZQ",
                    details=Details(effect="complaint") if word == "spamreport" else None,
                ),
            )
            for word, status in _OTHERS
        ),
    ],
)
