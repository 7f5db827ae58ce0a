"""What was seen of one execution from outside: the material that the invariants are checked on.

Times are of the virtual clock. Stamps count what happened in a world, so that "before" has a meaning within one moment.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Literal

from tidings.contracts.delivery import DeliveryResult, Evidence
from tidings.contracts.enums import UseCase
from tidings.contracts.ladder import LadderStep, Strategy


class Stamps:
    """The order of things."""

    def __init__(self) -> None:
        self._count = count(1)

    def next(self) -> int:
        """One more thing has happened."""
        return next(self._count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A step was asked for: the gates, and after them prices, circuits and limits."""

    worker: str
    step: int
    at: datetime
    stamp: int
    answer: Literal["ready", "skip", "wait", "ends"]
    #: What was committed before this stamp was known to whoever asks.
    loaded: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A vendor was handed a message."""

    worker: str
    step: int
    channel: str
    vendor: str
    at: datetime
    #: What was committed before this stamp was known when the call was noted.
    noted: int
    stamp: int
    #: Where it is known at the vendor's side already.
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Write:
    """The row was written."""

    stamp: int
    reserved: int
    spent: int
    #: What the calls that it notes as under way hold.
    held: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An attempt as it was recorded: a call or a step that was skipped."""

    id: str
    step: int
    channel: str
    vendor: str | None
    status: str
    reason: str | None
    cost: int
    stamp: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a vendor said about an attempt, committed."""

    attempt_id: str
    status: str
    stamp: int
    #: The ladder was under way.
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What was announced."""

    result: DeliveryResult
    at: datetime
    stamp: int
    evidence: Evidence | None = None
    final_channel: str | None = None
    reason: str | None = None


@dataclass(slots=True, kw_only=True)
class Seen:
    """One execution."""

    steps: tuple[LadderStep, ...]
    use_case: UseCase
    strategy: Strategy
    begin: datetime
    expires_at: datetime
    cap: int | None
    #: Calls that each step may have.
    budgets: tuple[int, ...]
    #: How long each step may take from its first call.
    clocks: tuple[timedelta, ...]
    asks: list[Ask] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    writes: list[Write] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    #: Calls that were noted, whether they were made or not: attempt ids.
    noted: list[str] = field(default_factory=list)
    #: Calls that were noted and not made, because it was too late for them.
    not_made: set[str] = field(default_factory=set)
    #: What is held for each of them.
    held: dict[str, int] = field(default_factory=dict)
    #: Steps whose skipping was committed: step and reason.
    skips: list[tuple[int, str]] = field(default_factory=list)
    #: Steps that were told to wait, committed: step, until when, stamp.
    waits: list[tuple[int, datetime, int]] = field(default_factory=list)
    #: What was learned, by channel: whether it arrived.
    learned: list[tuple[str, bool]] = field(default_factory=list)
    #: Whether what comes after the end is among it.
    learned_late: bool = False
    #: Attempts whose receipt is awaited no longer, because it did not come in time.
    given_up: set[str] = field(default_factory=set)
    #: Attempts that were called off in the end; None where nobody looked.
    needless: set[str] | None = None
    #: Attempts whose vendor has no receipts.
    without_receipts: set[str] = field(default_factory=set)
    #: Still under way when nothing could happen any more, or when its time was long over.
    unended: str | None = None
    #: What it had reserved when it ended.
    reserved_at_end: int = 0
    spent_at_end: int = 0
    #: Something was written about it after its end.
    written_after_end: int = 0
