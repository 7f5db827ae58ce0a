"""Postmark: replies of its API, and its webhooks with a user name and a password."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tidings.contracts.callback_forms import Canonical, Details, ParsedCallback, RawCallback, ReadEvent

_PAIR = base64.b64encode(b"tidings:hunter2").decode()


def _settings(port: int) -> dict[str, Any]:
    return {"api_url": f"http://127.0.0.1:{port}", "server_token": "hunter2"}


def _told(
    record: dict[str, Any], status: Canonical, at: datetime, discriminator: str, **details: Any
) -> Example:
    record = {"MessageID": "883953f4-6105-42a2-a16a-77a8eac79483", "ServerID": 23, **record}
    return Example(
        source="the examples of its webhooks' documentation; Postmark signs nothing",
        settings={
            "server_token": "hunter2",
            "webhook_user": "tidings",
            "webhook_password": "old-one\nhunter2",
        },
        request=RawCallback(
            headers={"content-type": ["application/json"], "authorization": [f"Basic {_PAIR}"]},
            body=json.dumps(record).encode(),
            received_at=datetime(2026, 11, 15, 12, tzinfo=UTC),
        ),
        reading=ParsedCallback(
            events=[
                ReadEvent(
                    vendor_message_id="883953f4-6105-42a2-a16a-77a8eac79483",
                    word=record["RecordType"].lower(),
                    status=status,
                    occurred_at=at,
                    discriminator=discriminator,
                    details=Details(**details) if details else None,
                )
            ]
        ),
        covered=("authorization",),
    )


_AT = "2014-08-01T13:28:10.2735393-04:00"
_READ = datetime(2014, 8, 1, 17, 28, 10, 273539, tzinfo=UTC)

PLAYER = HttpPlayer(
    name="postmark",
    settings=_settings,
    replies={
        # https://postmarkapp.com/developer/api/email-api
        "accepted": http.answer(
            "200 OK",
            b'{"To":"laila.unmistakable@example.test","SubmittedAt":"2014-02-17T07:25:01.4178645-05:00",'
            b'"MessageID":"0a129aee-e1cd-480d-b08d-4f48548ff48d","ErrorCode":0,"Message":"OK"}',
        ),
        # As accounts got it; the address in it is the message's own.
        "refused": http.answer(
            "422 Unprocessable Entity",
            b'{"ErrorCode":406,"Message":"You tried to send to a recipient that has been marked as inactive. '
            b"Found inactive addresses: laila.unmistakable@example.test. Inactive recipients are ones that have "
            b'generated a hard bounce, a spam complaint, or a manual suppression."}',
        ),
        "throttled": http.answer(
            "429 Too Many Requests", b'{"ErrorCode":429,"Message":"Rate limit exceeded."}'
        ),
        "unavailable": http.answer("503 Service Unavailable", b'{"ErrorCode":100,"Message":"Maintenance."}'),
    },
    accepted_id="0a129aee-e1cd-480d-b08d-4f48548ff48d",
    refused_code="406",
    examples=[
        _told({"RecordType": "Delivery", "DeliveredAt": _AT}, "delivered", _READ, f"/{_AT}"),
        _told(
            {
                "RecordType": "Bounce",
                "ID": 42,
                "Type": "HardBounce",
                "TypeCode": 1,
                "Description": "The server was unable to deliver your message (ex: unknown user, mailbox not found).",
                "Details": "Test bounce details",
                "BouncedAt": _AT,
            },
            "bounced",
            _READ,
            f"42/{_AT}",
            code="HardBounce",
            reason="Test bounce details",
            effect="hard_bounce",
        ),
        _told(
            {"RecordType": "Bounce", "ID": 43, "Type": "Transient", "TypeCode": 2, "BouncedAt": _AT},
            "accepted",
            _READ,
            f"43/{_AT}",
            code="Transient",
        ),
        _told(
            {
                "RecordType": "SpamComplaint",
                "ID": 44,
                "Type": "SpamComplaint",
                "TypeCode": 100001,
                "Details": "Test spam complaint details",
                "BouncedAt": _AT,
            },
            "complaint",
            _READ,
            f"44/{_AT}",
            code="SpamComplaint",
            reason="Test spam complaint details",
            effect="complaint",
        ),
        _told({"RecordType": "Open", "FirstOpen": True, "ReceivedAt": _AT}, "opened", _READ, f"/{_AT}"),
        _told(
            {"RecordType": "Click", "ClickLocation": "HTML", "ReceivedAt": _AT}, "clicked", _READ, f"/{_AT}"
        ),
        _told(
            {
                "RecordType": "SubscriptionChange",
                "ChangedAt": "2020-02-01T10:53:34.416071Z",
                "SuppressSending": True,
                "SuppressionReason": "ManualSuppression",
            },
            "unknown",
            datetime(2020, 2, 1, 10, 53, 34, 416071, tzinfo=UTC),
            "/2020-02-01T10:53:34.416071Z",
        ),
    ],
)
