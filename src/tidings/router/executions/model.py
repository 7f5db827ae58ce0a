"""An execution in the hands of a worker, and a change that is to be written of it."""

from collections.abc import Callable
from datetime import datetime
from typing import NewType, TypeAlias

import msgspec

from tidings.contracts.delivery import Reservation
from tidings.contracts.enums import Priority
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.messages import OutboundMessage
from tidings.kernel.clock import Clock
from tidings.kernel.durable.claims import Claim
from tidings.kernel.ids import IdKind, TenantId, time_of
from tidings.router.executions.sent_message import SentMessage
from tidings.router.state_machine.model import ExecutionEvent, ExecutionState, OpenAttempt, Transition

ExecutionId = NewType("ExecutionId", str)
EXECUTION = IdKind("exec", ExecutionId)
#: An execution that a worker has claimed: its tenant and its id.
ExecutionClaim: TypeAlias = Claim[ExecutionId]

#: Who has the work in hand; another one after this process was taken for dead.
WorkerId: TypeAlias = Callable[[], str]


class ClaimedExecution(msgspec.Struct, frozen=True, kw_only=True):
    """An execution that this worker holds the claim of."""

    tenant_id: TenantId
    id: ExecutionId
    notification_id: NotificationId
    recipient_id: RecipientId
    priority: Priority
    is_test: bool
    state: ExecutionState
    #: As it was read: the version check of the optimistic lock compares it.
    version: int = 1
    #: What its costs are in; None while there were none.
    currency: str | None = None
    #: How many receipts there are to be read.
    receipts: int = 0
    #: The place in a trace that its notification comes from.
    traceparent: str | None = None

    @property
    def claim(self) -> ExecutionClaim:
        """What names it in a set that spans tenants."""
        return Claim(self.tenant_id, self.id)


class ExecutionChange(msgspec.Struct, frozen=True, kw_only=True):
    """Events of an execution, and the transition that follows from them."""

    execution: ClaimedExecution
    transition: Transition
    events: tuple[ExecutionEvent, ...] = ()
    #: The claim is kept: its attempts are about to be made.
    keep: bool = False
    currency: str | None = None
    #: Messages that were accepted and can be answered.
    answerable: tuple[SentMessage, ...] = ()


class ReservedAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that is about to be made: its message, and what is reserved for it."""

    step: int
    message: OutboundMessage
    #: Stored before the vendor is called.
    attempt_id: str
    reservation: Reservation

    def opened(self) -> OpenAttempt:
        """The attempt as the state machine knows it from here on."""
        reserved = self.reservation
        return OpenAttempt(
            id=self.attempt_id,
            vendor=reserved.vendor,
            account=reserved.account_id,
            started_at=time_of(self.attempt_id),
            reserved=reserved.cost,
            why=reserved.why,
            record=self.message.record,
        )


class OutgoingExecution(msgspec.Struct, frozen=True, kw_only=True):
    """An execution with open attempts that are stored and about to be made."""

    execution: ClaimedExecution
    attempts: tuple[ReservedAttempt, ...]


class ExecutionObserver:
    """Observes executions, for the metrics; a subclass overrides what it counts."""

    def called(self, vendor: str, status: str, count: int, seconds: float) -> None:
        """So many calls of a vendor came to that, in a set that took so long."""

    def ended(self, result: str, count: int) -> None:
        """So many executions came to that end."""

    def lost(self, count: int) -> None:
        """So many were taken over by others before we could write what became of them."""

    def recovered(self, count: int) -> None:
        """So many answers were found in the journal of a worker that had not recorded them."""

    def failed(self, part: str) -> None:
        """Something of ours went wrong and will be tried again."""


def moment(clock: Clock) -> datetime:
    """Now, to the millisecond: what an id made now says too."""
    now = clock.now()
    return now.replace(microsecond=now.microsecond // 1000 * 1000)
