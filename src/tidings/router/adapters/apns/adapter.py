"""Apple Push Notification service: one app of one team, over HTTP/2 with a token.

Apple knows no repeat: `apns-id` only names a message. The same collapse id lets a second one take the place of the first on the
screen.
"""

import re
import ssl
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.ca_bundle import trusting
from tidings.kernel.egress import host_and_port
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.router.adapters.apns.provider_token import ApnsToken
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    CodeMeaning,
    answered,
    believed,
    code_seeds,
    text_at,
    verdict_by,
    verdict_of,
)
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.push.devices import send_to_devices
from tidings.router.adapters.signing_keys import ec_key

if TYPE_CHECKING:
    from tidings.router.adapters.apns.sender import Http2Request

_DEVICE: Final = re.compile(r"[0-9A-Fa-f]{16,400}")
_MOST_BYTES: Final = 4096
_MOST_COLLAPSE_ID: Final = 64
#: Names of messages are made of ours under this one: the same for the same message and device.
_NAMES: Final = uuid.UUID("5f2c7c0e-5d3b-5f0a-9f39-6f2d3c1b7a44")
#: No device has it: asked for a check, so that no device gets anything.
_NOBODY: Final = "0" * 64
_EXPIRED: Final = "ExpiredProviderToken"
_BAD_DEVICE: Final = "BadDeviceToken"
#: The same where another device of the person took the message: then the environment is right, and the device is wrong.
_BAD_BESIDE_GOOD: Final = "BadDeviceToken:device"

_GONE: Final[CodeMeaning] = ("refused", "failed_perm", "invalid_address")
_BAD_REQUEST: Final[CodeMeaning] = ("refused", "rejected_by_provider", "bad_request")
_CREDENTIALS: Final[CodeMeaning] = ("try_later", "failed_temp", "credentials")
_TOPIC: Final[CodeMeaning] = ("try_later", "failed_temp", "topic_refused")
_THROTTLED: Final[CodeMeaning] = ("try_later", "failed_temp", "throttled")
_UNAVAILABLE: Final[CodeMeaning] = ("try_later", "failed_temp", "unavailable")
#: `reason` → what it means for the message, and how it is kept. developer.apple.com, "Handling notification responses from
#: APNs". What is about our key, our topic or our certificate is nothing of the message's.
_CODES: Final[Mapping[str, CodeMeaning]] = {
    "BadCertificate": _CREDENTIALS,
    "BadCertificateEnvironment": _CREDENTIALS,
    "BadCollapseId": _BAD_REQUEST,
    # Also what every device is, where api_url is that of the other environment: one that is gone is `Unregistered`.
    _BAD_DEVICE: ("refused", "failed_perm", "device_mismatch"),
    _BAD_BESIDE_GOOD: _GONE,
    "BadEnvironmentKeyIdInToken": _CREDENTIALS,
    "BadExpirationDate": _BAD_REQUEST,
    "BadMessageId": _BAD_REQUEST,
    "BadPath": _BAD_REQUEST,
    "BadPriority": _BAD_REQUEST,
    "BadTopic": _TOPIC,
    # Another app's: nothing is wrong with the device, and a topic that is set wrong must not cost all recipients theirs.
    "DeviceTokenNotForTopic": ("refused", "rejected_by_provider", "topic_mismatch"),
    "DuplicateHeaders": _BAD_REQUEST,
    _EXPIRED: _CREDENTIALS,
    "ExpiredToken": _GONE,
    "Forbidden": _CREDENTIALS,
    "IdleTimeout": _UNAVAILABLE,
    "InternalServerError": _UNAVAILABLE,
    "InvalidProviderToken": _CREDENTIALS,
    "InvalidPushType": _BAD_REQUEST,
    "MethodNotAllowed": _BAD_REQUEST,
    "MissingDeviceToken": _BAD_REQUEST,
    "MissingProviderToken": _CREDENTIALS,
    "MissingTopic": _TOPIC,
    "PayloadEmpty": _BAD_REQUEST,
    "PayloadTooLarge": ("refused", "rejected_by_provider", "content_too_large"),
    "ServiceUnavailable": _UNAVAILABLE,
    "Shutdown": _UNAVAILABLE,
    "TooManyProviderTokenUpdates": _THROTTLED,
    "TooManyRequests": _THROTTLED,
    "TopicDisallowed": _TOPIC,
    "Unregistered": _GONE,
    "UnrelatedKeyIdInToken": _CREDENTIALS,
}


class ApnsSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One app, and the key of the team that it belongs to."""

    #: `https://api.sandbox.push.apple.com` for apps that are being developed.
    api_url: ApiUrl = "https://api.push.apple.com"
    #: What the key file (`AuthKey_….p8`) holds, in PEM.
    private_key: Annotated[str, Meta(min_length=1, max_length=4096)]
    #: Which key it is: ten characters.
    key_id: Annotated[
        str, Meta(pattern=r"^[A-Z0-9]{10}\Z", description="must be a key's id such as ABC123DEFG")
    ]
    #: The team's: ten characters.
    team_id: Annotated[
        str, Meta(pattern=r"^[A-Z0-9]{10}\Z", description="must be a team's id such as DEF123GHIJ")
    ]
    #: The app: its bundle id.
    topic: Annotated[
        str,
        Meta(
            max_length=200,
            pattern=r"^[A-Za-z0-9.-]+\Z",
            description="must be an app's id such as com.example.app",
        ),
    ]
    #: How long Apple keeps a message for a device that is off; 0: not at all.
    ttl_seconds: Annotated[int, Meta(ge=0, le=2_592_000)] = 86_400
    #: Most messages at once, over one connection.
    connections: Annotated[int, Meta(ge=1, le=500)] = 100

    def __repr__(self) -> str:
        return f"ApnsSettings(topic={self.topic!r}, key_id={self.key_id!r})"


class ApnsAdapter:
    """Hands messages to one app."""

    name = "apns"
    channels = frozenset({"push"})
    capabilities = Capabilities()

    def __init__(self, settings: ApnsSettings, around: AdapterContext) -> None:
        clock, guard = around.clock, around.guard
        # Here, because HTTP/2 costs something to load: only those who send to Apple pay for it.
        from tidings.router.adapters.apns.connect import ApnsServer
        from tidings.router.adapters.apns.sender import ApnsSender

        self._settings = settings
        self._clock = clock
        key = ec_key(
            settings.private_key, "private_key", "must be the key in PEM of the .p8 file that Apple gave"
        )
        self._token = ApnsToken(key, key_id=settings.key_id, team_id=settings.team_id, clock=clock)
        place = host_and_port(settings.api_url)
        if place is None:
            raise BadValueError("api_url", "must be an address such as https://api.push.apple.com")
        host, port = place
        parts = urlsplit(settings.api_url.rstrip("/"))
        self._place = (parts.scheme, parts.netloc, parts.path)
        tls = parts.scheme == "https"
        server = ApnsServer(
            host=host,
            port=port or (443 if tls else 80),
            context=_context(settings.ca_file, settings.ca_pem) if tls else None,
            guard=guard,
        )
        self._sender = ApnsSender(
            server,
            streams=settings.connections,
            connect_seconds=settings.connect_seconds,
            timeout_seconds=settings.timeout_seconds,
            batch_seconds=settings.batch_seconds,
        )

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this."""
        return self._sender.longest_send

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        send = partial(self._sender.send, ask=self._request, read=self._outcome, within=within)
        return [_certain(outcome) for outcome in await send_to_devices(messages, send, learned)]

    async def check(self) -> Outcome:
        """Write to a device that does not exist: Apple looks at our token first."""
        answer = await self._sender.call(self._to(_NOBODY, {"aps": {}}, [("apns-priority", "5")]))
        if isinstance(answer, TryLater):
            return answer
        reason = text_at(answer.json(), "reason") or str(answer.status)
        if reason == _BAD_DEVICE or answer.status == 200:
            return Accepted()
        if answer.status == 403 or _CODES.get(reason) is _TOPIC:
            return Refused(
                reason=f"the vendor does not accept the key or the topic: {reason[:64]}", code=reason[:64]
            )
        return TryLater(reason=f"the vendor answered {answer.status}", code=str(answer.status))

    async def close(self) -> None:
        """End all connections."""
        await self._sender.close()

    def _request(self, message: OutboundMessage) -> "Http2Request":
        if not _DEVICE.fullmatch(message.to):
            raise BadValueError("to", "must be Apple's token of a device: hexadecimal digits")
        if not message.text:
            raise BadValueError("text", "is needed")
        ttl = self._settings.ttl_seconds
        headers = [
            ("apns-id", str(uuid.uuid5(_NAMES, f"{message.message_id} {message.to.lower()}"))),
            ("apns-priority", "10" if message.urgent else "5"),
            ("apns-expiration", str(int(self._clock.now().timestamp()) + ttl if ttl else 0)),
            ("apns-collapse-id", message.message_id[:_MOST_COLLAPSE_ID]),
        ]
        return self._to(message.to, _payload(message), headers)

    def _to(self, device: str, payload: Mapping[str, Any], more: Sequence[tuple[str, str]]) -> "Http2Request":
        from tidings.router.adapters.apns.sender import Http2Request

        body = msgspec.json.encode(payload)
        if len(body) > _MOST_BYTES:
            raise BadValueError(
                "text", f"is too long: with its subject and metadata {_MOST_BYTES} bytes can be sent"
            )
        scheme, authority, path = self._place
        headers = [
            (":method", "POST"),
            (":scheme", scheme),
            (":authority", authority),
            (":path", f"{path}/3/device/{device}"),
            ("authorization", f"bearer {self._token.get()}"),
            ("apns-topic", self._settings.topic),
            ("apns-push-type", "alert"),
            ("content-type", "application/json"),
            ("content-length", str(len(body))),
            ("user-agent", "tidings"),
            *more,
        ]
        return Http2Request(headers=headers, body=body)

    def _outcome(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        verdict = verdict_of(answer.status)
        if verdict == "accepted":
            name = answer.headers.get("apns-id", "")
            return Accepted(provider_message_id=name[:200]) if name else NO_MESSAGE_ID
        reason = text_at(answer.json(), "reason")
        if reason == _EXPIRED:
            self._token.expired()
        verdict = believed(verdict, answer, theirs=reason is not None)
        return answered(
            verdict_by(_CODES, reason, verdict),
            answer,
            message,
            clock=self._clock,
            code=reason,
            words=None if reason is None else f"the vendor answered {answer.status}: {reason}",
        )


def _certain(outcome: Outcome) -> Outcome:
    """Devices that Apple does not know, beside one that it does, by the code that says so."""
    if not isinstance(outcome, Accepted) or not outcome.others:
        return outcome
    others = tuple(
        replace(one, refused=replace(one.refused, code=_BAD_BESIDE_GOOD))
        if one.refused.code == _BAD_DEVICE
        else one
        for one in outcome.others
    )
    return replace(outcome, others=others)


def _payload(message: OutboundMessage) -> dict[str, Any]:
    alert = {"title": message.subject, "body": message.text} if message.subject else {"body": message.text}
    payload: dict[str, Any] = {"aps": {"alert": alert, "sound": "default"}}
    if message.metadata:
        payload["data"] = dict(message.metadata)
    return payload


def _context(ca_file: str | None, ca_pem: str | None) -> ssl.SSLContext:
    context = trusting(ca_file, ca_pem)
    context.set_alpn_protocols(["h2"])
    return context


KIND = AdapterKind(
    adapter=ApnsAdapter,
    title="Apple Push Notification service",
    settings=ApnsSettings,
    credential_fields=("private_key",),
    main_credential="private_key",
    statuses=code_seeds(_CODES),
)
