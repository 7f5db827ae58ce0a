"""Batches as JSON: what requests bring, and what answers show."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Literal

from msgspec import Meta, Struct

from tidings.contracts.enums import Category
from tidings.contracts.ids import RECIPIENT
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, TimeOfDay
from tidings.contracts.text import Label
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.accept.wire import AcceptedView, TemplateKey
from tidings.notify.batches.drafts import BatchDraft
from tidings.notify.batches.filter import read_filter
from tidings.notify.batches.model import (
    AccountRate,
    BatchAudience,
    BatchCounts,
    BatchPriority,
    BatchStatus,
    BatchTotals,
    BatchVariables,
    BatchVariant,
    Pacing,
    PersonState,
    SendingWindow,
    StoredBatch,
)
from tidings.notify.batches.store import PersonLine
from tidings.notify.batches.timing import fits
from tidings.notify.recipients.recipient_input import RecipientInput, RecipientSpec, spec_of
from tidings.notify.tenants.model import zone_exists

#: Of a list in the body; longer ones are uploaded.
MOST_NAMED: Final = 1_000
#: People that a test goes to.
MOST_TESTED: Final = 20
_LONGEST_WAIT: Final = timedelta(days=365)
_SKEW: Final = timedelta(minutes=1)

FilterText = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4_000,
        description="A condition over recipients: `tag = 'vip' and locale = 'fr'`.",
    ),
]


class VariantInput(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A share of the people, who get other words."""

    percent: Annotated[int, Meta(ge=1, le=100)]
    #: Default: `A`, `B`, …
    name: Label | None = None
    #: Default: the batch's own.
    template: TemplateKey | None = None
    #: Over those of the batch.
    variables: dict[str, Any] = {}


class WriteBatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A batch: what is said, to whom and when."""

    remedies: ClassVar[dict[str, str]] = {
        "recipient_query": "did you mean filter?",
        "query": "did you mean filter?",
        "schedule": "did you mean scheduled_for?",
        "send_window": "did you mean window?",
        "rate_limit": "did you mean pacing?",
    }

    name: Label
    template: TemplateKey
    channel: Channel | Literal["auto"] = "auto"
    #: Whom it is for. Left out: those of a list, in `recipients` or uploaded afterwards.
    filter: FilterText | None = None
    #: Ids, or objects as in notifications. They replace a list that is there.
    recipients: Annotated[list[str | RecipientInput], Meta(max_length=MOST_NAMED)] | None = None
    variables: dict[str, Any] = {}
    #: Default: the template's.
    category: Category | None = None
    priority: BatchPriority = "low"
    #: It begins then, once it is started. Default: at once.
    scheduled_for: Moment | None = None
    #: Each person gets it when their clock shows this.
    local_time: TimeOfDay | None = None
    window: SendingWindow | None = None
    pacing: Pacing | None = None
    #: The rest gets the batch as it is.
    variants: Annotated[list[VariantInput], Meta(max_length=10)] = []
    #: Somebody else has to approve it before it is started.
    needs_approval: bool = False

    def draft(self, now: datetime) -> BatchDraft:
        """What is to be written; an `InvalidError` that names every field that is wrong in itself."""
        wrong: list[FieldError] = [*self._wrong_times(now), *self._wrong_pacing(), *self._wrong_variants()]
        people: list[RecipientSpec] | None = None
        try:
            if self.filter is not None:
                read_filter(self.filter)
        except BadValueError as error:
            wrong.append(FieldError(error.field, error.remedy))
        if self.recipients is not None:
            people = []
            for place, one in enumerate(self.recipients):
                try:
                    people.append(_spec(one, f"recipients[{place}]"))
                except BadValueError as error:
                    wrong.append(FieldError(error.field, error.remedy))
                except InvalidError as error:
                    wrong += error.errors
        if wrong:
            raise InvalidError(wrong)
        return BatchDraft(
            name=self.name,
            template=self.template,
            channel=self.channel,
            audience=BatchAudience(filter=self.filter, listed=people is not None),
            people=people,
            variables=BatchVariables(
                all=self.variables, variants=tuple(variant.variables for variant in self.variants)
            ),
            category=self.category,
            priority=self.priority,
            scheduled_for=self.scheduled_for,
            local_time=self.local_time,
            window=self.window,
            pacing=self.pacing,
            variants=tuple(
                BatchVariant(
                    name=variant.name or chr(ord("A") + place),
                    percent=variant.percent,
                    template=variant.template,
                )
                for place, variant in enumerate(self.variants)
            ),
            needs_approval=self.needs_approval,
        )

    def _wrong_times(self, now: datetime) -> list[FieldError]:
        wrong: list[FieldError] = []
        if self.scheduled_for is not None and self.scheduled_for < now - _SKEW:
            wrong.append(
                FieldError(
                    "scheduled_for", "must not be in the past; leave it out to begin when it is started"
                )
            )
        if self.scheduled_for is not None and self.scheduled_for > now + _LONGEST_WAIT:
            wrong.append(FieldError("scheduled_for", f"must be within the next {_LONGEST_WAIT.days} days"))
        window = self.window
        if window is None:
            return wrong
        if window.start == window.end:
            wrong.append(FieldError("window.end", "must differ from start"))
        if len(set(window.days)) != len(window.days):
            wrong.append(FieldError("window.days", "must name each day once"))
        if window.timezone not in ("tenant", "recipient") and not zone_exists(window.timezone):
            wrong.append(
                FieldError(
                    "window.timezone", "must be tenant, recipient, or an IANA time zone such as Europe/Berlin"
                )
            )
        if self.local_time is not None and not fits(self.local_time, window):
            wrong.append(FieldError("local_time", "must be within the window"))
        if self.local_time is not None and window.timezone != "recipient":
            wrong.append(
                FieldError(
                    "window.timezone", "must be recipient beside local_time, which is each person's own"
                )
            )
        return wrong

    def _wrong_pacing(self) -> list[FieldError]:
        wrong: list[FieldError] = []
        domains = self.pacing.domains if self.pacing else {}
        if domains and self.channel not in ("email", "auto"):
            wrong.append(FieldError("pacing.domains", "are of mail addresses, and the channel is another"))
        if any(domain.startswith("*") for domain in domains):
            wrong.append(FieldError("pacing.domains", "must be whole domains, such as gmail.com"))
        return wrong + (self._wrong_rates(self.pacing) if self.pacing is not None else [])

    def _wrong_rates(self, pacing: Pacing) -> list[FieldError]:
        nothing = AccountRate()
        wrong = [
            FieldError(f"pacing.{name}.{key}", "must say per_minute, per_hour, per_day or warm_up")
            for name, rates in (("accounts", pacing.accounts), ("vendors", pacing.vendors))
            for key, rate in rates.items()
            if rate == nothing
        ]
        if pacing.timezone != "tenant" and not zone_exists(pacing.timezone):
            wrong.append(
                FieldError("pacing.timezone", "must be tenant, or an IANA time zone such as Europe/Berlin")
            )
        # Who waits for the next day would get it at midnight, and not at the hour that was meant for them.
        if pacing.by_day and self.local_time is not None:
            wrong.append(
                FieldError(
                    "local_time", "can't stand beside per_day or warm_up; give the batch a window instead"
                )
            )
        if pacing.by_day and self.window is not None and self.window.timezone == "recipient":
            wrong.append(FieldError("window.timezone", "must be tenant or a zone beside per_day or warm_up"))
        return wrong

    def _wrong_variants(self) -> list[FieldError]:
        wrong = [
            FieldError(f"variants[{place}]", "must have a template or variables of its own")
            for place, variant in enumerate(self.variants)
            if variant.template is None and not variant.variables
        ]
        if sum(variant.percent for variant in self.variants) > 100:
            wrong.append(FieldError("variants", "must be 100 percent together at most"))
        names = [variant.name for variant in self.variants if variant.name is not None]
        if len(set(names)) != len(names):
            wrong.append(FieldError("variants", "must have different names"))
        return wrong


class ListBatches(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which batches are wanted."""

    status: BatchStatus | None = None


