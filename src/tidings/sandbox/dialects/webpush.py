"""A push service for browsers (RFC 8030): takes what is sent to any endpoint, and looks at who sends it (RFC 8292).

What is sent is encrypted for a browser. There is one browser here, with a published key, so that a message for it can
be shown; those for others are taken unread.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tidings.kernel.clock import Clock, SystemClock
from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer

_VAPID = re.compile(r"vapid (?=.*\bt=(?P<token>[\w.-]+))(?=.*\bk=(?P<key>[\w-]+))", re.IGNORECASE)
_MOST_BYTES: Final = 4096
_HEADER: Final = 86
_LEAST_BYTES: Final = _HEADER + 17
_DAY: Final = 24 * 3600
#: The browser of RFC 8291, appendix A.
_PRIVATE: Final = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
_AUTH: Final = "BTBZMqHH6r4Tts7J_aSIgg"

#: Why a push service says no; autopush.readthedocs.io has these numbers beside HTTP's.
_REFUSALS: Final[Mapping[Trouble, tuple[int, int, str]]] = {
    "invalid_recipient": (404, 102, "Not Found"),
    "blocked": (410, 106, "Gone"),
    "throttled": (429, 202, "Too Many Requests"),
    "unavailable": (503, 201, "Service Unavailable"),
    "unauthorised": (401, 109, "Unauthorized"),
}


class WebPushDialect(Dialect):
    """Plays a push service."""

    name = "webpush"
    tells = False

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A message for the browser behind the path."""
        if request.method != "POST" or request.path in {"", "/"}:
            return _said(404, 102, "Not Found")
        sender = self._sender(request.headers.get("authorization", ""))
        if sender is None:
            return _said(*_REFUSALS["unauthorised"])
        ttl = request.headers.get("ttl", "")
        if not ttl.isdecimal():
            return _said(400, 111, "Missing or invalid TTL")
        if request.headers.get("content-encoding") != "aes128gcm" or len(request.body) < _LEAST_BYTES:
            return _said(400, 110, "Invalid crypto headers")
        if len(request.body) > _MOST_BYTES:
            return _said(413, 104, "Payload Too Large")
        shown = _opened(request.body)
        return SubmittedMessage(
            channel="push",
            sender=sender,
            to=(request.path,),
            subject=shown.get("title"),
            text=shown.get("body", "(encrypted for a browser that is not here)"),
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Created, with the place of the message."""
        return SandboxResponse(
            status=201, headers={"Location": f"https://push.sandbox.test/m/{message_id}", "TTL": "0"}
        )

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """A push service's number and words."""
        return _said(*_REFUSALS[trouble], retry_after=retry_after)

    def _sender(self, header: str) -> str | None:
        """The sender that signed the request, if the signature and the time are good."""
        found = _VAPID.match(header)
        if found is None:
            return None
        try:
            signed, _, signature = found["token"].rpartition(".")
            point, proof = _decoded(found["key"]), _decoded(signature)
            key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
            r, s = int.from_bytes(proof[:32], "big"), int.from_bytes(proof[32:], "big")
            key.verify(encode_dss_signature(r, s), signed.encode(), ec.ECDSA(SHA256()))
            claims = msgspec.json.decode(_decoded(signed.partition(".")[2]), type=dict[str, Any])
        except (ValueError, binascii.Error, InvalidSignature, msgspec.MsgspecError):
            return None
        ends, left = claims.get("exp"), 0.0
        if isinstance(ends, int | float):
            left = ends - int(self._clock.now().timestamp())
        if not 0 < left <= _DAY or not str(claims.get("aud", "")).startswith("https://"):
            return None
        sender = claims.get("sub")
        return sender if isinstance(sender, str) else "somebody"


def subscription(endpoint: str) -> dict[str, Any]:
    """How the one browser here is subscribed, at an endpoint of your choice."""
    key = ec.derive_private_key(int.from_bytes(_decoded(_PRIVATE), "big"), ec.SECP256R1())
    point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    public = base64.urlsafe_b64encode(point).rstrip(b"=").decode()
    return {"endpoint": endpoint, "keys": {"p256dh": public, "auth": _AUTH}}


def _opened(body: bytes) -> dict[str, str]:
    """Title and text, if it is for the one browser here."""
    key = ec.derive_private_key(int.from_bytes(_decoded(_PRIVATE), "big"), ec.SECP256R1())
    own = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    salt, theirs, sealed = body[:16], body[21:_HEADER], body[_HEADER:]
    try:
        point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), theirs)
        shared = key.exchange(ec.ECDH(), point)
        material = _derived(shared, _decoded(_AUTH), b"WebPush: info\x00" + own + theirs, 32)
        secret = _derived(material, salt, b"Content-Encoding: aes128gcm\x00", 16)
        nonce = _derived(material, salt, b"Content-Encoding: nonce\x00", 12)
        text = AESGCM(secret).decrypt(nonce, sealed, None).rstrip(b"\x00").removesuffix(b"\x02")
        shown = msgspec.json.decode(text, type=dict[str, Any])
    except (ValueError, InvalidTag, msgspec.MsgspecError):
        return {}
    return {name: value for name, value in shown.items() if isinstance(value, str)}


def _derived(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(material)


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _said(status: int, number: int, words: str, *, retry_after: int | None = None) -> SandboxResponse:
    return json_answer(
        {"code": status, "errno": number, "error": words}, status=status, retry_after=retry_after
    )
