"""From an event to a call of a server on one's own machine: with the body, the headers and the signature of a real webhook."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlsplit

from tidings.cli.failures import CommandError
from tidings.kernel.events import Event
from tidings.notify.webhooks.body import WebhookBodyTooLargeError, body_of

if TYPE_CHECKING:
    from tidings.kernel.signed_webhooks.call import WebhookResult

#: Seconds before each further attempt of an event that nobody was there to take.
PAUSES: Final = (1.0, 2.0, 4.0, 8.0)
#: What a webhook may take at most.
_TIMEOUT: Final = 30.0
_WHY: Final[Mapping[str, str]] = {
    "timeout": f"it did not answer within {_TIMEOUT:g} s",
    "tls": "its certificate is not one that this machine trusts",
    "unanswered": "it ended the connection without an answer",
    "address": "the address can't be called",
    "too_large": "the transformation leads to more than a body may have",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """What became of an event."""

    event: Event
    #: None: it is too large.
    body: bytes | None = field(repr=False)
    #: What was answered; None where nothing was.
    status: int | None = None
    #: Why it was not taken; None where it was.
    reason: str | None = None
    milliseconds: int = 0

    @property
    def taken(self) -> bool:
        """Whether it was answered with 2xx."""
        return self.reason is None

    @property
    def why(self) -> str | None:
        """The reason in words; None where the status says it all."""
        return None if self.reason in (None, "answered", "gone") else _WHY.get(self.reason, self.reason)


@dataclass(slots=True, kw_only=True, eq=False, repr=False)
class LocalForwarder:
    """Calls one address, one event after the other; a context manager."""

    url: str
    secret: str
    headers: Mapping[str, str]
    transform: Mapping[str, Any] | None
    #: Is told in words what is waited for.
    say: Callable[[str], None]
    pauses: Sequence[float] = field(default_factory=lambda: PAUSES)
    _runner: asyncio.Runner = field(default_factory=asyncio.Runner)

    def __enter__(self) -> Self:
        self._runner.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.__exit__(kind, error, trace)

    def forward(self, event: Event) -> Forwarded:
        """Call it; again for a while where nobody listens, and in the end go on without."""
        made = printed(event, self.transform)
        if (body := made.body) is None:
            return made
        for pause in (*self.pauses, None):
            began = time.monotonic()
            result = self._runner.run(self._call(event, body))
            took = round((time.monotonic() - began) * 1000)
            if result.reason != "connection" or pause is None:
                break
            self.say(
                f"nothing listens on {urlsplit(self.url).netloc}: start your server; "
                f"{event.id} waits, next attempt in {pause:g} s"
            )
            time.sleep(pause)
        nobody = f"nothing listens on {urlsplit(self.url).netloc}"
        reason = nobody if result.reason == "connection" else result.reason
        return Forwarded(event=event, body=body, status=result.status, reason=reason, milliseconds=took)

    async def _call(self, event: Event, body: bytes) -> "WebhookResult":
        from tidings.kernel.clock import SystemClock
        from tidings.kernel.egress import anywhere
        from tidings.kernel.signed_webhooks.call import WebhookCall, WebhookCaller

        call = WebhookCall(
            url=self.url, secrets=[self.secret], webhook_id=event.id, body=body, headers=self.headers
        )
        # A connection of its own: one that was kept would be the old one of a server that was started again meanwhile.
        caller = WebhookCaller(clock=SystemClock(), guard=anywhere, connections=1, timeout_seconds=_TIMEOUT)
        try:
            return await caller.call(call)
        finally:
            await caller.close()


def printed(event: Event, transform: Mapping[str, Any] | None) -> Forwarded:
    """An event with its body, forwarded to nobody."""
    try:
        body = body_of(event.subject, event.id, event.time, event.data.encode(), transform)
    except WebhookBodyTooLargeError:
        return Forwarded(event=event, body=None, reason="too_large")
    return Forwarded(event=event, body=body)


def checked_address(url: str) -> str:
    """The address to forward to, in its one spelling."""
    from tidings.kernel.errors import BadValueError
    from tidings.kernel.signed_webhooks.url import checked_webhook_url

    try:
        return checked_webhook_url(url, field="--forward-to", require_https=False)
    except BadValueError as error:
        raise CommandError(f"--forward-to {error.remedy}, such as http://localhost:3000/hooks") from None


def kept_secret(data_dir: Path) -> str:
    """What events are signed with: made the first time, and the same from then on; a file that only its owner reads."""
    import json

    from tidings.kernel.signed_webhooks.secrets import signs
    from tidings.notify.webhooks.sealing import new_secret
    from tidings.operations.embedded import DataDir

    folder = DataDir(data_dir)
    try:
        secret = json.loads(folder.listening.read_text())["secret"]
        if isinstance(secret, str) and signs(secret):
            return secret
    except (OSError, ValueError, KeyError, TypeError):
        pass
    made = new_secret()
    try:
        folder.path.mkdir(parents=True, exist_ok=True, mode=0o711)
    except OSError as error:
        raise CommandError(
            f"{folder.path} can't be made: {error.strerror}; choose another --data-dir"
        ) from None
    folder.write_private(folder.listening, {"secret": made})
    return made
