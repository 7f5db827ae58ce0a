"""Amazon SES: replies of its API v2, and events by way of SNS."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from tests.conformance.adapters.player import Example, HttpPlayer
from tests.support import played_http as http
from tidings.contracts.callback_forms import Canonical, Details, ParsedCallback, RawCallback, ReadEvent
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.adapters.ses.callbacks import SesForm
from tidings.router.adapters.ses.sns import Certificates

TOPIC = "arn:aws:sns:us-west-2:123456789012:MyTopic"
CERTIFICATE_URL = "https://sns.us-west-2.amazonaws.com/SimpleNotificationService-0000000000000000000001.pem"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
_AT = datetime(2017, 8, 5, 0, 41, 3, tzinfo=UTC)


def certificate_of(key: rsa.RSAPrivateKey) -> bytes:
    """One for all the time of these tests."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2012, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2040, 1, 1, tzinfo=UTC))
        .sign(key, SHA256())
        .public_bytes(Encoding.PEM)
    )


def signed(fields: dict[str, str], *, version: str = "2", key: rsa.RSAPrivateKey = KEY) -> bytes:
    """As SNS signs: the names in their order, each with its value, on lines of their own."""
    names = {
        "Notification": ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
    }.get(fields["Type"], ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"])
    text = "".join(f"{name}\n{fields[name]}\n" for name in names if name in fields)
    signature = key.sign(text.encode(), PKCS1v15(), SHA1() if version == "1" else SHA256())
    more = {
        "SignatureVersion": version,
        "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": CERTIFICATE_URL,
    }
    return json.dumps({**fields, **more}).encode()


def notification(message: str, **more: str) -> dict[str, str]:
    """As SNS writes it."""
    return {
        "Type": "Notification",
        "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
        "TopicArn": TOPIC,
        "Message": message,
        "Timestamp": "2017-08-05T00:41:02.955Z",
        **more,
    }


def _settings(port: int) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}",
        "region": "us-west-2",
        "access_key_id": "AKIDEXAMPLE",
        "secret_access_key": "hunter2",
    }


def _request(body: bytes) -> RawCallback:
    return RawCallback(headers={"content-type": ["text/plain; charset=UTF-8"]}, body=body, received_at=_AT)


def _told(
    word: str,
    part: dict[str, Any],
    status: Canonical,
    *,
    version: str = "2",
    at: str,
    name: str,
    **details: Any,
) -> Example:
    said = {
        "eventType": word,
        "mail": {
            "timestamp": "2017-08-05T00:40:02.012Z",
            "source": "Sender Name <sender@example.com>",
            "sendingAccountId": "123456789012",
            "messageId": "EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000",
            "destination": ["recipient@example.com"],
            "headersTruncated": False,
            "headers": [{"name": "From", "value": "Sender Name <sender@example.com>"}],
            "tags": {"ses:configuration-set": ["ConfigSet"]},
        },
        f"{word[0].lower()}{word[1:]}": part,
    }
    return Example(
        source="events as SES documents them, in SNS's documented envelope; signed here with a certificate of ours",
        settings={**_settings(1), "topics": [TOPIC]},
        request=_request(signed(notification(json.dumps(said)), version=version)),
        reading=ParsedCallback(
            events=[
                ReadEvent(
                    vendor_message_id="EXAMPLE7c191be45-e9aedb9a-02f9-4d12-a87d-dd0099a07f8a-000000",
                    word=word.lower(),
                    status=status,
                    occurred_at=datetime.fromisoformat(at),
                    discriminator=name,
                    details=Details(**details) if details else None,
                )
            ]
        ),
        window=timedelta(minutes=65),
    )


async def _nothing_there(_: str) -> tuple[int, bytes]:
    """Nobody asks Amazon from here."""
    return 404, b""


_FORM = ADAPTERS["ses"].callbacks
assert isinstance(_FORM, SesForm)
_FORM.certificates = Certificates(fetch=_nothing_there)
_FORM.certificates.know(CERTIFICATE_URL, certificate_of(KEY))
_FEEDBACK = "01000157c44f053b-61b59c11-9236-11e6-8f96-7be8aexample-000000"
_THEN = "2017-08-05T00:41:02.669Z"
_SENT = "2017-08-05T00:40:02.012Z"

