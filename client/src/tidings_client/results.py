"""What the server says, typed.

Fields that a newer server adds are passed over, and words that it adds are plain text: an older client goes on working.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Generic, TypeVar

from msgspec import Struct, field

T = TypeVar("T")

#: Statuses that nothing follows by itself.
DONE = frozenset({"delivered", "failed", "bounced", "suppressed", "superseded", "cancelled", "expired"})


class FieldProblem(Struct, frozen=True):
    """One field that is not acceptable."""

    #: Such as `recipient.addresses[0].address`.
    field: str
    #: What to do about it.
    remedy: str


class Problem(Struct, frozen=True, kw_only=True):
    """What went wrong, for programs (`code`) and for people (`detail`)."""

    status: int
    code: str = "unknown"
    title: str = ""
    detail: str = ""
    type: str = ""
    request_id: str = ""
    errors: tuple[FieldProblem, ...] = ()
    #: What an examination found, such as the validator of templates.
    report: tuple[Mapping[str, Any], ...] = ()
    #: Of a bulk that was refused whole: what is wrong with each.
    results: tuple[Mapping[str, Any], ...] = ()


class Accepted(Struct, frozen=True, kw_only=True):
    """A notification that was accepted: the server keeps it, whatever happens next."""

    id: str
    status: str
    recipient_id: str
    created_at: datetime
    #: There was one already for this event, template, recipient and channel: this is it.
    duplicate: bool = False
    links: Mapping[str, str] = field(default_factory=dict)


class BulkItem(Struct, frozen=True, kw_only=True):
    """What became of one item: as for a single one, or the problem with it."""

    #: Its place in what was sent.
    index: int
    id: str | None = None
    status: str | None = None
    recipient_id: str | None = None
    created_at: datetime | None = None
    duplicate: bool = False
    links: Mapping[str, str] = field(default_factory=dict)
    problem: Problem | None = None

    @property
    def ok(self) -> bool:
        """Whether it was accepted."""
        return self.problem is None


class Bulk(Struct, frozen=True, kw_only=True):
    """What became of all, in their order."""

    accepted: int
    refused: int
    results: tuple[BulkItem, ...]


class TemplateUsed(Struct, frozen=True, kw_only=True):
    """Which text: frozen when the notification was accepted."""

    key: str
    version: str | None = None
    version_id: str | None = None


class Notification(Struct, frozen=True, kw_only=True):
    """A notification as it stands."""

    id: str
    status: str
    #: As asked for; `final_channel` is the one that delivered.
    channel: str
    recipient_id: str
    created_at: datetime
    #: Where it is while it is under way: `queued`, `waiting`, `sending` or `ending`.
    phase: str | None = None
    template: TemplateUsed | None = None
    final_channel: str | None = None
    category: str | None = None
    use_case: str | None = None
    priority: str | None = None
    locale: str | None = None
    scheduled_for: datetime | None = None
    expires_at: datetime | None = None
    updated_at: datetime | None = None
    dispatched_at: datetime | None = None
    delivered_at: datetime | None = None
    failed_at: datetime | None = None
    bounced_at: datetime | None = None
    suppressed_at: datetime | None = None
    superseded_at: datetime | None = None
    cancelled_at: datetime | None = None
    expired_at: datetime | None = None
    opened_at: datetime | None = None
    clicked_at: datetime | None = None
    read_at: datetime | None = None
    #: A code, where there is a reason to tell.
    reason: str | None = None
    #: What `delivered` rests on: `accepted`, `sent`, `delivered` or `read`.
    evidence: str | None = None
    correlation_id: str | None = None
    source_event_id: str | None = None
    source_event_type: str | None = None
    source_event_produced_at: datetime | None = None
    #: The trace of the request that ordered it.
    trace_id: str | None = None
    is_test: bool = False
    metadata: Mapping[str, Any] | None = None
    #: The notification that it repeats.
    resent_from: str | None = None

    @property
    def done(self) -> bool:
        """Whether nothing follows by itself."""
        return self.status in DONE


class GateLine(Struct, frozen=True, kw_only=True):
    """What one gate said."""

    gate: str
    #: `pass`, `stop`, `defer`; in a rehearsal also `not_asked`, where asking would use something up.
    verdict: str
    reason: str | None = None
    #: The reason in words.
    explanation: str | None = None
    #: Until when it was deferred.
    until: datetime | None = None
    #: The step of the ladder that it was asked for; None for the notification as a whole.
    step: int | None = None


class Body(Struct, frozen=True, kw_only=True):
    """A message as the person sees it."""

    channel: str | None = None
    subject: str | None = None
    text: str | None = None
    html: str | None = None
    locale: str | None = None
    #: `ltr` or `rtl`.
    direction: str | None = None
    #: Whether it is proven to be what was sent.
    exact: bool | None = None
    #: The template's pictures that it carries, by name.
    pictures: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Body(locale={self.locale!r}, ***)"


class TriedStep(Struct, frozen=True, kw_only=True):
    """What would become of one step of the ladder; a later one is taken only if those before it fail."""

    step: int
    channel: str
    verdict: str
    vendor: str | None = None
    reason: str | None = None
    explanation: str | None = None
    until: datetime | None = None


class Simulation(Struct, frozen=True, kw_only=True):
    """What would happen; nothing was written and nothing was sent."""

    #: `send`, `defer` or `stop`.
    would: str
    #: The moment that was decided for: when it is scheduled for, or else now.
    at: datetime | None = None
    #: Until when it would wait.
    until: datetime | None = None
    #: Why it would wait or not be sent: a code.
    reason: str | None = None
    #: The whole of it in a few sentences.
    summary: str | None = None
    decision: tuple[GateLine, ...] = ()
    #: What would become of each step of the ladder.
    steps: tuple[TriedStep, ...] = ()
    #: What a rehearsal can't know.
    notes: tuple[str, ...] = ()
    template: Mapping[str, Any] | None = None
    preferences: Mapping[str, Any] | None = None
    #: None where it would not be sent.
    message: Body | None = None


class Attempt(Struct, frozen=True, kw_only=True):
    """A vendor's answer, or a step that was skipped."""

    id: str
    status: str
    channel: str | None = None
    vendor: str | None = None
    step: int | None = None
    reason: str | None = None
    #: What the vendor's code means by the status map; None where the map has no line.
    meaning: str | None = None
    #: False where it is not known whether the vendor took it; None while its answer is awaited.
    answer_learned: bool | None = None
    provider_message_id: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None