class ListBatchPeople(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which people of a batch are wanted."""

    state: PersonState | None = None
    #: Of this share of an A/B test, counted from 1; 0: the batch as it is.
    variant: Annotated[int, Meta(ge=0, le=10)] | None = None
    #: `true`: those of whom a vendor's answer was never read.
    unread: Literal["true", "false"] = "false"


class ShowReport(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a report is wanted."""

    #: `true`: every line of the ledger is counted, and held against the totals.
    verify: Literal["true", "false"] = "false"


class CloneBatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How the copy differs."""

    #: Default: the same.
    name: Label | None = None


class TestBatch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Who gets a test."""

    __test__ = False

    #: Ids, or objects as in notifications.
    recipients: Annotated[list[str | RecipientInput], Meta(min_length=1, max_length=MOST_TESTED)]
    #: Which share's words, counted from 1; 0: those of the batch as it is.
    variant: Annotated[int, Meta(ge=0, le=10)] = 0
    #: Over those of the batch, in the place of what its list says of each person.
    variables: dict[str, Any] = {}

    def people(self) -> list[RecipientSpec]:
        """Whom it names."""
        return [_spec(one, f"recipients[{place}]") for place, one in enumerate(self.recipients)]


def _spec(one: str | RecipientInput, field: str) -> RecipientSpec:
    if isinstance(one, str):
        return RecipientSpec(id=RECIPIENT.parse(one, field=field))
    return spec_of(one, field=field)


class BatchVariablesView(Struct, frozen=True, kw_only=True):
    """What a batch's template gets, for who goes on writing it."""

    #: Of everybody.
    variables: dict[str, Any]
    #: Over those, of each share of an A/B test in their order.
    variants: list[dict[str, Any]]


class VariantView(Struct, frozen=True, kw_only=True):
    """A share of an A/B test."""

    name: str
    percent: int
    #: Null: the batch's own.
    template: str | None


class BatchView(Struct, frozen=True, kw_only=True):
    """A batch as it stands. Its variables are sealed, and not shown."""

    id: str
    name: str
    status: BatchStatus
    totals: BatchTotals
    template: str
    channel: str
    category: str
    priority: str
    #: Null: all who are on its list.
    filter: str | None
    #: Whether it is for those of a list.
    listed: bool
    scheduled_for: Moment | None
    local_time: str | None
    window: SendingWindow | None
    pacing: Pacing | None
    variants: list[VariantView]
    needs_approval: bool
    approved_by: str | None
    approved_at: Moment | None
    #: Why it was paused or failed by itself.
    problem: str | None
    cloned_from: str | None
    created_by: str
    created_at: Moment
    updated_at: Moment
    started_at: Moment | None
    paused_at: Moment | None
    cancelled_at: Moment | None
    failed_at: Moment | None
    #: Since when nothing is under way any more.
    completed_at: Moment | None
    version: int

    @classmethod
    def of(cls, batch: StoredBatch, counts: BatchCounts) -> "BatchView":
        """The batch as it is shown."""
        return by_name(
            cls,
            batch,
            totals=counts.totals(
                expected=batch.expected, walked=batch.walked_at is not None, cancelled=batch.has_ended
            ),
            template=batch.template_key,
            filter=batch.audience.filter,
            listed=batch.audience.listed,
            variants=[by_name(VariantView, variant) for variant in batch.variants],
        )


class BatchPersonView(Struct, frozen=True, kw_only=True):
    """A line of the ledger."""

    recipient_id: str
    state: PersonState
    #: The share of an A/B test that they are in; null: the batch as it is.
    variant: str | None
    #: Null where no message was made.
    notification_id: str | None
    #: Why it ended so: a code.
    reason: str | None
    #: Calls of a vendor whose answer was never read: the message may have arrived once more.
    unread_answers: int
    #: When their message is made, while they are planned.
    send_at: Moment | None

    @classmethod
    def of(cls, line: PersonLine, batch: StoredBatch) -> "BatchPersonView":
        """The line as it is shown."""
        name = batch.variants[line.variant - 1].name if line.variant else None
        return by_name(cls, line, variant=name, reason=line.error_code)


class SampledPerson(Struct, frozen=True, kw_only=True):
    """Somebody that a batch would go to."""

    recipient_id: str
    #: Where it would go, as hints such as `l…@e….test`.
    to: list[str]
    #: Why no message could be made for them: variables that are missing or wrong, by name.
    problems: list[str]


class BatchPreview(Struct, frozen=True, kw_only=True):
    """What a batch would do now; nothing is sent."""

    #: How many people it is for.
    count: int
    #: Some of them.
    sample: list[SampledPerson]
    #: How many of them have an address, by channel.
    channels: Mapping[str, int]
    #: What would keep it from being sent, or from reaching people.
    problems: list[str]


class UnreadAnswer(Struct, frozen=True, kw_only=True):
    """Somebody whose message may have arrived more than once."""

    recipient_id: str
    notification_id: str
    #: How many answers of vendors were never read.
    answers: int


class VariantResult(Struct, frozen=True, kw_only=True):
    """What one share of an A/B test came to."""

    name: str
    #: Null: those who are in no share.
    percent: int | None
    template: str
    people: int
    sent: int
    delivered: int
    failed: int
    suppressed: int
    bounced: int
    opened: int
    clicked: int


class LedgerProof(Struct, frozen=True, kw_only=True):
    """The ledger, counted line by line, beside the totals that were kept."""

    #: Lines by state; each person has one.
    lines: Mapping[str, int]
    people: int
    #: Whether they are the same.
    agrees: bool


class BatchReport(Struct, frozen=True, kw_only=True):
    """What a batch came to, and the proof that everybody was met once."""

    batch_id: str
    status: BatchStatus
    totals: BatchTotals
    #: The people that the runner has met, by what became of each; together they are `met`.
    states: Mapping[str, int]
    met: int
    #: Not met: the batch was not that far, or ended before.
    unmet: int
    #: The shares of an A/B test; one line where there is none.
    variants: list[VariantResult]
    #: The first hundred whose message may have gone out twice, because a worker died before it had read the vendor's answer.
    unread_answers: list[UnreadAnswer]
    #: Null unless it is asked for.
    proof: LedgerProof | None


class TestedBatch(Struct, frozen=True, kw_only=True):
    """The messages of a test."""

    __test__ = False

    items: list[AcceptedView]
