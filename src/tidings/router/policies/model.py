"""A policy: the ladder of a use case, its clocks and its cost cap; no I/O.

Rows and versions are read with these, and may have been written by newer code: they forgive unknown fields. What
requests bring is read strictly, in `wire.py`.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Literal, NewType

from msgspec import Meta, Struct

from tidings.contracts.enums import Priority, UseCase, Vendor
from tidings.contracts.ladder import Hours, Strategy, Success
from tidings.contracts.moments import Moment
from tidings.contracts.prices import Currency, Prefix
from tidings.contracts.tenants import Channel
from tidings.contracts.text import Reason
from tidings.kernel.ids import IdKind
from tidings.kernel.mapping import by_name
from tidings.router.profiles.order import USUAL_SECOND, Order

PolicyId = NewType("PolicyId", str)
POLICY = IdKind("policy", PolicyId)

Reachable = Literal["not_known_no", "known_yes"]

MOST_STEPS: Final = 20
#: What a second of waiting costs where a policy does not say, in micros: who waits for a code or an alarm waits dearly.
_SECOND_OF: Final[Mapping[UseCase, int]] = {"otp": 1_000, "alert": 1_000}
#: In which costs are summed by default.
DEFAULT_CURRENCY: Final = "USD"
#: For how long a conversation stays open after its last word, where no policy says otherwise.
DEFAULT_SESSION_TTL_SECONDS: Final = 86_400

Score = Annotated[float, Meta(ge=0.0, le=1.0)]
StopWord = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=40,
        pattern=r"^[^\s\x00-\x1f\x7f-\x9f]+( [^\s\x00-\x1f\x7f-\x9f]+)*\Z",
        description="must be a word, or a few with one space between them",
    ),
]


class Conditions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """When a step is taken; all that are given must hold, or else it is skipped."""

    #: Only messages of these priorities.
    priorities: Annotated[tuple[Priority, ...], Meta(min_length=1, max_length=4)] | None = None
    #: Only telephone numbers that begin so.
    prefixes: Annotated[tuple[Prefix, ...], Meta(min_length=1, max_length=250)] | None = None
    #: Only at this time of day.
    hours: Hours | None = None
    #: By what is known of the recipient: `known_yes`, or anything but a known no.
    reachable: Reachable | None = None
    #: Only where the learned chance of delivery over this channel is at least this.
    min_score: Score | None = None
    #: Only where the recipient has their in-app inbox open, or only where they have not.
    online: bool | None = None


class PolicyStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step of a ladder."""

    channel: Channel
    #: The clock of the step, from its first call; then the next one begins.
    deadline_seconds: Annotated[int, Meta(ge=1, le=604_800)]
    #: Left out: whoever the channel is set up with.
    vendor: Vendor | None = None
    #: How often it is tried again after a call that came to nothing.
    retry_budget: Annotated[int, Meta(ge=0, le=20)] = 2
    #: The clock of one vendor call; the adapter's own where it is left out.
    call_seconds: Annotated[float, Meta(ge=0.1, le=300.0)] | None = None
    success: Success = "delivered"
    conditions: Conditions | None = None


class PolicyTerms(Struct, frozen=True, kw_only=True):
    """What a policy says: all of it that a version keeps and a roll-back brings back."""

    #: 1 to 20 steps.
    ladder: Annotated[tuple[PolicyStep, ...], Meta(min_length=1, max_length=MOST_STEPS)]
    strategy: Strategy = "SEQUENTIAL"
    order: Order = "fixed"
    #: What a second of waiting costs where the order is learned, in millionths of the currency; null: 1,000 for `otp` and
    #: `alert`, 100 for the rest.
    value_of_a_second: Annotated[int, Meta(ge=0, le=1_000_000_000)] | None = None
    #: In millionths of the currency, for one message; null: no cap.
    cost_cap_micros: Annotated[int, Meta(ge=0, le=1_000_000_000_000)] | None = None
    #: The currency of the cap, in which costs are summed.
    cost_cap_currency: Currency = DEFAULT_CURRENCY
    #: For how long a conversation that began with such a message stays open after its last word.
    session_ttl_seconds: Annotated[int, Meta(ge=60, le=2_592_000)] = DEFAULT_SESSION_TTL_SECONDS
    #: Instead of the usual words for STOP; empty: the usual ones.
    stop_keywords: Annotated[tuple[StopWord, ...], Meta(max_length=50)] = ()
    #: For people.
    description: Reason | None = None


class Policy(Struct, frozen=True, kw_only=True):
    """By which ladder a tenant's messages of a use case go out."""

    id: PolicyId
    use_case: UseCase
    strategy: Strategy
    order: Order
    ladder: tuple[PolicyStep, ...]
    cost_cap_micros: int | None
    cost_cap_currency: str
    session_ttl_seconds: int
    stop_keywords: tuple[str, ...]
    description: str | None
    #: Also its ETag.
    version: int
    created_at: Moment
    updated_at: Moment
    #: Since when new messages do not go by it.
    deleted_at: Moment | None = None
    #: Until when it can be restored.
    grace_period_ends_at: Moment | None = None
    #: None in what was written before policies said it: the use case's.
    value_of_a_second: int | None = None

    @property
    def second_micros(self) -> int:
        """What a second of waiting costs where the order is learned."""
        return second_of(self.use_case) if self.value_of_a_second is None else self.value_of_a_second

    def restorable(self, now: datetime) -> bool:
        """Whether it was deleted, and not too long ago."""
        return self.grace_period_ends_at is not None and now < self.grace_period_ends_at


class PolicyVersion(Struct, frozen=True, kw_only=True):
    """A policy as it was."""

    version: int
    policy: Policy
    #: Who made it so.
    changed_by: str
    changed_at: Moment


def second_of(use_case: UseCase) -> int:
    """What a second of waiting costs where a policy does not say."""
    return _SECOND_OF.get(use_case, USUAL_SECOND)


def terms_of(policy: Policy) -> PolicyTerms:
    """What it says."""
    return by_name(PolicyTerms, policy, value_of_a_second=policy.second_micros)
