"""The ladder of an execution: its steps in their order, as the router plans them and freezes them for one notification."""

from dataclasses import dataclass
from typing import Literal

from msgspec import Struct

from tidings.contracts.tenants import Channel, TimeOfDay, TimeZone

Strategy = Literal["SEQUENTIAL", "PARALLEL", "FAILOVER"]
#: What a step has to reach to count.
Success = Literal["accepted", "sent", "delivered", "read"]


class Hours(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From start to end, by the clock of a place; may reach across midnight."""

    start: TimeOfDay
    end: TimeOfDay
    timezone: TimeZone


class LadderStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of the ladder, as it was frozen when the execution began."""

    channel: Channel
    #: Who may carry it, the first choice first; none: the step can't be taken.
    vendors: tuple[str, ...] = ()
    #: Where the vendor sends no receipts, being accepted is all that there is to reach.
    success: Success = "accepted"
    #: Seconds from its first attempt; None: by what the message is for.
    deadline: int | None = None
    #: Attempts after the first; None: by what the message is for.
    retries: int | None = None
    #: Seconds that one vendor call may take; None: as long as the adapter says.
    call_seconds: float | None = None
    #: Telephone addresses have to begin with one of these.
    prefixes: tuple[str, ...] | None = None
    #: It is taken within these hours only.
    hours: Hours | None = None
    #: Known from the start: it is not taken, for this reason.
    barred: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRank:
    """Why a step stands where it stands in the order."""

    channel: Channel
    #: How likely it arrives; None where it was not asked.
    p: float | None
    cost_micros: int
    #: The higher, the earlier: deliveries for a million micros of money and patience. None where it was not asked.
    index: float | None
    #: Whether p was drawn to find out more, and not the best guess.
    drawn: bool


class LadderSnapshot(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The steps in their order, and where the order comes from."""

    steps: tuple[LadderStep, ...] = ()
    #: `fixed`, `learned` or `cheapest`, where a policy says so.
    order: str | None = None
    #: Why this order, step by step.
    why: tuple[StepRank, ...] = ()
    #: What a second of waiting cost when the order was learned, in micros.
    value_of_a_second: int | None = None
    #: What the message may cost, in micros.
    cap: int | None = None
