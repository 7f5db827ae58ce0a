"""How a vendor is played for the conformance suite: its recorded replies, and what it tells later."""

import socket
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol

from tests.support import played_http as http
from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import ParsedCallback, RawCallback
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater, Unlearned

#: What is played → what has to come of it, for all.
EXPECTED: Mapping[str, type[Outcome]] = {
    "accepted": Accepted,
    "refused": Refused,
    "throttled": TryLater,
    "unavailable": TryLater,
    "hangs": Unlearned,
    "garbage": Unlearned,
    "closed": Unlearned,
    "closed half-way": Unlearned,
    "unreachable": TryLater,
}
#: What every HTTP server can do to us.
_ODD: Mapping[str, bytes] = {
    "hangs": http.HANG,
    "garbage": b"\x00\xff220 mx.example.test ESMTP\r\n\r\n" + http.CLOSE,
    "closed": http.CLOSE,
    "closed half-way": b'HTTP/1.1 202 Accepted\r\nContent-Length: 90\r\n\r\n{"id": "ven' + http.CLOSE,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A callback as the vendor sends it, with the account that it is for."""

    #: Where it is from: the vendor's documentation, or recorded from what.
    source: str
    #: Of the account; with the secrets that sign.
    settings: Mapping[str, Any]
    request: RawCallback
    #: What it says.
    reading: ParsedCallback
    #: Where one byte can be changed so that the signature must not fit any more: `body`, `url`, or the header of the proof.
    covered: Sequence[str] = ("body",)
    #: How old it may be; None where the vendor's proof has no time in it.
    window: timedelta | None = None


class Player(Protocol):
    """Plays one vendor."""

    @property
    def name(self) -> str:
        """As the registry calls its adapter."""
        ...

    @property
    def message(self) -> OutboundMessage:
        """One that it takes; its words are those of `tests.support.vendors.PRIVATE`."""
        ...

    @property
    def bad(self) -> OutboundMessage:
        """One that can't be said to it."""
        ...

    @property
    def accepted_id(self) -> str | None:
        """The vendor's id in the accepted reply."""
        ...

    @property
    def refused_code(self) -> str:
        """The code in the refused reply."""
        ...

    @property
    def retry_after(self) -> timedelta | None:
        """What the throttled reply asks for."""
        ...

    @property
    def examples(self) -> Sequence[Example]:
        """Callbacks; one for every kind of thing that the vendor tells."""
        ...

    def play(self, case: str) -> AbstractAsyncContextManager[dict[str, Any]]:
        """Settings of an account whose vendor does that, for every case of `EXPECTED`."""
        ...

    def take_turns(
        self, *turns: str
    ) -> AbstractAsyncContextManager[tuple[dict[str, Any], Callable[[], int]]]:
        """A vendor that does these one after the other, the last one for good, over one connection, each request having a
        minute; and how many it was asked. Turns: `accepted`, `slow` (a tenth of a second), `hangs`."""
        ...


@asynccontextmanager
async def unreachable() -> AsyncIterator[int]:
    """A port that nobody listens on, and that nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpPlayer:
    """Plays a vendor that is asked over HTTP, one request for a message."""

    name: str
    #: Settings of an account whose API is at this port of loopback.
    settings: Callable[[int], dict[str, Any]]
    #: Whole answers for `accepted`, `refused`, `throttled`, `unavailable`; write them with `played_http.answer`.
    replies: Mapping[str, bytes]
    #: Answers to the requests that come before every message, such as one for a token.
    first: Sequence[bytes] = ()
    message: OutboundMessage = MESSAGE
    bad: OutboundMessage = field(
        default_factory=lambda: replace(MESSAGE, to="nobody\r\nX: y", metadata={"x": object()})
    )
    accepted_id: str | None
    refused_code: str
    retry_after: timedelta | None = None
    examples: Sequence[Example] = ()
    #: It says in words of its own why it refuses; False where a status is all that it has.
    has_words: bool = True

    @asynccontextmanager
    async def play(self, case: str) -> AsyncIterator[dict[str, Any]]:
        """Settings of an account whose vendor does that."""
        patience = {"timeout_seconds": 0.3 if case == "hangs" else 5.0}
        if case == "unreachable":
            async with unreachable() as port:
                yield {**self.settings(port), **patience}
            return
        async with http.played_http(*self.first, {**_ODD, **self.replies}[case]) as played:
            yield {**self.settings(played.port), **patience}

    @asynccontextmanager
    async def take_turns(self, *turns: str) -> AsyncIterator[tuple[dict[str, Any], Callable[[], int]]]:
        """A vendor that does these one after the other."""
        accepted = self.replies["accepted"]
        answers = {"accepted": accepted, "slow": http.SLOW + accepted, "hangs": http.HANG}
        async with http.played_http(*self.first, *(answers[turn] for turn in turns)) as vendor:
            yield (
                {**self.settings(vendor.port), "connections": 1, "timeout_seconds": 60.0},
                lambda: max(len(vendor.heard) - len(self.first), 0),
            )
