"""Web Push (RFC 8030): messages to browsers, through whichever push service each of them named when it subscribed.

The address is that subscription, and it comes from a person's browser. So it is asked as little as possible: only https, only
public addresses for every owner of the account, and nothing of it is told.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.egress import Guard, public_only
from tidings.kernel.errors import BadValueError
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.account import ApiUrl, HttpAccount, sender_of
from tidings.router.adapters.http_client.answers import (
    NO_MESSAGE_ID,
    CodeMeaning,
    Verdict,
    at,
    code_seeds,
    verdict_of,
)
from tidings.router.adapters.http_client.one_request import OneRequestAdapter
from tidings.router.adapters.http_client.sender import UntrustedHostLimits
from tidings.router.adapters.kind import AdapterContext, AdapterKind, StatusSeed
from tidings.router.adapters.push.devices import send_to_devices
from tidings.router.adapters.webpush.encryption import encrypt
from tidings.router.adapters.webpush.subscription import read_subscription
from tidings.router.adapters.webpush.vapid import Vapid, read_vapid_key

_MOST_ID: Final = 200
#: Answers with which a push service has taken a message: created, or with a receipt that was not asked for.
_TAKEN: Final = frozenset({201, 202})
#: A subscription that leads to a forbidden address.
_BLOCKED: Final = "endpoint_not_allowed"
#: A 404 of a server that is no push service.
_ASTRAY: Final = "404:api_url"

#: Their status → what it means for the message, and how it is kept. RFC 8030; 403 and 406 as push services document them.
_CODES: Final[Mapping[str, CodeMeaning]] = {
    "400": ("refused", "rejected_by_provider", "bad_request"),
    # Our token, or a subscription that was made for another key.
    "401": ("try_later", "failed_temp", "credentials"),
    "403": ("try_later", "failed_temp", "credentials"),
    "404": ("refused", "failed_perm", "invalid_address"),
    # An `api_url` that leads nowhere must not cost all recipients their subscription.
    _ASTRAY: ("try_later", "failed_temp", "account_unready"),
    # Windows: too many.
    "406": ("try_later", "failed_temp", "throttled"),
    "410": ("refused", "failed_perm", "invalid_address"),
    "413": ("refused", "rejected_by_provider", "content_too_large"),
    "429": ("try_later", "failed_temp", "throttled"),
    "500": ("try_later", "failed_temp", "unavailable"),
    "503": ("try_later", "failed_temp", "unavailable"),
}
_VERDICTS: Final[Mapping[str, Verdict]] = {code: meaning[0] for code, meaning in _CODES.items()}
_SEEDS: Final = (
    *code_seeds(_CODES),
    # Not `invalid_address`: a name server of ours that is astray must not cost all recipients their subscription.
    StatusSeed(code=_BLOCKED, canonical="rejected_by_provider", reason="endpoint_not_allowed"),
)


class WebPushSettings(HttpAccount, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One sender, as browsers know it by its key."""

    #: P-256: 32 bytes in base64url, or PEM.
    vapid_private_key: Annotated[str, Meta(min_length=1, max_length=4096)]
    #: What browsers were given when they subscribed; only to notice a key that is another's.
    vapid_public_key: Annotated[str, Meta(max_length=200)] | None = None
    #: The contact for the operator of a push service.
    subject: Annotated[
        str,
        Meta(
            max_length=500,
            pattern=r"^(mailto:[!-~]+@[!-~]+|https://[!-~]+)\Z",
            description="must be mailto: and an address, or an https address",
        ),
    ]
    #: How long a push service keeps a message for a browser that is off.
    ttl_seconds: Annotated[int, Meta(ge=0, le=2_419_200)] = 86_400
    #: Shorter than elsewhere: subscriptions name the hosts, and a set is not over before each has answered or had its time.
    timeout_seconds: Annotated[float, Meta(gt=0, le=600)] = 5.0
    #: Everything goes there instead of to the push services that subscriptions name: for a sandbox.
    api_url: ApiUrl | None = None

    def __repr__(self) -> str:
        return f"WebPushSettings(subject={self.subject!r})"


