"""The port between notify and the router: hand-offs, steps that notify prepares, one outcome that comes back.

All that passes is frozen data that can be encoded. In one process these are calls; the outcome is always an event, so
that it also arrives where notify and the router run apart. Where they share a process, `InProcessRouter` saves the way, and
`OutcomeSettler` the way back: the event then only tells of what is settled. Apart, a hand-off is an event too
(`DispatchRequested`), and steps are asked for by request and reply (`contracts/delivery_requests.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from tidings.contracts.callback_forms import Effect
from tidings.contracts.enums import Priority, UseCase
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.ladder import LadderSnapshot, Strategy
from tidings.contracts.messages import OutboundMessage
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId

#: How an execution can end. Exactly one of these is announced for a notification and recipient.
DeliveryResult = Literal[
    "DELIVERED",
    "FAILED",
    "REFUSED_NO_CHANNEL",
    "REFUSED_COST_CAP",
    "REFUSED_CONSENT",
    "REFUSED_SENDER_UNAUTHORIZED",
]
#: What DELIVERED rests on; `accepted` where the channel has no receipts.
Evidence = Literal["accepted", "sent", "delivered", "read"]

OUTCOME_SUBJECT = "notification.delivery.outcome.v1"
#: The reason of an attempt whose answer was never read: its message may have gone out.
ANSWER_NEVER_LEARNED = "answer_never_learned"
#: How a hand-off reaches a router in another process.
DISPATCH_REQUESTED_SUBJECT = "notification.dispatch.requested.v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRoute:
    """One way to reach a recipient: a channel through a vendor."""

    channel: Channel
    vendor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOff:
    """A notification that passed the gates: from here on it is the router's until its outcome."""

    tenant_id: TenantId
    notification_id: NotificationId
    #: Who is written to.
    recipient_id: RecipientId
    use_case: UseCase
    priority: Priority
    #: Nothing is sent from then on: the clock of the message.
    expires_at: datetime
    #: As the tenant wants it, in this order; empty: there is no channel for it.
    routes: tuple[DeliveryRoute, ...]
    #: What was asked for: one channel, or `auto`, which leaves the choice to the tenant's policy.
    channel: Channel | Literal["auto"] = "auto"
    #: Never reaches a vendor.
    is_test: bool = False
    #: The place in a trace that it comes from.
    traceparent: str | None = None


