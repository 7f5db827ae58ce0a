"""What the sandbox's receivers of webhooks have heard: the newest calls of each, and never more memory than agreed."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import NotFoundError
from tidings.kernel.signed_webhooks.signature import ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from tidings.kernel.signed_webhooks.verify import SignatureVerdict, verdict_of
from tidings.sandbox.bell import Bell

MOST_RECEIVERS: Final = 50
#: Calls of one receiver.
MOST_CALLS: Final = 200
#: Of one body.
MOST_BODY: Final = 64 * 1024
#: Of all calls together.
MOST_BYTES: Final = 32 * 1024 * 1024
_MOST_HEADER: Final = 4096
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardWebhook:
    """One call of a receiver, and what it was answered."""

    #: Counts up from one, over all receivers.
    number: int
    method: str
    headers: Mapping[str, str] = field(repr=False)
    #: At most so much of it as is kept.
    body: bytes = field(repr=False)
    #: How large it was.
    body_bytes: int
    received_at: datetime
    #: Which call with this `webhook-id` it is; 1 where it has none.
    attempt: int
    #: Since the attempt before, where there was one that is still kept.
    since_last: float | None
    #: None: the receiver had no secret, or the body is kept in part only.
    signature: SignatureVerdict | None
    #: The status, or the fault that took its place: `hang`, `close`, `garbage`.
    answer: int | str

    @property
    def webhook_id(self) -> str | None:
        """The same for each attempt."""
        return self.headers.get(ID_HEADER)

    @property
    def is_whole(self) -> bool:
        """Whether all of its body is kept."""
        return len(self.body) == self.body_bytes

    @property
    def size(self) -> int:
        """About so many bytes are kept."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers.items())


@dataclass(slots=True, eq=False, repr=False)
class WebhookReceiver:
    """One receiver, by its name."""

    name: str
    #: Each verifies; none: signatures are not looked at.
    secrets: Sequence[str] = ()
    calls: deque[HeardWebhook] = field(default_factory=deque)
    #: How large they are.
    size: int = 0
    #: Since the start, kept or not.
    heard: int = 0
    #: Another one with every change that is not a new call: what was shown before is shown anew.
    edition: int = 0

    def keep(self, calls: Iterable[HeardWebhook]) -> None:
        """Keep these as well; the oldest make room."""
        for call in calls:
            self.calls.append(call)
            self.size += call.size
            if len(self.calls) > MOST_CALLS:
                self.forget_oldest()

    def forget_oldest(self) -> None:
        """One less."""
        self.size -= self.calls.popleft().size

    def forget_all(self) -> None:
        """None are kept any more."""
        self.calls.clear()
        self.size = 0

    def verdict(
        self, headers: Mapping[str, str], body: bytes, received_at: datetime
    ) -> SignatureVerdict | None:
        """What it finds of a signature."""
        if not self.secrets:
            return None
        return verdict_of(
            self.secrets,
            webhook_id=headers.get(ID_HEADER),
            timestamp=headers.get(TIMESTAMP_HEADER),
            signature=headers.get(SIGNATURE_HEADER),
            body=body,
            received_at=received_at,
        )


class WebhookCalls:
    """All receivers; one is made by its first call, or when it is told something."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._receivers: dict[str, WebhookReceiver] = {}
        self._last = self._changes = 0
        self.bell = Bell()

    def hear(
        self, name: str, *, method: str, headers: Mapping[str, str], body: bytes, answer: int | str
    ) -> HeardWebhook:
        """Keep a call; the oldest make room."""
        receiver = self.ensure(name)
        now = self._clock.now()
        webhook_id = headers.get(ID_HEADER)
        before = self._attempt_before(receiver, webhook_id)
        self._last += 1
        call = HeardWebhook(
            number=self._last,
            method=method,
            headers={key: value[:_MOST_HEADER] for key, value in headers.items()},
            body=body[:MOST_BODY],
            body_bytes=len(body),
            received_at=now,
            attempt=1 if before is None else before.attempt + 1,
            since_last=None if before is None else (now - before.received_at).total_seconds(),
            signature=receiver.verdict(headers, body, now),
            answer=answer,
        )
        receiver.keep([call])
        receiver.heard += 1
        self._make_room()
        self.bell.ring()
        return call

    def ensure(self, name: str) -> WebhookReceiver:
        """The receiver of this name; a new one where there is none."""
        if (found := self._receivers.get(name)) is not None:
            return found
        if not _NAME.fullmatch(name):
            raise BadValueError("name", "must be up to 64 lower-case letters, digits, - and _")
        if len(self._receivers) >= MOST_RECEIVERS:
            raise BadValueError(
                "name", f"there are {MOST_RECEIVERS} receivers already; DELETE /receivers/{{name}} ends one"
            )
        made = self._receivers[name] = WebhookReceiver(name)
        self._changed(made)
        return made

    def find(self, name: str) -> WebhookReceiver:
        """The receiver of this name, where there is one."""
        if (found := self._receivers.get(name)) is None:
            raise NotFoundError("there is no such receiver; its first call makes it")
        return found

    def set_secrets(self, name: str, secrets: Sequence[str]) -> WebhookReceiver:
        """Verify with these from now on, and look at what is kept whole once more."""
        receiver = self.ensure(name)
        receiver.secrets = tuple(secrets)
        looked = [
            replace(
                call,
                signature=receiver.verdict(call.headers, call.body, call.received_at)
                if call.is_whole
                else None,
            )
            for call in receiver.calls
        ]
        receiver.forget_all()
        receiver.keep(looked)
        self._changed(receiver)
        return receiver

    def clear(self, name: str) -> int:
        """Forget its calls; how many there were."""
        receiver = self.find(name)
        count = len(receiver.calls)
        receiver.forget_all()
        self._changed(receiver)
        return count

    def end(self, name: str) -> None:
        """Forget it, with its secret and its calls."""
        self._changed(self.find(name))
        del self._receivers[name]

    def note_change(self, name: str) -> None:
        """Something else about it has changed: those who watch look anew."""
        self._changed(self.ensure(name))

    def all(self) -> Sequence[WebhookReceiver]:
        """Every receiver, by name."""
        return sorted(self._receivers.values(), key=lambda one: one.name)

    def after(self, name: str, number: int) -> list[HeardWebhook]:
        """Its calls after the one of this number, the oldest first."""
        return list(self._newer(name, number))[::-1]

    @property
    def size(self) -> int:
        """How large all that is kept is."""
        return sum(one.size for one in self._receivers.values())

    def _newer(self, name: str, number: int) -> Iterator[HeardWebhook]:
        receiver = self._receivers.get(name)
        for call in reversed(receiver.calls if receiver is not None else ()):
            if call.number <= number:
                return
            yield call

    def _attempt_before(self, receiver: WebhookReceiver, webhook_id: str | None) -> HeardWebhook | None:
        if webhook_id is None:
            return None
        return next((call for call in reversed(receiver.calls) if call.webhook_id == webhook_id), None)

    def _make_room(self) -> None:
        while self.size > MOST_BYTES:
            max(self._receivers.values(), key=lambda one: one.size).forget_oldest()

    def _changed(self, receiver: WebhookReceiver) -> None:
        self._changes += 1
        receiver.edition = self._changes
        self.bell.ring()
