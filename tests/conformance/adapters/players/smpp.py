"""Plays an SMSC over SMPP 3.4."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from tests.conformance.adapters.player import Example, unreachable
from tests.support import played_smpp as smpp
from tests.support.vendors import MESSAGE
from tidings.contracts.messages import Address, OutboundMessage

#: command_status as the specification has them (SMPP 3.4, 5.1.3): ESME_RINVDSTADR, ESME_RTHROTTLED, ESME_RSYSERR.
_SUBMITS: Mapping[str, smpp.Part] = {
    "accepted": smpp.TAKEN,
    "refused": smpp.Part(status=0x0B),
    "throttled": smpp.Part(status=0x58),
    "unavailable": smpp.Part(status=0x08),
    "hangs": smpp.HANG,
    "garbage": smpp.Part(raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "closed": smpp.CLOSE,
    "closed half-way": smpp.Part(raw=b"\x00\x00\x00\x35\x80\x00\x00\x04\x00", closes=True),
}


def _settings(port: int, **more: Any) -> dict[str, Any]:
    return {
        "host": "127.0.0.1",
        "port": port,
        "security": "none",
        "system_id": "tidings",
        "password": "hunter2",
        "timeout_seconds": 5.0,
        "reconnect_seconds": 0.1,
        **more,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SmppPlayer:
    """Plays it with a server on loopback."""

    name: str = "smpp"
    message: OutboundMessage = field(
        default_factory=lambda: replace(
            MESSAGE, channel="sms", sender=Address(value="12345"), to="+447700900123", html=None
        )
    )
    bad: OutboundMessage = field(
        default_factory=lambda: replace(
            MESSAGE, channel="sms", sender=Address(value="12345"), to="+4477\r\n00900123", html=None
        )
    )
    accepted_id: str | None = "7f8cbbd6-a57e-46c4-9f0a-9e6b2b6b7a11"
    refused_code: str = "ESME_RINVDSTADR"
    #: SMPP names no time.
    retry_after: timedelta | None = None
    #: What an SMSC tells comes over the bind, and not to a hook.
    examples: Sequence[Example] = ()

    @asynccontextmanager
    async def play(self, case: str) -> AsyncIterator[dict[str, Any]]:
        """Settings of an account whose SMSC does that."""
        if case == "unreachable":
            async with unreachable() as port:
                yield _settings(port)
            return
        patience = {"timeout_seconds": 0.3} if case == "hangs" else {}
        async with smpp.played_smpp({"submit_sm": _SUBMITS[case]}) as played:
            yield _settings(played.port, **patience)

    @asynccontextmanager
    async def take_turns(self, *turns: str) -> AsyncIterator[tuple[dict[str, Any], Callable[[], int]]]:
        """An SMSC that does these one after the other, with a window of one."""
        parts = {"accepted": smpp.TAKEN, "slow": smpp.SLOW, "hangs": smpp.HANG}
        async with smpp.played_smpp({"submit_sm": [parts[turn] for turn in turns]}) as played:
            yield (
                _settings(played.port, window=1, timeout_seconds=60.0),
                lambda: len(played.named("submit_sm")),
            )


PLAYER = SmppPlayer()
