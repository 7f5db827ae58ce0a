"""Apple's push service over HTTP/2: reasons as developer.apple.com documents them."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from tests.conformance.adapters.player import Example, unreachable
from tests.support import played_http2 as http2
from tests.support.push import ec_pem
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import OutboundMessage

_ACCEPTED = http2.Part(headers={"apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b"})
_PARTS: Mapping[str, http2.Part] = {
    # developer.apple.com, "Sending notification requests to APNs": the answers of its examples.
    "accepted": _ACCEPTED,
    "refused": http2.Part(
        status=410,
        headers={"content-type": "application/json; charset=utf-8"},
        body=b'{"reason":"Unregistered","timestamp":1454402113}',
    ),
    "throttled": http2.Part(status=429, body=b'{"reason":"TooManyRequests"}'),
    "unavailable": http2.Part(status=503, body=b'{"reason":"ServiceUnavailable"}'),
    "hangs": http2.HANG,
    "garbage": http2.Part(raw=b"\x00\xff220 mx.example.test ESMTP\r\n\r\n", closes=True),
    "closed": http2.CLOSE,
    "closed half-way": http2.Part(status=400, cut=True, closes=True),
}


def _settings(port: int, **more: Any) -> dict[str, Any]:
    return {
        "api_url": f"http://127.0.0.1:{port}",
        "private_key": ec_pem(),
        "key_id": "ABC123DEFG",
        "team_id": "DEF123GHIJ",
        "topic": "com.example.app",
        "timeout_seconds": 5.0,
        **more,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ApnsPlayer:
    """Plays it with a server on loopback."""

    name: str = "apns"
    message: OutboundMessage = field(
        default_factory=lambda: replace(
            MESSAGE,
            channel="push",
            to="00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0",
            html=None,
        )
    )
    bad: OutboundMessage = field(
        default_factory=lambda: replace(MESSAGE, channel="push", to="00fc/../../x", html=None)
    )
    accepted_id: str | None = "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    refused_code: str = "Unregistered"
    #: Apple names no time.
    retry_after: timedelta | None = None
    #: Apple tells nothing later.
    examples: Sequence[Example] = ()

    @asynccontextmanager
    async def play(self, case: str) -> AsyncIterator[dict[str, Any]]:
        """Settings of an account whose vendor does that."""
        if case == "unreachable":
            async with unreachable() as port:
                yield _settings(port)
            return
        patience = {"timeout_seconds": 0.3} if case == "hangs" else {}
        async with http2.played_http2(_PARTS[case]) as played:
            yield _settings(played.port, **patience)

    @asynccontextmanager
    async def take_turns(self, *turns: str) -> AsyncIterator[tuple[dict[str, Any], Callable[[], int]]]:
        """A vendor that does these one after the other, one request at a time."""
        parts = {"accepted": _ACCEPTED, "slow": replace(_ACCEPTED, after=0.1), "hangs": http2.HANG}
        async with http2.played_http2(*(parts[turn] for turn in turns)) as played:
            yield _settings(played.port, connections=1, timeout_seconds=60.0), lambda: len(played.heard)


PLAYER = ApnsPlayer()
