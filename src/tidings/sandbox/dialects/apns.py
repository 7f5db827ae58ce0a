"""APNs as its provider API speaks it: `POST /3/device/{token}` over HTTP/2, with a token that the sender signs for itself.

Facts are those of developer.apple.com: "Sending notification requests to APNs", "Handling notification responses from APNs",
"Establishing a token-based connection to APNs".
"""

import base64
import binascii
import re
import uuid
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.kernel.clock import Clock, SystemClock
from tidings.sandbox.dialects.dialect import Dialect, SubmittedMessage, Trouble
from tidings.sandbox.http_messages import SandboxRequest, SandboxResponse, json_answer

_PATH: Final = re.compile(r"/3/device/(?P<device>[^/]*)")
#: Tokens are at most 100 bytes long, and Apple may change how long they are; one of zeros is no device's.
_DEVICE: Final = re.compile(r"(?=.*[1-9A-Fa-f])(?:[0-9A-Fa-f]{2}){32,100}")
_NAME: Final = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")
_TOPIC: Final = re.compile(r"[A-Za-z0-9.-]{1,255}")
_TEN: Final = re.compile(r"[A-Za-z0-9]{10}")
_KINDS: Final = frozenset(
    "alert background complication controls fileprovider liveactivity location mdm pushtotalk voip widgets".split()  # noqa: SIM905
)
_MOST_BYTES: Final = 4096
_MOST_BYTES_OF_A_CALL: Final = 5120
_MOST_COLLAPSE_ID: Final = 64
#: Seconds for which a token is good, and by which a clock may be wrong.
_HOUR: Final = 3600
_SKEW: Final = 300

#: Why Apple says no.
_REFUSALS: Final[Mapping[Trouble, tuple[int, str]]] = {
    "invalid_recipient": (400, "BadDeviceToken"),
    "blocked": (410, "Unregistered"),
    "throttled": (429, "TooManyRequests"),
    "unavailable": (503, "ServiceUnavailable"),
    "unauthorised": (403, "InvalidProviderToken"),
}


class ApnsDialect(Dialect):
    """Plays Apple."""

    name = "apns"
    tells = False

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()

    def read(self, request: SandboxRequest) -> SubmittedMessage | SandboxResponse:
        """A notification for the device behind the path."""
        if request.version != "2":
            return SandboxResponse(
                status=426,
                headers={"Upgrade": "h2c"},
                body=b"Apple speaks HTTP/2 only: the sandbox has a port of its own for that\n",
            )
        name = request.headers.get("apns-id", "")
        if name and not _NAME.fullmatch(name):
            return _no(400, "BadMessageId", str(uuid.uuid4()))
        no = self._complaint(request)
        if no is not None:
            return _no(*no, name)
        device = request.path.rpartition("/")[2]
        title, text = _shown(request.body)
        return SubmittedMessage(
            channel="push",
            sender=request.headers["apns-topic"],
            to=(device.lower(),),
            reference=name,
            subject=title,
            text=text,
        )

    def accepted(self, asked: SubmittedMessage, message_id: str) -> SandboxResponse:
        """Nothing but the name: the sender's, or one of Apple's."""
        return SandboxResponse(
            headers={"apns-id": asked.reference or str(uuid.uuid5(uuid.NAMESPACE_OID, message_id))}
        )

    def refused(self, asked: SubmittedMessage, trouble: Trouble, retry_after: int | None) -> SandboxResponse:
        """Apple's number and word; it never says how long to wait."""
        status, reason = _REFUSALS[trouble]
        # Since when there is no such device: the only thing that Apple adds to a word.
        since = int(self._clock.now().timestamp() * 1000) if trouble == "blocked" else None
        return _no(status, reason, asked.reference, since=since)

    def _complaint(self, request: SandboxRequest) -> tuple[int, str] | None:
        """What is wrong with it: the request first, then who sends it, then the message."""
        path = _PATH.fullmatch(request.path)
        if path is None:
            return 404, "BadPath"
        if request.method != "POST":
            return 405, "MethodNotAllowed"
        reason = self._token_trouble(request.headers.get("authorization", ""))
        if reason is not None:
            return 403, reason
        reason = _header_trouble(request.headers)
        if reason is not None:
            return 400, reason
        if not path["device"]:
            return 400, "MissingDeviceToken"
        if not _DEVICE.fullmatch(path["device"]):
            return _REFUSALS["invalid_recipient"]
        most = _MOST_BYTES_OF_A_CALL if request.headers.get("apns-push-type") == "voip" else _MOST_BYTES
        if len(request.body) > most:
            return 413, "PayloadTooLarge"
        return None if _object(request.body) is not None else (400, "PayloadEmpty")

    def _token_trouble(self, header: str) -> str | None:
        """Apple's word for what is wrong with the sender's token; whose key signed it is not known here."""
        scheme, _, token = header.strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            return "MissingProviderToken"
        try:
            head, claims, signature = (_decoded(part) for part in token.strip().split("."))
        except (ValueError, binascii.Error):
            return "InvalidProviderToken"
        signs, says = _object(head) or {}, _object(claims) or {}
        made = says.get("iat")
        if (
            signs.get("alg") != "ES256"
            or not _TEN.fullmatch(str(signs.get("kid")))
            or not _TEN.fullmatch(str(says.get("iss")))
            or not isinstance(made, int)
            or len(signature) != 64
        ):
            return "InvalidProviderToken"
        age = int(self._clock.now().timestamp()) - made
        return None if -_SKEW <= age <= _HOUR else "ExpiredProviderToken"


def _header_trouble(headers: Mapping[str, str]) -> str | None:
    """Apple's word for the first header that is wrong."""
    topic = headers.get("apns-topic", "")
    if not topic:
        return "MissingTopic"
    if not _TOPIC.fullmatch(topic):
        return "BadTopic"
    if headers.get("apns-push-type", "alert") not in _KINDS:
        return "InvalidPushType"
    if headers.get("apns-priority", "10") not in {"10", "5", "1"}:
        return "BadPriority"
    until = headers.get("apns-expiration", "0")
    if not (until.isascii() and until.isdecimal() and len(until) <= 19):
        return "BadExpirationDate"
    if len(headers.get("apns-collapse-id", "").encode()) > _MOST_COLLAPSE_ID:
        return "BadCollapseId"
    return None


def _shown(body: bytes) -> tuple[str | None, str]:
    """Title and text, as the device shows them."""
    aps = (_object(body) or {}).get("aps")
    alert = aps.get("alert") if isinstance(aps, dict) else None
    if isinstance(alert, str):
        return None, alert
    if not isinstance(alert, dict):
        return None, "(for the app alone: nothing is shown)"
    title = alert.get("title", alert.get("title-loc-key"))
    text = alert.get("body", alert.get("loc-key"))
    return title if isinstance(title, str) else None, text if isinstance(text, str) else ""


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        return msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _no(status: int, reason: str, name: str, *, since: int | None = None) -> SandboxResponse:
    told: dict[str, Any] = {"reason": reason} if since is None else {"reason": reason, "timestamp": since}
    return json_answer(told, status=status, headers={"apns-id": name or str(uuid.uuid4())})
