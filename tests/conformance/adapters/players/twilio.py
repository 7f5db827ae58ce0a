"""Twilio: replies of its REST API, status callbacks, incoming messages."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import Details, ParsedCallback, RawCallback, ReadEvent, ReadInbound

_ACCOUNT = "AC" + "0" * 32
_AT = datetime(2018, 3, 25, 9, 53, 20, tzinfo=UTC)
#: Of the examples in Twilio's documentation and in the tests of its libraries.
_TOKEN = "12345"


def _settings(port: int) -> dict[str, Any]:
    return {
        "account_sid": _ACCOUNT,
        "auth_token": "hunter2",
        "api_url": f"http://127.0.0.1:{port}",
        "status_callback": "https://hooks.example.test/hooks/twilio/adcfg_1",
    }


def _called(
    url: str, body: bytes, signature: str, kind: str = "application/x-www-form-urlencoded"
) -> RawCallback:
    headers = {"content-type": [kind], "x-twilio-signature": [signature]}
    return RawCallback(url=url, headers=headers, body=body, received_at=_AT)


def _example(source: str, request: RawCallback, reading: ParsedCallback, **more: Any) -> Example:
    return Example(
        source=source,
        settings={"account_sid": _ACCOUNT, "auth_token": _TOKEN, **more},
        request=request,
        reading=reading,
        covered=("body", "url", "x-twilio-signature"),
    )


_DOCUMENTED = "https://mycompany.com/myapp.php?foo=1&bar=2"
_OURS = "https://hooks.example.test/hooks/twilio/adcfg_1"

PLAYER = HttpPlayer(
    name="twilio",
    settings=_settings,
    message=replace(
        MESSAGE,
        channel="sms",
        to="+14155552671",
        sender=replace(MESSAGE.sender, value="+15017122661"),
        html=None,
        subject=None,
    ),
    replies={
        # A Message resource as an account got it on 27 Nov 2018, shortened.
        "accepted": http.answer(
            "201 CREATED",
            b'{"sid": "SM29f4f980778e4621b72df75ac82f5000", "date_created": "Tue, 27 Nov 2018 16:14:39 +0000", '
            b'"account_sid": "AC00000000000000000000000000000000", "to": "+14155552671", "from": "+15017122661", '
            b'"messaging_service_sid": null, "body": "The secret of the tea", "status": "queued", "num_segments": "1", '
            b'"direction": "outbound-api", "price": null, "price_unit": "USD", "error_code": null, "error_message": null}',
        ),
        # The form of every error: https://www.twilio.com/docs/api/errors/21211
        "refused": http.answer(
            "400 BAD REQUEST",
            b'{"code": 21211, "message": "The \'To\' number +14155552671 is not a valid phone number.", '
            b'"more_info": "https://www.twilio.com/docs/errors/21211", "status": 400}',
        ),
        # "Requests that receive 429 responses aren't processed and are safe to retry": …/docs/api/errors/20429
        "throttled": http.answer(
            "429 TOO MANY REQUESTS",
            b'{"code": 20429, "message": "Too Many Requests", '
            b'"more_info": "https://www.twilio.com/docs/errors/20429", "status": 429}',
            headers="Retry-After: 3\r\n",
        ),
        "unavailable": http.answer("503 Service Unavailable", b"upstream connect error"),
    },
    accepted_id="SM29f4f980778e4621b72df75ac82f5000",
    refused_code="21211",
    retry_after=timedelta(seconds=3),
    examples=[
        _example(
            "Twilio's security documentation, and the tests of every library of its",
            _called(
                _DOCUMENTED,
                b"CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
                "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
            ),
            ParsedCallback(),
        ),
        _example(
            "tests of twilio-python: JSON, whose hash is in the address",
            _called(
                f"{_DOCUMENTED}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620",
                b'{"property": "value", "boolean": true}',
                "a9nBmqA0ju/hNViExpshrM61xv4=",
                "application/json",
            ),
            ParsedCallback(),
        ),
        _example(
            "fields of docs/messaging/guides/track-outbound-message-status; signed with openssl dgst -sha1 -hmac",
            _called(
                _OURS,
                b"AccountSid=AC00000000000000000000000000000000&ErrorCode=30003&From=%2B15017250604"
                b"&MessageSid=SM1342fe1b2c904d1ab04f0fc7a58abca9&MessageStatus=undelivered"
                b"&RawDlrDoneDate=1803250953&SmsSid=SM1342fe1b2c904d1ab04f0fc7a58abca9&SmsStatus=undelivered"
                b"&To=%2B14155552671",
                "qQRxLA5Nv9jOtMgGnzN1YvVcnSM=",
            ),
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="SM1342fe1b2c904d1ab04f0fc7a58abca9",
                        word="undelivered",
                        status="failed_perm",
                        occurred_at=None,
                        discriminator="once",
                        details=Details(code="30003"),
                    )
                ]
            ),
        ),
        _example(
            "a call's callback as an account got it on 25 Mar 2018, shortened; signed with openssl dgst -sha1 -hmac",
            _called(
                _OURS,
                b"Called=%2B551135892112&Direction=outbound-api&Timestamp=Sun%2C%2025%20Mar%202018%2009%3A53%3A19%20%2B0000"
                b"&CallbackSource=call-progress-events&SequenceNumber=3&To=%2B551135892112"
                b"&CallSid=CAbe982f58915a2def4cf7aaa1f1766236&ApiVersion=2010-04-01&CallStatus=completed&Duration=1"
                b"&From=%2B16466063895&CallDuration=49&CalledCity=S%C3%A3o%20Paulo&ToZip=&AnsweredBy=human",
                "YDoSbxA/t3SqOjCReduUk1ozd5U=",
            ),
            ParsedCallback(
                events=[
                    ReadEvent(
                        vendor_message_id="CAbe982f58915a2def4cf7aaa1f1766236",
                        word="completed",
                        status="delivered",
                        occurred_at=datetime(2018, 3, 25, 9, 53, 19, tzinfo=UTC),
                        discriminator="3",
                        details=Details(reason="lasted 49 s"),
                    )
                ]
            ),
        ),
        _example(
            "fields of docs/messaging/guides/webhook-request for WhatsApp; signed with openssl dgst -sha1 -hmac",
            _called(
                _OURS,
                b"SmsMessageSid=SM66666666666666666666666666666666&NumMedia=0&ProfileName=Laila&WaId=93700123456"
                b"&SmsSid=SM66666666666666666666666666666666&SmsStatus=received&Body=Yes&ButtonText=Yes"
                b"&To=whatsapp%3A%2B14155238886&NumSegments=1&MessageSid=SM66666666666666666666666666666666"
                b"&OriginalRepliedMessageSid=SM1342fe1b2c904d1ab04f0fc7a58abca9"
                b"&From=whatsapp%3A%2B93700123456&ApiVersion=2010-04-01",
                "TxDSZIuQkJgO3Wonu+NQHVmJjzc=",
            ),
            ParsedCallback(
                inbound=[
                    ReadInbound(
                        vendor_message_id="SM66666666666666666666666666666666",
                        channel="whatsapp",
                        sender="+93700123456",
                        to="+14155238886",
                        text="Yes",
                        kind="button",
                        occurred_at=None,
                        sender_name="Laila",
                        answers="SM1342fe1b2c904d1ab04f0fc7a58abca9",
                    )
                ]
            ),
        ),
    ],
)
