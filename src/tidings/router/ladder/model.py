"""Where a ladder stands, what can happen to it, and what follows."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeAlias

import msgspec

from tidings.contracts.delivery import DeliveryResult, Evidence, SkipStep, WaitStep
from tidings.contracts.messages import Outcome
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.contracts.words import UseCase

ANSWER_NEVER_LEARNED: Final = "answer_never_learned"
EXPIRED: Final = "expired"
NO_ROUTE: Final = "no_route"


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of the frozen ladder."""

    channel: Channel
    vendor: str
    #: The account that it would have gone through when the ladder was frozen; each attempt says which it was.
    account: str | None = None


class Past(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A vendor call that came to nothing, or a step that was skipped."""

    id: str
    step: int
    channel: str
    status: str
    started_at: Moment
    ended_at: Moment
    vendor: str | None = None
    reason: str | None = None
    provider_message_id: str | None = None
    #: For a step that was skipped: how the ladder would end if there were no other.
    result: DeliveryResult | None = None


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Where a ladder stands."""

    steps: tuple[Step, ...]
    use_case: UseCase
    #: The clock of the message: nothing is sent from then on.
    expires_at: datetime
    #: Counts from 1.
    step: int = 1
    #: Vendor calls begun in this step.
    tries: int = 0
    #: The clock of the step; it begins with the first call.
    step_deadline_at: datetime | None = None
    past: tuple[Past, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """A call was under way when its worker died: its answer was never learned, and the vendor is not to blame."""


Happened: TypeAlias = Outcome | SkipStep | WaitStep | WorkerDied


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The step is to be taken now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The same step once more, at that moment."""

    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """Another step, at once."""

    step: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """The same step, not before that moment; the clock of the step stands still."""

    until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """It is over."""

    result: DeliveryResult
    evidence: Evidence | None = None
    #: Why, where it was not delivered.
    reason: str | None = None
    final_channel: Channel | None = None


Move: TypeAlias = Again | Next | Wait
Decision: TypeAlias = Move | End