class WebPushAdapter(OneRequestAdapter[WebPushSettings]):
    """Hands messages to the push services of browsers."""

    name = "webpush"
    channels = frozenset({"push"})
    capabilities = Capabilities()

    def __init__(self, settings: WebPushSettings, around: AdapterContext) -> None:
        guard = around.guard if settings.api_url is not None else _strict(around.guard)
        super().__init__(settings, around, sender=sender_of(settings, guard, UntrustedHostLimits()))
        key = read_vapid_key(settings.vapid_private_key, "vapid_private_key")
        given = settings.vapid_public_key
        if given is not None and given.strip().rstrip("=") != key.public:
            raise BadValueError("vapid_public_key", "must belong to vapid_private_key, or be left out")
        self._vapid = Vapid(key, settings.subject, clock=around.clock)

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """One outcome each, in the same order."""
        return await send_to_devices(messages, partial(self._send, within=within), learned)

    async def check(self) -> Outcome | None:
        """There is no server to ask without a browser."""
        return None

    async def _send(
        self, messages: Sequence[OutboundMessage], learned: list[Outcome], *, within: float | None
    ) -> None:
        await super().send(messages, within=within, learned=learned)
        if self._settings.api_url is None:
            learned[:] = [_not_there(outcome) for outcome in learned]

    def ask(self, message: OutboundMessage) -> HttpRequest:
        """The message as a request to the push service of its browser."""
        browser = read_subscription(message.to)
        if not message.text:
            raise BadValueError("text", "is needed")
        headers = {
            "Authorization": self._vapid.authorization(browser.origin),
            "Content-Encoding": "aes128gcm",
            "Content-Type": "application/octet-stream",
            "TTL": str(self._settings.ttl_seconds),
            "Urgency": "high" if message.urgent else "normal",
            # What waits under the same topic is replaced: a repeat, where the first has not arrived yet.
            "Topic": _topic(message.message_id),
        }
        body = encrypt(
            msgspec.json.encode(_shown(message)), public_key=browser.public_key, secret=browser.secret
        )
        instead = self._settings.api_url
        url = browser.endpoint if instead is None else instead.rstrip("/") + browser.path
        return HttpRequest(url=url, headers=headers, body=body)

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the answer means."""
        verdict = verdict_of(answer.status, _VERDICTS)
        if verdict == "accepted":
            found = answer.headers.get("Location") or answer.headers.get("apns-id")
            if found is None and answer.status not in _TAKEN:
                return NO_MESSAGE_ID
            # Without the host: it says which browser the person has.
            name = (found or "").rstrip("/").rpartition("/")[2][:_MOST_ID]
            return Accepted(
                provider_message_id=name if name.isascii() and name.isprintable() and name else None
            )
        if answer.status == 404 and self._settings.api_url is not None and not _is_theirs(answer):
            return self._answered("try_later", answer, message, code=_ASTRAY)
        # Nothing of their words: they may hold the endpoint.
        return self._answered(verdict, answer, message)


def _strict(guard: Guard) -> Guard:
    """No browser's subscription leads us into a network of our own, whatever the account may."""
    return lambda address: public_only(address) and guard(address)


def _is_theirs(answer: HttpAnswer) -> bool:
    """Whether a push service says so: the sandbox has autopush's numbers beside HTTP's."""
    return at(answer.json(), "errno") is not None


def _not_there(outcome: Outcome) -> Outcome:
    """Where we may not connect to is no trouble of the account's: this subscription leads there."""
    if isinstance(outcome, TryLater) and outcome.code == "address":
        return Refused(reason="the subscription leads where we may not connect to", code=_BLOCKED)
    return outcome


def _shown(message: OutboundMessage) -> dict[str, Any]:
    """What the page's service worker gets; all but `data` is as `showNotification` wants it."""
    shown: dict[str, Any] = {"body": message.text, "tag": message.message_id}
    if message.subject:
        shown["title"] = message.subject
    if message.metadata:
        shown["data"] = dict(message.metadata)
    return shown


def _topic(message_id: str) -> str:
    """32 characters of base64url, as long as a topic can be."""
    digest = hashlib.blake2b(message_id.encode(), digest_size=24).digest()
    return base64.urlsafe_b64encode(digest).decode()


KIND = AdapterKind(
    adapter=WebPushAdapter,
    title="Web Push (browsers, VAPID)",
    settings=WebPushSettings,
    credential_fields=("vapid_private_key",),
    main_credential="vapid_private_key",
    statuses=_SEEDS,
)
