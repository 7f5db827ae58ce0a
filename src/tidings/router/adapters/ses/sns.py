"""Amazon SNS: what it sends to a web address, and how that is proven.

The signature covers the fields that matter, and is verified with a certificate that the message names. So everything hangs on
where the certificate comes from: it is fetched from Amazon's own host of the topic's region, over TLS, and from nowhere else.
"""

import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from msgspec import Struct, field

from tidings.kernel.egress import public_only
from tidings.kernel.http_client.pool import HttpRequest
from tidings.kernel.refusals import UnavailableError
from tidings.router.adapters.callbacks.signatures import exact_base64
from tidings.router.adapters.http_client.sender import HttpSender

if TYPE_CHECKING:
    # Takes its time to load: only those who are told something by SNS pay for it.
    from cryptography.x509 import Certificate

#: `arn:aws:sns:eu-west-1:123456789012:mail-events`.
TOPIC_PATTERN: Final = r"^arn:aws(?:-[a-z]+)*:sns:[a-z0-9-]{3,40}:[0-9]{12}:[A-Za-z0-9_-]{1,256}\Z"
_HOST: Final = r"https://sns\.(?P<region>[a-z0-9-]{3,40})\.amazonaws\.com(?:\.cn)?"
_CERTIFICATE_URL = re.compile(_HOST + r"/SimpleNotificationService-[A-Za-z0-9_-]{1,100}\.pem")
_SUBSCRIBE_URL = re.compile(_HOST + r"/\?Action=ConfirmSubscription&[A-Za-z0-9&=%:._~-]{1,1800}")
_SECONDS_TO_FETCH: Final = 10.0
_MOST_CERTIFICATES: Final = 32
#: After a certificate could not be had, it is not asked for again so long.
_RETRY_AFTER: Final = timedelta(seconds=30)
#: Certificates that are asked for in a minute: made-up names must not become a flood of questions.
_MOST_FETCHES: Final = 30
_LEAST_BITS: Final = 2048

#: Gets what stands at an address of Amazon's: the status and the content.
Fetch: TypeAlias = Callable[[str], Awaitable[tuple[int, bytes]]]


class SnsMessage(Struct, frozen=True, kw_only=True):
    """What SNS sends."""

    type: Literal["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"] = field(name="Type")
    message_id: str = field(name="MessageId")
    topic_arn: str = field(name="TopicArn")
    message: str = field(name="Message")
    timestamp: str = field(name="Timestamp")
    signature_version: str = field(name="SignatureVersion")
    signature: str = field(name="Signature")
    signing_cert_url: str = field(name="SigningCertURL")
    subject: str | None = field(default=None, name="Subject")
    token: str | None = field(default=None, name="Token")
    subscribe_url: str | None = field(default=None, name="SubscribeURL")

    def __repr__(self) -> str:
        return f"SnsMessage(type={self.type!r}, message_id={self.message_id!r})"


async def fetch(url: str) -> tuple[int, bytes]:
    """From Amazon, over TLS that is checked; redirects lead nowhere else."""
    sender = HttpSender(
        guard=public_only, connections=1, connect_seconds=5.0, timeout_seconds=_SECONDS_TO_FETCH
    )
    try:
        answer = await sender.call(HttpRequest(method="GET", url=url))
    except Exception:  # noqa: BLE001  # whatever goes wrong on the way, there is no answer
        return 0, b""
    finally:
        await sender.close()
    return answer.status, answer.content


def string_to_sign(message: SnsMessage) -> bytes:
    """What the signature is made over: names and values, each on lines of their own, in the order of the names."""
    fields = [("Message", message.message), ("MessageId", message.message_id)]
    if message.type == "Notification":
        # A notification without a subject has no line for one.
        fields += [("Subject", message.subject)] if message.subject is not None else []
        fields += [("Timestamp", message.timestamp)]
    else:
        fields += [
            ("SubscribeURL", message.subscribe_url or ""),
            ("Timestamp", message.timestamp),
            ("Token", message.token or ""),
        ]
    fields += [("TopicArn", message.topic_arn), ("Type", message.type)]
    return "".join(f"{name}\n{value}\n" for name, value in fields).encode("utf-8", "surrogatepass")


class Certificates:
    """The public keys that SNS signs with, each fetched once."""

    def __init__(self, fetch: Fetch = fetch) -> None:
        self._fetch = fetch
        self._known: OrderedDict[str, Certificate] = OrderedDict()
        self._failed: OrderedDict[str, datetime] = OrderedDict()
        self._fetches: list[datetime] = []

    def know(self, url: str, pem: bytes) -> None:
        """This is the certificate at that address: for who has no way to Amazon."""
        from cryptography.x509 import load_pem_x509_certificate

        self._known[url] = load_pem_x509_certificate(pem)
        while len(self._known) > _MOST_CERTIFICATES:
            self._known.popitem(last=False)

    async def key(self, url: str, now: datetime) -> RSAPublicKey | None:
        """The key at that address; None where there is none that is good. An `UnavailableError` where that can't be found out now."""
        certificate = self._known.get(url)
        if certificate is None:
            certificate = await self._fetched(url, now)
        if certificate is None:
            return None
        if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
            self._known.pop(url, None)
            return None
        key = certificate.public_key()
        return key if isinstance(key, RSAPublicKey) and key.key_size >= _LEAST_BITS else None

    async def _fetched(self, url: str, now: datetime) -> "Certificate | None":
        failed_at = self._failed.get(url)
        self._fetches = [one for one in self._fetches if now - one < timedelta(minutes=1)]
        if len(self._fetches) >= _MOST_FETCHES or (failed_at is not None and now - failed_at < _RETRY_AFTER):
            raise _no_certificate()
        self._fetches.append(now)
        status, content = await self._fetch(url)
        if status == 200:
            try:
                self.know(url, content)
            except ValueError:
                status = 0
        if status != 200:
            self._failed[url] = now
            while len(self._failed) > _MOST_CERTIFICATES:
                self._failed.popitem(last=False)
            # Amazon says that there is no such thing: then nothing is signed with it.
            if status in {403, 404}:
                return None
            raise _no_certificate()
        self._failed.pop(url, None)
        return self._known[url]


def is_certificate_of(url: str, topic: str) -> bool:
    """Whether the address is one of Amazon's own, in the topic's region."""
    return _is_of(_CERTIFICATE_URL, url, topic)


def is_confirmation_of(url: str, topic: str) -> bool:
    """Whether a GET there confirms a subscription at Amazon's own host, in the topic's region."""
    return _is_of(_SUBSCRIBE_URL, url, topic)


def is_signed_by(message: SnsMessage, key: RSAPublicKey) -> bool:
    """Whether the signature is this key's."""
    signature = exact_base64(message.signature)
    if signature is None or message.signature_version not in {"1", "2"}:
        return False
    digest = SHA256() if message.signature_version == "2" else SHA1()  # noqa: S303  # Amazon's first version
    try:
        key.verify(signature, string_to_sign(message), PKCS1v15(), digest)
    except InvalidSignature:
        return False
    return True


def _is_of(pattern: re.Pattern[str], url: str, topic: str) -> bool:
    found = pattern.fullmatch(url)
    return found is not None and found["region"] == topic.split(":")[3]


def _no_certificate() -> UnavailableError:
    return UnavailableError("the certificate of Amazon SNS can't be fetched right now; send it again")
