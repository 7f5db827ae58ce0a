"""The base class of adapters for vendors that take each message in one request over HTTP.

A vendor's own class says how a message is asked for (`ask`), what an answer means (`read`) and how the credentials are checked;
which connection a request goes over, and how long it may take, is here.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from typing import Generic, TypeVar

from tidings.contracts.adapters import Capabilities
from tidings.contracts.messages import OutboundMessage, Outcome
from tidings.kernel.http_client.answer import HttpAnswer
from tidings.kernel.http_client.pool import HttpRequest
from tidings.router.adapters.http_client.account import HttpAccount, sender_of
from tidings.router.adapters.http_client.answers import answered
from tidings.router.adapters.http_client.sender import HttpSender
from tidings.router.adapters.kind import AdapterContext

S = TypeVar("S", bound=HttpAccount)


class OneRequestAdapter(ABC, Generic[S]):
    """Hands messages to one account."""

    #: As the registry calls it.
    name: str
    #: What it can send over.
    channels: frozenset[str]
    #: What it can do; what this account can do, where its settings decide that.
    capabilities: Capabilities

    def __init__(self, settings: S, around: AdapterContext, *, sender: HttpSender | None = None) -> None:
        """`sender`: a pool of connections that is not made as the settings say."""
        self._settings = settings
        self._clock = around.clock
        self._sender = sender or sender_of(settings, around.guard)
        #: The outcome, once it is known what an answer means.
        self._answered = partial(answered, clock=around.clock)

    @abstractmethod
    def ask(self, message: OutboundMessage) -> HttpRequest:
        """A message as the vendor wants it; a `BadValueError` where it can't be said to this vendor."""

    @abstractmethod
    def read(self, answer: HttpAnswer, message: OutboundMessage) -> Outcome:
        """What the vendor's answer means; it may raise, and then the outcome is not known."""

    @abstractmethod
    async def check(self) -> Outcome | None:
        """Ask whether our credentials are taken, and send nothing; None where the vendor can't be asked that."""

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
        return await self._sender.send(messages, ask=self.ask, read=self.read, within=within, learned=learned)

    async def close(self) -> None:
        """End all connections."""
        await self._sender.close()
