"""Amazon SES's protocol: `POST /v2/email/outbound-emails` with a signature, and events by way of an SNS topic.

SNS proves what it sends with a certificate at its own host. The sandbox has one of its own that says it were there; whoever is
to believe it has to be told so (`certificate_url`, `certificate`). The hook's secret is the topic's ARN.
"""

import base64
import binascii
import datetime as dates
import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final

import msgspec
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble, WebhookRequest
from tidings.sandbox.dialects.mail_text import asked_of_mail
from tidings.sandbox.hooks import SandboxHook
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer
from tidings.sandbox.reading import read_object
from tidings.sandbox.receipts import SandboxReceipt

_PROOF = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[A-Za-z0-9]+/[0-9]{8}/[a-z0-9-]+/ses/aws4_request, ?"
    r"SignedHeaders=[a-z0-9;-]+, ?Signature=[0-9a-f]{64}"
)
_TAG = re.compile(r"[A-Za-z0-9_-]{1,256}")
_TOPIC = re.compile(r"arn:aws(?:-[a-z]+)*:sns:([a-z0-9-]+):[0-9]{12}:.+")
#: A receipt's word → the event, and what it says.
_EVENTS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "accepted": ("Send", {}),
    "sent": ("Send", {}),
    "delivered": ("Delivery", {"smtpResponse": "250 2.6.0 Message received"}),
    "read": ("Open", {"userAgent": "Mozilla/5.0"}),
    "failed": ("Bounce", {"bounceType": "Transient", "bounceSubType": "MessageTooLarge"}),
    "rejected": ("Bounce", {"bounceType": "Transient", "bounceSubType": "ContentRejected"}),
    "bounced": ("Bounce", {"bounceType": "Permanent", "bounceSubType": "General"}),
    "complaint": ("Complaint", {"complaintFeedbackType": "abuse"}),
}
_REFUSALS: Final[Mapping[Trouble, tuple[int, str, str]]] = {
    "invalid_recipient": (400, "BadRequestException", "Missing final '@domain'"),
    "blocked": (400, "MessageRejected", "Address is blacklisted."),
    "throttled": (429, "TooManyRequestsException", "Maximum sending rate exceeded."),
    "unavailable": (503, "ServiceUnavailable", "Service is unable to handle request."),
    "unauthorised": (403, "UnrecognizedClientException", "The security token in the request is invalid."),
}


