"""An SMPP adapter whose SMSC is on loopback, and somebody who hears what it says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec

from tests.support.vendors import MESSAGE
from tidings.contracts.callback_forms import ParsedCallback, ReadEvent, ReadInbound
from tidings.contracts.messages import Address, OutboundMessage
from tidings.kernel.clock import SystemClock
from tidings.kernel.egress import Guard, anywhere
from tidings.router.adapters.kind import AdapterContext, discard_inbound
from tidings.router.adapters.smpp.adapter import KIND, SmppAdapter, SmppSettings

SMS = replace(MESSAGE, channel="sms", sender=Address(value="12345"), to="+447700900123", html=None)


def sms(count: int, **changes: Any) -> list[OutboundMessage]:
    """So many, each with its own id, number and text."""
    return [
        replace(
            SMS,
            message_id=f"ntf_01JCQ8ZK6T9Y4M2V7N5B{i:06d}",
            to=f"+4477009{i:05d}",
            text=f"message {i}",
            **changes,
        )
        for i in range(count)
    ]


class Ears:
    """Keeps what it hears, or refuses to."""

    def __init__(self) -> None:
        self.readings: list[ParsedCallback] = []
        #: Called first; raises where it can't be kept.
        self.refuse: Callable[[ParsedCallback], None] = lambda _: None
        self._came = asyncio.Condition()

    async def hear(self, reading: ParsedCallback) -> None:
        """As the intake does."""
        self.refuse(reading)
        async with self._came:
            self.readings.append(reading)
            self._came.notify_all()

    @property
    def events(self) -> list[ReadEvent]:
        """All receipts."""
        return [event for reading in self.readings for event in reading.events]

    @property
    def inbound(self) -> list[ReadInbound]:
        """All that people wrote."""
        return [one for reading in self.readings for one in reading.inbound]

    async def until(self, enough: Callable[["Ears"], bool]) -> None:
        """Wait for it."""
        async with asyncio.timeout(10), self._came:
            await self._came.wait_for(lambda: enough(self))


def smpp_settings(port: int, **more: Any) -> dict[str, Any]:
    """An SMSC in the clear on loopback."""
    return {
        "host": "127.0.0.1",
        "port": port,
        "security": "none",
        "system_id": "tidings",
        "password": "hunter2",
        "timeout_seconds": 5.0,
        "reconnect_seconds": 0.05,
        **more,
    }


@asynccontextmanager
async def bound(
    settings: dict[str, Any], ears: Ears | None = None, *, guard: Guard = anywhere
) -> AsyncIterator[SmppAdapter]:
    """The adapter, closed in the end."""
    around = AdapterContext(
        clock=SystemClock(), guard=guard, on_inbound=discard_inbound if ears is None else ears.hear
    )
    adapter = KIND.adapter(msgspec.convert(settings, SmppSettings), around)
    assert isinstance(adapter, SmppAdapter)
    try:
        yield adapter
    finally:
        await adapter.close()
