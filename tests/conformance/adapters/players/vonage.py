"""Vonage: replies of its Messages API, status and inbound webhooks."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import (
    Details,
    ParsedCallback,
    RawCallback,
    ReadEvent,
    ReadInbound,
    VendorCost,
)

#: Of the sample in Vonage's documentation, with which the tests of its Ruby library verify it.
_SECRET = "ZYtdTtGV3BCFN7tWmOWr1md66XsquMggr4W2cTtXtcPgfnI0Xw"
_AT = datetime.fromtimestamp(1587494962, UTC)


def _settings(port: int) -> dict[str, Any]:
    return {"api_key": "a1b2c3d4", "api_secret": "hunter2", "api_url": f"http://127.0.0.1:{port}"}


def _called(body: bytes, token: str) -> RawCallback:
    headers = {"content-type": ["application/json"], "authorization": [f"Bearer {token}"]}
    return RawCallback(headers=headers, body=body, received_at=_AT)


def _example(source: str, request: RawCallback, reading: ParsedCallback) -> Example:
    return Example(
        source=source,
        settings={
            "api_key": "a1b2c3d4",
            "api_secret": "hunter2",
            "signature_secret": _SECRET,
        },
        request=request,
        reading=reading,
        covered=("body", "authorization"),
        window=timedelta(hours=25),
    )


PLAYER = HttpPlayer(
    name="vonage",
    settings=_settings,
    message=replace(
        MESSAGE,
        channel="sms",
        to="+447700900000",
        sender=replace(MESSAGE.sender, value="+447700900001"),
        html=None,
        subject=None,
    ),
    replies={
        # messages/tests/data/send_message.json of Vonage/vonage-python-sdk
        "accepted": http.answer("202 Accepted", b'{"message_uuid": "d8f86df1-dec6-442f-870a-2241be27d721"}'),
        # The form of …/data/invalid_error.json there, with a parameter that quotes the number.
        "refused": http.answer(
            "422 Unprocessable Entity",
            b'{"type": "https://developer.vonage.com/api-errors/messages#1170", "title": "Invalid or Missing Msisdn Param", '
            b'"detail": "The phone number 447700900000 is invalid.", "instance": "bf0ca0bf927b3b52e3cb03217e1a1ddf", '
            b'"invalid_parameters": [{"name": "to", "reason": "invalid value"}]}',
        ),
        # developer.vonage.com/api-errors/messages
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"type": "https://developer.vonage.com/api-errors/messages#1000", "title": "1000", "detail": "Throttled - You '
            b'have exceeded the submission capacity allowed on this account. Please wait and retry"}',
        ),
        "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    },
    accepted_id="d8f86df1-dec6-442f-870a-2241be27d721",
    refused_code="1170",
    examples=[
        _example(
            "fields of developer.vonage.com/en/messages/concepts/messages-status-callbacks; JWT made with openssl",
            _called(
                b'{"message_uuid":"aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab","to":"447700900000","from":"447700900001",'
                b'"timestamp":"2020-04-21T18:49:20.000Z","status":"submitted","usage":{"currency":"EUR","price":"0.0333"},'
                b'"channel":"sms","destination":{"network_code":"12345"},"sms":{"count_total":"2"}}',
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmR"
                "mLTNmYmU4Y2U1MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6ImZmODQzNDAyMzFkMjhjNTM2YjcyNDI0YmIwYzF"
                "kYjAyNzA5MjkwOTUzNDczNWZmOTJkMWMwYTU2MTZhNDQ5NjIiLCJhcGlfa2V5IjoiYTFiMmMzZCJ9.ew3g6FxZCKWL4L0e6sXgUY"
                "6iQ0ece5kSC5-fC71Db5U",
            ),
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab",
                        word="submitted",
                        status="sent",
                        occurred_at=datetime(2020, 4, 21, 18, 49, 20, tzinfo=UTC),
                        discriminator="2020-04-21T18:49:20.000Z",
                        details=Details(cost=VendorCost(micros=33_300, currency="EUR")),
                    )
                ]
            ),
        ),
        _example(
            "an error as the tests of Vonage's Java and Kotlin libraries have it; JWT made with openssl",
            _called(
                b'{"message_uuid":"aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab","to":"447700900000","from":"447700900001",'
                b'"timestamp":"2020-04-21T18:49:21.000Z","status":"rejected","error":{"type":'
                b'"https://developer.vonage.com/api-errors/messages#1240","title":1240,"detail":"Illegal Number",'
                b'"instance":"bf0ca0bf927b3b52e3cb03217e1a1ddf"},"channel":"sms"}',
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmR"
                "mLTNmYmU4Y2U1MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6ImUxZWFhNzNiZmU1MWIxMjY3YTQxYjUyNTE0YTZ"
                "kZjAzNTViNDg0YzU2ZjNiODdiMDM0MmE4Njk2ZDQ1YWVmN2QiLCJhcGlfa2V5IjoiYTFiMmMzZCJ9.6rMu1Ckew7ckJPf6n75VBU"
                "nvpGEQUtS-mAHU4AZzMcU",
            ),
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab",
                        word="rejected",
                        status="rejected_by_provider",
                        occurred_at=datetime(2020, 4, 21, 18, 49, 21, tzinfo=UTC),
                        discriminator="2020-04-21T18:49:21.000Z",
                        details=Details(code="1240", reason="Illegal Number"),
                    )
                ]
            ),
        ),
        _example(
            "an inbound text of version 1; JWT made with openssl",
            _called(
                b'{"channel":"sms","message_uuid":"bbbbbbbb-cccc-4ddd-8eee-0123456789ab","to":"447700900001",'
                b'"from":"447700900000","timestamp":"2020-04-21T18:49:22.000Z","text":"Stop it","sms":'
                b'{"num_messages":"1","keyword":"STOP"},"message_type":"text"}',
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpYXQiOjE1ODc0OTQ5NjIsImp0aSI6ImM1YmE4ZjI0LTFhMTQtNGMxMC1iZmR"
                "mLTNmYmU4Y2U1MTFiNSIsImlzcyI6IlZvbmFnZSIsInBheWxvYWRfaGFzaCI6IjY2ZDgxNjE0OTZiMjkyZTBiNjkwNzdjMWM4ODc"
                "5NDI0YzEwMDcwMTlmMjI4ZWQ5MjA2ZjdhMzNiNWVlM2FiYTUiLCJhcGlfa2V5IjoiYTFiMmMzZCJ9.69APLDFG8l6fdobSgGLf5Y"
                "C17UfYmTQSPV7-SvsWTFc",
            ),
            ParsedCallback(
                inbound=[
                    ReadInbound(
                        vendor_message_id="bbbbbbbb-cccc-4ddd-8eee-0123456789ab",
                        channel="sms",
                        sender="+447700900000",
                        to="+447700900001",
                        text="Stop it",
                        kind="text",
                        occurred_at=datetime(2020, 4, 21, 18, 49, 22, tzinfo=UTC),
                    )
                ]
            ),
        ),
    ],
)