class DispatchRequested(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A hand-off as it is announced to a router in another process; its tenant and its trace are the event's."""

    notification_id: NotificationId
    recipient_id: RecipientId
    use_case: UseCase
    priority: Priority
    expires_at: Moment
    routes: tuple[DeliveryRoute, ...]
    channel: Channel | Literal["auto"] = "auto"
    is_test: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StepAsk:
    """The router asks notify to prepare a step: its attempt is due."""

    tenant_id: TenantId
    notification_id: NotificationId
    #: Who is written to, as it was handed over.
    recipient_id: RecipientId
    #: Counts from 1.
    step: int
    channel: Channel
    #: How often a vendor has taken a message of this step already, and it did not arrive: the next one is another message.
    taken: int = 0


class PaceRate(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many messages that are counted together may go; None: as many as there are."""

    per_minute: int | None = None
    per_hour: int | None = None
    #: On the day that the pace names.
    today: int | None = None


class MessagePace(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How quickly the messages of a batch may go through vendors and accounts, beside the accounts' own limits.

    Notify says it, because the batch is notify's; the router takes it, because it knows the account.
    """

    #: What is counted together.
    key: str
    #: The day of `today`, as a date.
    day: str
    #: When messages that were too many for it may go.
    next_day: datetime
    #: By account id.
    accounts: Mapping[str, PaceRate] = {}
    vendors: Mapping[str, PaceRate] = {}


#: The reason of a wait for that.
BATCH_PACE = "batch_pace"


class ReadyStep(Struct, frozen=True, kw_only=True, tag=True):
    """The step may be sent, now."""

    message: OutboundMessage
    #: Where it is one of many that may not all go at once.
    pace: MessagePace | None = None


class SkipStep(Struct, frozen=True, kw_only=True, tag=True):
    """This step can't be taken."""

    #: A code of notify's `decide.reasons`, or `render_failed`.
    reason: str
    #: How the execution ends if no other step is left.
    result: DeliveryResult
    #: Whether the whole execution is over, and not this step alone.
    ends: bool = False


class WaitStep(Struct, frozen=True, kw_only=True, tag=True):
    """Not now: ask again at that moment."""

    until: datetime
    reason: str


PreparedStep: TypeAlias = ReadyStep | SkipStep | WaitStep


class StepPreparer(Protocol):
    """What notify offers the router: the gates and the words of a step, at the moment of sending."""

    async def prepare(self, asks: Sequence[StepAsk]) -> list[PreparedStep]:
        """One answer each, in the same order, whatever their tenants; what the gates said is kept with the notification."""
        ...


class DeliveryPlan(Struct, frozen=True, kw_only=True):
    """How an execution will go: its ladder, frozen, and the terms of its policy."""

    ladder: LadderSnapshot
    strategy: Strategy
    #: The channel of the first step, where it can be prepared with the hand-off; None: the router asks for it.
    first: Channel | None
    policy_id: str | None = None
    policy_version: int | None = None
    #: What the message may cost, in micros.
    cap: int | None = None
    #: What its costs are in; None: whatever the first vendor charges in.
    currency: str | None = None


class Reservation(Struct, frozen=True, kw_only=True):
    """What the router holds for an attempt: a vendor, room in its account's limits, a cost under the cap."""

    vendor: str
    account_id: str | None = None
    #: In micros of the execution's currency.
    cost: int = 0
    currency: str | None = None
    #: Seconds that the call may take; None: as long as the adapter says.
    within: float | None = None
    #: Why this vendor, where there was a choice.
    why: str | None = None


class PlannedDelivery(Struct, frozen=True, kw_only=True):
    """A hand-off with its plan, and with its first step where that was prepared already."""

    hand_off: HandOff
    plan: DeliveryPlan
    #: None: the router asks for it when the step is due.
    first: ReadyStep | None = None
    #: For the first step's attempt; None: nothing is reserved, and the router asks for the step when it is due.
    reservation: Reservation | None = None
    #: Where an account's limit or the batch's pace has no room now: when the first step is due.
    not_before: datetime | None = None
    #: What it waits for until then: `vendor_limit` or `batch_pace`.
    waits_for: str | None = None


class Router(Protocol):
    """What the router offers notify. All that passes is frozen data, so that it may live in another process.

    What passes in both directions: hand-offs (here), steps to prepare (`StepPreparer`), one outcome event
    (`DeliveryOutcome`). Executions are named by notification and recipient: there is one for each pair. A set may hold
    hand-offs of several tenants.
    """

    async def plan(self, hand_offs: Sequence[HandOff]) -> Sequence[DeliveryPlan]:
        """The plan of each, in the same order. Nothing is written. No transaction may be open."""
        ...

    async def start(self, hand_offs: Sequence[HandOff]) -> None:
        """Plan and write the executions; when it returns they are the router's. Idempotent: the same hand-off may come twice."""
        ...


#: So many messages of this tenant are not on their way any more.
Answered: TypeAlias = Callable[[TenantId, int], object]


class SendFirstSteps(Protocol):
    """Sends the first steps of executions that were started, and records the answers; to be awaited after the commit."""

    async def __call__(self, answered: Answered | None = None) -> None:
        """`answered` hears of each tenant's messages when their vendors have answered, while others still wait for theirs."""
        ...


class InProcessRouter(Router, Protocol):
    """An optimisation where notify and the router share a process and a database: the state of the notification and
    its execution commit in one transaction, and the first step is prepared, and its attempt reserved, before that.

    For a router in another process notify has one of its own, which commits the announcement in the execution's place."""

    async def reserve(self, deliveries: Sequence[PlannedDelivery]) -> Sequence[PlannedDelivery]:
        """The same, with reservations for the first steps that are ready. No transaction may be open."""
        ...

    async def start_in(
        self, tx: TenantTx | TenantsTx, deliveries: Sequence[PlannedDelivery], *, last: bool = False
    ) -> SendFirstSteps:
        """Write the executions in notify's transaction, which names all their tenants; what it returns is to be awaited after the commit.

        `last`: the transaction ends with them, in the same trip.
        """
        ...


class AddressTold(Struct, frozen=True, kw_only=True):
    """What a vendor's refusal means for one address of several that a message went to."""

    #: Its name in notify; never the address.
    address_id: str
    effect: Effect


class AttemptTold(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One attempt, as the outcome tells of it; no address, no text."""

    id: str
    step: int
    channel: str
    status: str
    started_at: Moment
    ended_at: Moment
    vendor: str | None = None
    reason: str | None = None
    provider_message_id: str | None = None
    #: What the vendor's refusal means for the address.
    effect: Effect | None = None
    #: Where it went to several devices: what is meant for single ones, also where another one took it.
    others: tuple[AddressTold, ...] = ()
    #: Of the vendor's answer, where it came over HTTP.
    http_status: int | None = None
    #: How long the vendor wanted to be left alone.
    retry_after_ms: int | None = None
    #: What the vendor said, in short; without anything personal.
    error: str | None = None
    #: Where the router keeps the vendor's answer, sealed.
    answer_ref: str | None = None


class DeliveryOutcome(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a notification: said once."""

    notification_id: str
    recipient_id: str
    execution_id: str
    result: DeliveryResult
    ended_at: Moment
    evidence: Evidence | None = None
    final_channel: str | None = None
    #: Why, where it was not delivered: a code.
    reason: str | None = None
    attempts: tuple[AttemptTold, ...] = ()


class TenantOutcome(Struct, frozen=True, kw_only=True):
    """An outcome in a set of several tenants'."""

    tenant_id: TenantId
    outcome: DeliveryOutcome
    #: The place in a trace that its notification comes from.
    traceparent: str | None = None


class OutcomeSettler(Protocol):
    """Settles notifications in the transaction in which the router records their outcomes.

    Only where notify and the router share a process and a database; elsewhere, and where it fails, the consumer group does
    it when the event arrives.
    """

    @property
    def group(self) -> str:
        """The consumer group that need not apply the events of what is settled here."""
        ...

    def settles(self, outcome: DeliveryOutcome) -> bool:
        """Whether it is one for `settle_in`; the others are left to the consumer group."""
        ...

    async def settle_in(self, tx: TenantTx | TenantsTx, outcomes: Sequence[TenantOutcome]) -> None:
        """Settle a set, of whatever tenants `tx` is for. After an exception `tx` can't be committed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedPage:
    """Executions that ended, a page of them."""

    by_tenant: Mapping[TenantId, Sequence[NotificationId]]
    #: The end of the last one; None where there is none.
    until: datetime | None


class EndedExecutions(Protocol):
    """What the router can tell of executions that are over, so that no outcome is missed for ever."""

    async def page(self, tx: WorkerTx, *, after: datetime, settled_for: timedelta, limit: int) -> EndedPage:
        """The next ones after that moment, the oldest first; none that ended within the last `settled_for`."""
        ...

    async def outcomes(self, tx: TenantTx, ids: Sequence[NotificationId]) -> list[DeliveryOutcome]:
        """How the executions of some notifications ended, as it was announced."""
        ...


class TakenHandOvers(Protocol):
    """What the router can tell of hand-overs that were announced on the bus, so that none is lost for ever."""

    async def taken(
        self, requests: Sequence[tuple[TenantId, NotificationId]]
    ) -> set[tuple[TenantId, NotificationId]]:
        """Those that it has taken, under way or over."""
        ...


DELIVERY_EVENTS: dict[str, type[Struct]] = {
    OUTCOME_SUBJECT: DeliveryOutcome,
    DISPATCH_REQUESTED_SUBJECT: DispatchRequested,
}
