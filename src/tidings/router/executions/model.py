"""A ladder under way, and what is written about it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NewType, Protocol, TypeAlias

import msgspec

from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.ids import IdKind, TenantId, time_of
from tidings.router.conversations.sent import SentTurn
from tidings.router.state_machine.model import ExecutionEvent, ExecutionState, OpenAttempt, Transition

ExecutionId = NewType("ExecutionId", str)
EXECUTION = IdKind("exec", ExecutionId)

#: Who has the work in hand; another one after this process was taken for dead.
WorkerId: TypeAlias = Callable[[], str]


class ClaimedExecution(msgspec.Struct, frozen=True, kw_only=True):
    """A ladder in our hands."""

    id: ExecutionId
    notification_id: NotificationId
    recipient_id: RecipientId
    priority: Priority
    is_test: bool
    state: ExecutionState
    #: As it was read: whoever writes another one first is right.
    version: int = 1
    #: What its costs are in; None while there were none.
    currency: str | None = None
    #: How many receipts there are to be read.
    receipts: int = 0
    #: The place in a trace that its notification comes from.
    traceparent: str | None = None


class ExecutionChange(msgspec.Struct, frozen=True, kw_only=True):
    """What happened to a ladder, and what follows."""

    execution: ClaimedExecution
    transition: Transition
    events: tuple[ExecutionEvent, ...] = ()
    #: It stays in our hands: its calls are about to be made.
    keep: bool = False
    currency: str | None = None
    #: Messages that were taken and can be answered.
    answerable: tuple[SentTurn, ...] = ()


class ReservedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A step that is ready, with the vendor that takes it and what is held for it."""

    step: int
    message: OutboundMessage
    #: The id of the call, noted before it is made.
    attempt_id: str
    vendor: str
    account_id: str | None = None
    #: In micros of the ladder's currency.
    cost: int = 0
    currency: str | None = None
    #: Seconds that the call may take; None: as long as the adapter says.
    within: float | None = None
    #: Why this vendor, where there was a choice.
    why: str | None = None

    def open_attempt(self) -> OpenAttempt:
        """The call, as it is noted before it is made."""
        return OpenAttempt(
            id=self.attempt_id,
            vendor=self.vendor,
            account=self.account_id,
            started_at=time_of(self.attempt_id),
            reserved=self.cost,
            why=self.why,
            record=self.message.record,
        )


class OutgoingExecution(msgspec.Struct, frozen=True, kw_only=True):
    """A ladder whose calls are noted, and the calls."""

    execution: ClaimedExecution
    calls: tuple[ReservedAttempt, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """Ladders that were begun in a transaction, to be carried out after its commit."""

    tenant_id: TenantId
    #: Who has them in hand.
    worker: str
    #: Those whose first step is ready.
    calls: list[OutgoingExecution]
    #: Those that have no step at all.
    without_steps: list[ClaimedExecution]
    #: When the first of those is due that wait for their first step to be prepared; None where there are none.
    waits_until: datetime | None


class ExecutionObserver(Protocol):
    """Hears how the ladders fare, for the metrics."""

    def called(self, vendor: str, status: str, count: int, seconds: float) -> None:
        """So many calls of a vendor came to that, in a set that took so long."""
        ...

    def ended(self, result: str, count: int) -> None:
        """So many ladders came to that end."""
        ...

    def lost(self, count: int) -> None:
        """So many were taken over by others before we could write what became of them."""
        ...

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""
        ...


class NoExecutionObserver:
    """Hears nothing."""

    def called(self, vendor: str, status: str, count: int, seconds: float) -> None:
        """Nobody counts."""

    def ended(self, result: str, count: int) -> None:
        """Nobody counts."""

    def lost(self, count: int) -> None:
        """Nobody counts."""

    def failed(self, part: str) -> None:
        """Nobody counts."""


def moment(clock: Clock) -> datetime:
    """Now, to the millisecond: what an id made now says too."""
    now = clock.now()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
