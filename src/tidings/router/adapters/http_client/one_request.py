"""An adapter for vendors that take each message in one request: what is the same for all of them.

A vendor's own file says how a message is asked for and what an answer means; what goes over which connection, and how long it
may take, is here.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.router.adapters.http_client.answers import HttpAnswer
from tidings.router.adapters.http_client.sender import HttpSender, VendorRequest


class Vendor(Protocol):
    """What is one vendor's own."""

    @property
    def name(self) -> str:
        """As the registry calls it."""
        ...

    @property
    def channels(self) -> frozenset[str]:
        """What it can send over."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What this account can do."""
        ...

    def ask(self, message: OutboundMessage) -> VendorRequest:
        """A message as the vendor wants it; a `BadValueError` where it can't be said to this vendor."""
        ...

    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the vendor's answer means; it may raise, and then nobody knows."""
        ...

    async def check(self, sender: HttpSender) -> Outcome | None:
        """Ask whether our credentials are taken, and send nothing."""
        ...


class OneRequestAdapter:
    """Hands messages to one account."""

    def __init__(self, vendor: Vendor, sender: HttpSender) -> None:
        self.name = vendor.name
        self.channels = vendor.channels
        self.capabilities = vendor.capabilities
        self._vendor = vendor
        self._sender = sender

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
        return await self._sender.send(
            messages, ask=self._vendor.ask, read=self._vendor.read, within=within, learned=learned
        )

    async def check(self) -> Outcome | None:
        """Whether the vendor takes our credentials; nothing is sent."""
        return await self._vendor.check(self._sender)

    async def close(self) -> None:
        """End all connections."""
        await self._sender.close()
