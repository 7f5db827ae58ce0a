"""Notifications of Amazon SNS, signed with a key of our own, and an Amazon that hands out its certificate."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from tidings.contracts.callback_forms import RawCallback
from tidings.router.adapters.ses.callbacks import SesForm
from tidings.router.adapters.ses.sns import Certificates

TOPIC = "arn:aws:sns:us-west-2:123456789012:MyTopic"
KEYS = {"topics": f"arn:aws:sns:us-west-2:123456789012:Other {TOPIC}"}
HOST = "https://sns.us-west-2.amazonaws.com"
CERTIFICATE = f"{HOST}/SimpleNotificationService-0000000000000000000001.pem"
AT = datetime(2012, 5, 2, 0, 54, 6, tzinfo=UTC)
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
#: The fields of the examples in "Parsing message formats".
NOTIFICATION = {
    "Type": "Notification",
    "MessageId": "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    "TopicArn": TOPIC,
    "Subject": "My First Message",
    "Message": "Hello world!",
    "Timestamp": "2012-05-02T00:54:06.655Z",
}
CONFIRMATION = {
    "Type": "SubscriptionConfirmation",
    "MessageId": "165545c9-2a5c-472c-8df2-7ff2be2b3b1b",
    "Token": "2336412f37",
    "TopicArn": TOPIC,
    "Message": f"You have chosen to subscribe to the topic {TOPIC}.\nTo confirm, visit the SubscribeURL.",
    "SubscribeURL": f"{HOST}/?Action=ConfirmSubscription&TopicArn={TOPIC}&Token=2336412f37",
    "Timestamp": "2012-05-02T00:54:06.655Z",
}


def pem(key: rsa.RSAPrivateKey = KEY, *, until: int = 2040) -> bytes:
    """A certificate that begins in 2012."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(datetime(2012, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(until, 1, 1, tzinfo=UTC))
        .sign(key, SHA256())
        .public_bytes(Encoding.PEM)
    )


def sent(
    fields: dict[str, str], text: str, *, version: str = "2", at: datetime = AT, **more: Any
) -> RawCallback:
    """A request of SNS whose signature is made over this text."""
    signature = KEY.sign(text.encode(), PKCS1v15(), SHA1() if version == "1" else SHA256())
    body = {
        **fields,
        "SignatureVersion": version,
        "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": CERTIFICATE,
        **more,
    }
    return RawCallback(
        headers={"content-type": ["text/plain; charset=UTF-8"]},
        body=json.dumps(body).encode(),
        received_at=at,
    )


#: Written out as the documentation has it, and not made by code.
SIGNED = (
    "Message\nHello world!\nMessageId\n22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324\nSubject\nMy First Message\n"
    f"Timestamp\n2012-05-02T00:54:06.655Z\nTopicArn\n{TOPIC}\nType\nNotification\n"
)
SIGNED_CONFIRMATION = (
    f"Message\n{CONFIRMATION['Message']}\nMessageId\n165545c9-2a5c-472c-8df2-7ff2be2b3b1b\n"
    f"SubscribeURL\n{CONFIRMATION['SubscribeURL']}\nTimestamp\n2012-05-02T00:54:06.655Z\nToken\n2336412f37\n"
    f"TopicArn\n{TOPIC}\nType\nSubscriptionConfirmation\n"
)


class Amazon:
    """Answers with a status and a content, and remembers what it was asked for."""

    def __init__(self, status: int = 200, content: bytes = b"") -> None:
        self.status, self.content = status, content
        self.asked: list[str] = []

    async def fetch(self, url: str) -> tuple[int, bytes]:
        self.asked.append(url)
        return self.status, self.content


def form(amazon: Amazon | None = None) -> SesForm:
    """One whose certificates come from there."""
    amazon = amazon or Amazon(content=pem())
    return SesForm(certificates=Certificates(amazon.fetch), visit=amazon.fetch)