class SesDialect(Dialect):
    """Speaks as Amazon SES does."""

    name = "ses"

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A mail, or a question about the account."""
        if not _PROOF.fullmatch(request.headers.get("authorization", "")):
            return _error("unauthorised")
        if (request.method, request.path) == ("GET", "/v2/email/account"):
            return json_answer({"SendingEnabled": True, "ProductionAccessEnabled": True})
        if (request.method, request.path) != ("POST", "/v2/email/outbound-emails"):
            return json_answer({"message": "not found"}, status=404)
        body = read_object(request.body)
        destination = body.get("Destination")
        to = destination.get("ToAddresses") if isinstance(destination, dict) else None
        if not isinstance(to, list) or not to:
            return _error("invalid_recipient")
        tags = body.get("EmailTags")
        if not all(_is_tag(one) for one in (tags if isinstance(tags, list) else ())):
            words = "Invalid tag value: only alphanumeric ASCII characters, '_', and '-' are allowed."
            return _named_error(400, "BadRequestException", words)
        content = body.get("Content")
        raw = content.get("Raw") if isinstance(content, dict) else None
        try:
            data = base64.b64decode(str(raw["Data"]), validate=True) if isinstance(raw, dict) else b""
        except (KeyError, binascii.Error, ValueError):
            data = b""
        if not data:
            words = "Content.Raw.Data must be a mail: the sandbox takes no other"
            return _named_error(400, "BadRequestException", words)
        return asked_of_mail(data, to=tuple(map(str, to)))

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:  # the same for all
        """Its id."""
        return json_answer({"MessageId": message_id})

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """The kind of error in a header, and a sentence."""
        return _error(trouble, retry_after)

    def receipts(
        self, receipts: Sequence[SandboxReceipt], hook: SandboxHook, now: dates.datetime
    ) -> Sequence[WebhookRequest]:
        """Each in a notification of its own."""
        return [self._call(receipt, hook, now) for receipt in receipts]

    def certificate_url(self, topic: str) -> str:
        """Where the certificate says it were."""
        found = _TOPIC.fullmatch(topic)
        region = found[1] if found else "us-east-1"
        ending = ".cn" if region.startswith("cn-") else ""
        return f"https://sns.{region}.amazonaws.com{ending}/SimpleNotificationService-sandbox.pem"

    @cached_property
    def certificate(self) -> bytes:
        """In PEM, of a key that lives as long as this process."""
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
        begins = dates.datetime(2020, 1, 1, tzinfo=dates.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(self._key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begins)
            .not_valid_after(begins + dates.timedelta(days=36_500))
            .sign(self._key, SHA256())
        )
        return certificate.public_bytes(Encoding.PEM)

    @cached_property
    def _key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    @cached_property
    def _strangers_key(self) -> rsa.RSAPrivateKey:
        return rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def _call(self, receipt: SandboxReceipt, hook: SandboxHook, now: dates.datetime) -> WebhookRequest:
        message = {
            "Type": "Notification",
            "MessageId": _uuid(receipt.id),
            "TopicArn": hook.secret,
            "Message": msgspec.json.encode(_event(receipt)).decode(),
            "Timestamp": _moment(now),
        }
        text = "".join(
            f"{name}\n{message[name]}\n" for name in ("Message", "MessageId", "Timestamp", "TopicArn", "Type")
        )
        key = self._strangers_key if receipt.beat.forged else self._key
        signature = key.sign(text.encode(), PKCS1v15(), SHA256())
        body = {
            **message,
            "SignatureVersion": "2",
            "Signature": base64.b64encode(signature).decode("ascii"),
            "SigningCertURL": self.certificate_url(hook.secret),
        }
        return WebhookRequest(
            url=hook.url,
            headers={
                "Content-Type": "text/plain; charset=UTF-8",
                "x-amz-sns-message-type": "Notification",
                "x-amz-sns-message-id": message["MessageId"],
                "x-amz-sns-topic-arn": hook.secret,
            },
            body=msgspec.json.encode(body),
            receipts=[receipt],
        )


def _event(receipt: SandboxReceipt) -> dict[str, Any]:
    kind, part = _EVENTS[receipt.beat.status]
    at = _moment(receipt.happened_at)
    said = {**part, "timestamp": at}
    if kind in {"Bounce", "Complaint"}:
        said["feedbackId"] = _uuid(f"feedback:{receipt.id}")
    if kind == "Bounce":
        said["bouncedRecipients"] = [
            {"emailAddress": "someone@example.test", "diagnosticCode": receipt.beat.reason or "smtp; 550"}
        ]
    return {
        "eventType": kind,
        "mail": {"timestamp": at, "messageId": receipt.message_id, "tags": {}},
        kind.lower(): said,
    }


def _uuid(name: str) -> str:
    digest = hashlib.sha256(name.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"


def _moment(at: dates.datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _is_tag(tag: object) -> bool:
    """Whether name and value are what Amazon lets them be."""
    return isinstance(tag, dict) and all(_TAG.fullmatch(str(tag.get(part, ""))) for part in ("Name", "Value"))


def _error(trouble: Trouble, retry_after: int | None = None) -> SandboxResponse:
    return _named_error(*_REFUSALS[trouble], retry_after=retry_after)


def _named_error(status: int, kind: str, words: str, *, retry_after: int | None = None) -> SandboxResponse:
    headers = {"x-amzn-errortype": kind}
    return json_answer({"message": words}, status=status, headers=headers, retry_after=retry_after)
