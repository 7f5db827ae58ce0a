"""A ladder under way, and what is written about it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NewType, Protocol, TypeAlias

import msgspec

from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.ids import IdKind, NotificationId, RecipientId, TenantId
from tidings.router.ladder.model import Decision, Happened, Position

ExecutionId = NewType("ExecutionId", str)
AttemptId = NewType("AttemptId", str)
EXECUTION = IdKind("exec", ExecutionId)
ATTEMPT = IdKind("attempt", AttemptId)

#: Who has the work in hand; another one after this process was taken for dead.
WorkerId: TypeAlias = Callable[[], str]


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """A ladder in our hands."""

    id: ExecutionId
    notification_id: NotificationId
    recipient_id: RecipientId
    is_test: bool
    here: Position
    #: The call under way.
    attempt_id: AttemptId | None = None
    attempt_started_at: datetime | None = None


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened to a ladder, and what follows."""

    live: Live
    decision: Decision
    #: None where nothing but time has passed.
    happened: Happened | None = None
    #: Who was called, through which account.
    vendor: str | None = None
    account_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """Ladders that were begun in a transaction, to be carried out after its commit."""

    tenant_id: TenantId
    #: Who has them in hand.
    worker: str
    #: Those whose first step is ready.
    calls: list[tuple[Live, OutboundMessage]]
    #: Those that have no step at all.
    without_steps: list[Live]
    #: Whether some wait for their first step to be prepared.
    some_wait: bool


class Observer(Protocol):
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


class Unobserved:
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
