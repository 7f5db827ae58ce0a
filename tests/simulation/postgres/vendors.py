"""Vendors at the wire: adapters that do what their conduct says, and remember what they were handed."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random

from tests.simulation.conduct import Conduct, Doing
from tests.simulation.postgres.mortal import Fate
from tests.simulation.seen import Call, Stamps
from tests.support.clock import ManualClock
from tidings.contracts.adapters import Adapter, Capabilities
from tidings.contracts.callback_forms import Canonical
from tidings.contracts.messages import Accepted, OutboundMessage, Outcome, Refused, TryLater
from tidings.kernel.ids import IdKind, TenantId
from tidings.router.accounts.model import StoredAccount

RECEIPT = IdKind("whe", str)


@dataclass(slots=True)
class Pending:
    """A receipt on its way."""

    at: datetime
    notification_id: str
    message_id: str
    status: Canonical
    #: As the callback's event is called, once it has arrived; a repeated one shares it.
    event: list[str]
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A message that a vendor was handed, and what it did with it."""

    call: Call
    doing: Doing

    @property
    def mark(self) -> str | None:
        """What an attempt is told with, and no other one: the vendor's id, or its code."""
        match self.doing.outcome:
            case Accepted(provider_message_id=id_):
                return id_
            case Refused(code=code) | TryLater(code=code):
                return code
            case _:
                return None


@dataclass(slots=True, kw_only=True)
class Street:
    """All vendors of a world, whoever calls them."""

    vendors: dict[str, Conduct]
    clock: ManualClock
    stamps: Stamps
    luck: Random
    tell: Callable[[str, str], None]
    handed: dict[str, list[Handed]] = field(default_factory=dict)
    pending: list[Pending] = field(default_factory=list)
    called_off: set[str] = field(default_factory=set)

    def take(self, vendor: str, message: OutboundMessage, process: "Process") -> Doing:
        """One message."""
        conduct = self.vendors[vendor]
        doing = conduct.act(self.luck)
        now = self.clock.now()
        call = Call(
            worker=process.name,
            step=_step(message),
            channel=message.channel,
            vendor=vendor,
            at=now,
            noted=process.noted[message.message_id],
            stamp=self.stamps.next(),
        )
        self.tell(message.message_id, f"{process.name} calls {vendor} for step {call.step}: {doing.temper}.")
        if isinstance(doing.outcome, Accepted):
            for saying in doing.sayings:
                event: list[str] = []
                for time in range(saying.times):
                    self.pending.append(
                        Pending(
                            now + timedelta(seconds=saying.after + time * self.luck.choice((0, 0, 5))),
                            message.message_id,
                            doing.outcome.provider_message_id or "",
                            saying.status,
                            # A repeated one has the same id, or pretends to be another one.
                            event if self.luck.random() < 0.5 else [],
                        )
                    )
        self.handed.setdefault(message.message_id, []).append(Handed(call=call, doing=doing))
        return doing


def _step(message: OutboundMessage) -> int:
    step = message.metadata["step"]
    assert isinstance(step, int)
    return step


class PlayedAdapter:
    """One process' line to one vendor."""

    longest_send = timedelta(seconds=30)

    def __init__(self, vendor: str, street: Street, process: "Process") -> None:
        self.name = vendor
        self._street = street
        self._process = process

    @property
    def channels(self) -> frozenset[str]:
        """One, by its name."""
        return frozenset({self.name.split("_")[1]})

    @property
    def capabilities(self) -> Capabilities:
        """Half of those that send receipts can call messages off."""
        conduct = self._street.vendors[self.name]
        return Capabilities(receipts=conduct.receipts, cancel=conduct.receipts and self.name.endswith("a"))

    async def send(
        self,
        messages: Sequence[OutboundMessage],
        *,
        within: float | None = None,
        learned: list[Outcome] | None = None,
    ) -> Sequence[Outcome]:
        """The vendor has them, whatever becomes of the caller."""
        process, street = self._process, self._street
        process.fate.touch()
        taken = [street.take(self.name, message, process) for message in messages]
        if process.luck.random() < process.loses:
            await process.taken_for_dead()
        for _ in range(process.luck.randrange(4)):
            await asyncio.sleep(0)
        if process.luck.random() < 0.3:
            await street.clock.advance(timedelta(seconds=max(doing.latency for doing in taken)))
        process.fate.strike()
        return [doing.outcome for doing in taken]

    async def cancel(self, provider_message_ids: Sequence[str]) -> Sequence[bool]:
        """What was not heard of is called off."""
        self._process.fate.touch()
        self._street.called_off |= set(provider_message_ids)
        self._street.pending[:] = [
            one for one in self._street.pending if one.message_id not in provider_message_ids
        ]
        return [True] * len(provider_message_ids)

    async def check(self) -> Outcome | None:
        """It can't be asked."""
        return None

    async def close(self) -> None:
        """There is no connection."""


class Process:
    """What an adapter has to know about the process that it runs in."""

    def __init__(self, id_: str, name: str, fate: Fate, luck: Random, *, loses: float) -> None:
        self.id = id_
        #: As the story calls it.
        self.name = name
        self.fate = fate
        self.luck = luck
        self.loses = loses
        #: By notification, the stamp at which it began to write that it is about to call: what was committed before that
        #: was known.
        self.noted: dict[str, int] = {}

    async def taken_for_dead(self) -> None:
        """Whoever runs it says how the others come to believe that."""


class PlayedAdapters:
    """In place of `OpenAdapters`."""

    def __init__(self, street: Street, process: Process) -> None:
        self._street = street
        self._process = process

    @asynccontextmanager
    async def borrow(self, account: StoredAccount, tenant_id: TenantId) -> AsyncIterator[Adapter]:
        """The line to the account's vendor."""
        yield PlayedAdapter(account.vendor, self._street, self._process)

    async def fixed_senders(self, account: StoredAccount, tenant_id: TenantId) -> dict[str, str]:
        """Its accounts send as what the message says."""
        return {}

    def doubt(self, account_id: str) -> None:
        """Credentials are not looked at."""

    async def close(self) -> None:
        """There is no connection."""