PLAYER = HttpPlayer(
    name="ses",
    settings=_settings,
    replies={
        # https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
        "accepted": http.answer(
            "200 OK", b'{"MessageId":"0102018f1d2c3b4a-1234abcd-56ef-4a7b-8c9d-0123456789ab-000000"}'
        ),
        "refused": http.answer(
            "400 Bad Request",
            b'{"message":"Local address contains control or whitespace: laila.unmistakable@example.test"}',
            headers="x-amzn-ErrorType: BadRequestException:http://internal.amazon.com/coral/com.amazonaws.ses/\r\n",
        ),
        "throttled": http.answer(
            "429 Too Many Requests",
            b'{"message":"Maximum sending rate exceeded."}',
            headers="x-amzn-ErrorType: TooManyRequestsException\r\n",
        ),
        "unavailable": http.answer("503 Service Unavailable", b"<html>down</html>"),
    },
    accepted_id="0102018f1d2c3b4a-1234abcd-56ef-4a7b-8c9d-0123456789ab-000000",
    refused_code="BadRequestException",
    examples=[
        _told("Send", {}, "accepted", at=_SENT, name=_SENT),
        _told(
            "Delivery",
            {"timestamp": _THEN, "processingTimeMillis": 11893, "smtpResponse": "250 2.6.0 Message received"},
            "delivered",
            version="1",
            at=_THEN,
            name=_THEN,
        ),
        _told(
            "Bounce",
            {
                "bounceType": "Permanent",
                "bounceSubType": "General",
                "bouncedRecipients": [
                    {
                        "emailAddress": "recipient@example.com",
                        "action": "failed",
                        "status": "5.1.1",
                        "diagnosticCode": "smtp; 550 5.1.1 user unknown",
                    }
                ],
                "timestamp": _THEN,
                "feedbackId": _FEEDBACK,
                "reportingMTA": "dsn; mta.example.com",
            },
            "bounced",
            at=_THEN,
            name=_FEEDBACK,
            code="Permanent/General",
            reason="smtp; 550/5.1.1 user unknown",
            effect="hard_bounce",
        ),
        _told(
            "Complaint",
            {
                "complainedRecipients": [{"emailAddress": "recipient@example.com"}],
                "timestamp": _THEN,
                "feedbackId": _FEEDBACK,
                "complaintFeedbackType": "abuse",
            },
            "complaint",
            at=_THEN,
            name=_FEEDBACK,
            code="abuse",
            effect="complaint",
        ),
        _told(
            "Reject",
            {"reason": "Bad content"},
            "rejected_by_provider",
            at=_SENT,
            name=_SENT,
            code="Reject",
            reason="Bad content",
        ),
        _told(
            "DeliveryDelay",
            {"timestamp": _THEN, "delayType": "MailboxFull", "expirationTime": "2017-08-05T04:41:02.669Z"},
            "accepted",
            at=_THEN,
            name=_THEN,
            code="MailboxFull",
        ),
        _told("Open", {"timestamp": _THEN, "userAgent": "Mozilla/5.0"}, "opened", at=_THEN, name=_THEN),
        _told(
            "Click", {"timestamp": _THEN, "link": "https://shop.example/"}, "clicked", at=_THEN, name=_THEN
        ),
        Example(
            source="the question whether we want a topic's notifications, as SNS documents it; signed here",
            settings={**_settings(1), "topics": [TOPIC]},
            request=_request(
                signed(
                    {
                        **notification(
                            f"You have chosen to subscribe to the topic {TOPIC}.\n"
                            "To confirm the subscription, visit the SubscribeURL included in this message."
                        ),
                        "Type": "SubscriptionConfirmation",
                        "Token": "2336412f37fb687f5d51e6e241d09c805a5a57b30d712f794cc5f6a988666d92768dd60a",
                        "SubscribeURL": "https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription"
                        f"&TopicArn={TOPIC}&Token=2336412f37fb687f5d51e6e241d09c805a5a57b30d712f79",
                    }
                )
            ),
            reading=ParsedCallback(),
            window=timedelta(minutes=65),
        ),
    ],
)
