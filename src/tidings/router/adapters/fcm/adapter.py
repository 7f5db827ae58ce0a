"""Firebase Cloud Messaging: one project of Google's that reaches apps on Android, iOS and the web.

FCM knows no repeat: a message that is sent twice arrives twice. The same tag and the same collapse id let the second take
the place of the first on the screen, and no more.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.fcm.access_token import ServiceAccount, token_of
from tidings.router.adapters.http_client.access_token import CLOSED
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount, sender_of
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    CodeMeaning,
    answered,
    at,
    believed,
    code_seeds,
    text_at,
    verdict_by,
    verdict_of,
)
from tidings.router.adapters.kind import AdapterContext, AdapterKind
from tidings.router.adapters.push.devices import send_to_devices
from tidings.router.adapters.setting_types import PRINTABLE
from tidings.router.adapters.signing_keys import rsa_key

_MOST_TOKEN: Final = 4096
#: What Apple's tokens and browsers' subscriptions look like, and FCM's never. It would say that there is no such device, which
#: must not cost those theirs who are reached by another vendor.
_ANOTHERS: Final = re.compile(r"[0-9A-Fa-f]{64,}|\{.*")
_MOST_COLLAPSE_ID: Final = 64
_FCM_ERROR: Final = "type.googleapis.com/google.firebase.fcm.v1.FcmError"
_BAD_REQUEST: Final = "type.googleapis.com/google.rpc.BadRequest"
_DEVICE_FIELD: Final = "message.token"
#: The documentation's own example of a bad token has these words, and no field.
_BAD_DEVICE_WORDS: Final = "The registration token is not a valid FCM registration token"
#: INVALID_ARGUMENT, where it is about the device.
_BAD_DEVICE: Final = "INVALID_ARGUMENT:token"
_UNAUTHENTICATED: Final = "UNAUTHENTICATED"
#: What FCM keeps for itself among the keys of `data`.
_RESERVED: Final = re.compile(r"from|message_type|(google|gcm).*", re.IGNORECASE)

#: `errorCode` of an FcmError, or the `status` beside it → what it means for the message, and how it is kept.
#: firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode; the last ones are statuses of all Google APIs.
_CODES: Final[Mapping[str, CodeMeaning]] = {
    "UNREGISTERED": ("refused", "failed_perm", "invalid_address"),
    _BAD_DEVICE: ("refused", "failed_perm", "invalid_address"),
    "INVALID_ARGUMENT": ("refused", "rejected_by_provider", "bad_request"),
    # The device belongs to another project.
    "SENDER_ID_MISMATCH": ("refused", "rejected_by_provider", "sender_mismatch"),
    "QUOTA_EXCEEDED": ("try_later", "failed_temp", "throttled"),
    "RESOURCE_EXHAUSTED": ("try_later", "failed_temp", "throttled"),
    "UNAVAILABLE": ("try_later", "failed_temp", "unavailable"),
    "INTERNAL": ("try_later", "failed_temp", "unavailable"),
    # What the project has for APNs or for browsers is wrong.
    "THIRD_PARTY_AUTH_ERROR": ("try_later", "failed_temp", "credentials"),
    _UNAUTHENTICATED: ("try_later", "failed_temp", "credentials"),
    "PERMISSION_DENIED": ("try_later", "failed_temp", "credentials"),
    # Without an FcmError it is the project that is not found.
    "NOT_FOUND": ("try_later", "failed_temp", "account_unready"),
}

_Note = Annotated[str, Meta(max_length=2048)]


class FcmSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One project, and the service account that sends for it: the file that Google gives is one of these."""

    api_url: ApiUrl = "https://fcm.googleapis.com"
    project_id: Annotated[
        str,
        Meta(pattern=r"^[a-z0-9.:-]{4,100}\Z", description="must be a project's id such as green-shop-1a2b"),
    ]
    client_email: Annotated[
        str,
        Meta(
            max_length=320, pattern=r"^[!-~]+@[!-~]+\Z", description="must be the service account's address"
        ),
    ]
    #: RSA, in PEM. One of more than some 5000 bits takes seconds to be looked at.
    private_key: Annotated[str, Meta(min_length=1, max_length=4096)]
    #: Which of the account's keys it is.
    private_key_id: (
        Annotated[str, Meta(max_length=200, pattern=r"^[!-~]*\Z", description=PRINTABLE)] | None
    ) = None
    token_uri: ApiUrl = "https://oauth2.googleapis.com/token"  # noqa: S105  # where tokens come from
    #: How long FCM keeps a message for a device that is off.
    ttl_seconds: Annotated[int, Meta(ge=0, le=2_419_200)] = 86_400
    #: Stands in Google's file, and is not needed.
    type: Literal["service_account"] | None = None
    client_id: _Note | None = None
    auth_uri: _Note | None = None
    auth_provider_x509_cert_url: _Note | None = None
    client_x509_cert_url: _Note | None = None
    universe_domain: _Note | None = None

    def __repr__(self) -> str:
        return f"FcmSettings(project_id={self.project_id!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """How a set is sent."""

    token: str = field(repr=False)
    #: FCM only says what it would say.
    dry: bool


class FcmAdapter:
    """Hands messages to one project."""

    name = "fcm"
    channels = frozenset({"push"})
    capabilities = Capabilities()

    def __init__(self, settings: FcmSettings, around: AdapterContext) -> None:
        clock, guard = around.clock, around.guard
        self._settings = settings
        self._clock = clock
        self._url = f"{settings.api_url.rstrip('/')}/v1/projects/{settings.project_id}/messages:send"
        self._sender = sender_of(settings, guard)
        # Its own: a send must not wait for a connection that waits for a token.
        self._token_sender = sender_of(msgspec.structs.replace(settings, connections=1), guard)
        remedy = "must be the private key in PEM that Google gave with the service account"
        account = ServiceAccount(
            client_email=settings.client_email,
            key=rsa_key(settings.private_key, "private_key", remedy),
            key_id=settings.private_key_id,
            token_uri=settings.token_uri,
        )
        self._token = token_of(account, self._token_sender, clock=clock)
        self._closed = False

    @property
    def longest_send(self) -> timedelta:
        """A call of `send` has returned after this; a token may have to be got first."""
        return self._sender.longest_send + timedelta(seconds=self._settings.timeout_seconds)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        return await send_to_devices(messages, partial(self._send, within=within), learned)

    async def dry_call(self, message: OutboundMessage) -> Outcome:
        """FCM looks at it all, and sends nothing."""
        (outcome,) = await send_to_devices([message], partial(self._send, dry=True))
        if isinstance(outcome, Unlearned):
            return TryLater(reason=outcome.reason, code="connection")
        return outcome

    async def check(self) -> Outcome:
        """Get a token: Google knows the service account."""
        token = await self._token.get()
        return Accepted() if isinstance(token, str) else token

    async def close(self) -> None:
        """End all connections."""
        self._closed = True
        await self._token.close()
        await self._token_sender.close()
        await self._sender.close()

    async def _send(
        self,
        messages: Sequence[OutboundMessage],
        learned: list[Outcome],
        *,
        within: float | None = None,
        dry: bool = False,
    ) -> None:
        token = CLOSED if self._closed else await self._token.get(within=within)
        if isinstance(token, Refused):
            # Nothing is wrong with the messages.
            token = TryLater(reason=token.reason, code=token.code)
        if isinstance(token, TryLater):
            learned[:] = [token] * len(messages)
            return
        way = _Way(token=token, dry=dry)
        await self._sender.send(
            messages,
            ask=partial(self._request, way),
            read=partial(self._outcome, way),
            within=within,
            learned=learned,
        )

    def _request(self, way: _Way, message: OutboundMessage) -> HttpRequest:
        body: dict[str, Any] = {"message": self._message(message)}
        if way.dry:
            body["validate_only"] = True
        return HttpRequest.json(self._url, body, {"Authorization": f"Bearer {way.token}"})

    def _message(self, message: OutboundMessage) -> dict[str, Any]:
        to, ttl = message.to, self._settings.ttl_seconds
        plain = to.isascii() and to.isprintable() and " " not in to
        if not to or len(to) > _MOST_TOKEN or not plain or _ANOTHERS.fullmatch(to):
            raise BadValueError("to", "must be FCM's token of a device")
        if not message.text:
            raise BadValueError("text", "is needed")
        shown = (
            {"title": message.subject, "body": message.text} if message.subject else {"body": message.text}
        )
        expires = int(self._clock.now().timestamp()) + ttl if ttl else 0
        return {
            "token": to,
            "notification": shown,
            "data": _data(message.metadata),
            "android": {
                "priority": "HIGH" if message.urgent else "NORMAL",
                "ttl": f"{ttl}s",
                # What is shown under the same tag is replaced.
                "notification": {"tag": message.message_id},
            },
            "apns": {
                "headers": {
                    "apns-priority": "10" if message.urgent else "5",
                    "apns-expiration": str(expires),
                    "apns-collapse-id": message.message_id[:_MOST_COLLAPSE_ID],
                },
                "payload": {"aps": {"sound": "default"}},
            },
            "webpush": {"headers": {"Urgency": "high" if message.urgent else "normal", "TTL": str(ttl)}},
        }

    def _outcome(self, way: _Way, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        said = answer.json()
        verdict = verdict_of(answer.status)
        if verdict == "accepted":
            name = text_at(said, "name")
            return (
                NO_MESSAGE_ID if name is None else Accepted(provider_message_id=name.rpartition("/")[2][:200])
            )
        code = _code(said)
        if code == _UNAUTHENTICATED:
            self._token.forget(way.token)
        verdict = believed(verdict, answer, theirs=code is not None)
        return answered(
            verdict_by(_CODES, code, verdict),
            answer,
            message,
            clock=self._clock,
            code=code,
            words=text_at(said, "error.message"),
        )


def _data(metadata: Mapping[str, object]) -> dict[str, str]:
    """Texts as they are, anything else as JSON: FCM takes texts only."""
    for key in metadata:
        if _RESERVED.fullmatch(key):
            raise BadValueError(
                "metadata", "must have no key that FCM keeps for itself: from, message_type, google…, gcm…"
            )
    return {
        key: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for key, value in metadata.items()
    }


def _code(said: Any) -> str | None:
    """What went wrong: FCM's own word before that of all Google APIs; of a bad argument whether the device is meant."""
    details = at(said, "error.details")
    code, bad_token = text_at(said, "error.status"), False
    for detail in details if isinstance(details, list) else ():
        kind = at(detail, "@type")
        if kind == _FCM_ERROR:
            code = text_at(detail, "errorCode") or code
        elif kind == _BAD_REQUEST:
            fields = at(detail, "fieldViolations")
            named = fields if isinstance(fields, list) else ()
            bad_token = bad_token or any(at(one, "field") == _DEVICE_FIELD for one in named)
    words = at(said, "error.message")
    if code == "INVALID_ARGUMENT" and (
        bad_token or (isinstance(words, str) and words.startswith(_BAD_DEVICE_WORDS))
    ):
        return _BAD_DEVICE
    return code


KIND = AdapterKind(
    adapter=FcmAdapter,
    title="Firebase Cloud Messaging (HTTP v1)",
    settings=FcmSettings,
    credential_fields=("private_key",),
    main_credential="private_key",
    statuses=code_seeds(_CODES),
)