class Happening(Struct, frozen=True, kw_only=True):
    """One thing that happened to a notification."""

    at: datetime
    kind: str
    #: Whatever else there is to tell, by name.
    facts: Mapping[str, Any]


class Explanation(Struct, frozen=True, kw_only=True):
    """Why it did or did not happen."""

    notification: Notification
    #: The whole of it in a few sentences.
    summary: str | None = None
    #: A vendor's answer was never learned and it was sent again: the person may have got it twice.
    possibly_repeated: bool = False
    decision: tuple[GateLine, ...] = ()
    #: The oldest first.
    timeline: tuple[Happening, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    template: Mapping[str, Any] | None = None
    preferences: Mapping[str, Any] | None = None
    policy: Mapping[str, Any] | None = None
    #: The whole answer as it came.
    raw: Mapping[str, Any] = field(default_factory=dict)


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """Some items, and how to get the next ones."""

    items: tuple[T, ...]
    #: None on the last page.
    next_cursor: str | None = None


class Count(Struct, frozen=True, kw_only=True):
    """How many of something on a day."""

    #: `accepted`, `delivered`, `failed`, …
    name: str
    n: int
    channel: str | None = None
    category: str | None = None


class Day(Struct, frozen=True, kw_only=True):
    """The counts of one day."""

    day: date
    counts: tuple[Count, ...] = ()


class Counters(Struct, frozen=True, kw_only=True):
    """How many of what, by day and over all."""

    days: tuple[Day, ...] = ()
    totals: Mapping[str, int] = field(default_factory=dict)
