"""Notifications as answers show them; addresses as hints, no name, nothing of the message."""

from collections.abc import Sequence
from datetime import date
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.enums import Category, NotificationStatus, Priority, UseCase
from tidings.contracts.execution_history import AttemptRecord
from tidings.contracts.messages import SenderRecord
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, MetadataKey
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import attributes, by_name
from tidings.notify.accept.searchable import MOST_VALUE
from tidings.notify.accept.wire import ForeignId, Links, TemplateKey, links_of
from tidings.notify.dispatch.sent import hints_of
from tidings.notify.notifications.counts import DayCount
from tidings.notify.notifications.messages_en import NEVER_LEARNED
from tidings.notify.notifications.model import MOMENTS, Notification
from tidings.notify.notifications.progress import Phase
from tidings.notify.notifications.store import LoggedAttempt
from tidings.notify.notifications.trace import DeliveryTrace
from tidings.notify.recipients.wire import LookUpAddress

SearchedValue = Annotated[
    str,
    Meta(min_length=1, max_length=MOST_VALUE, description=f"must be a text of 1 to {MOST_VALUE} characters"),
]


class NotificationFilter(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notifications are wanted."""

    status: NotificationStatus | None = None
    #: As asked for, or as it was delivered.
    channel: Channel | Literal["auto"] | None = None
    category: Category | None = None
    #: `rcp_…`
    recipient: Annotated[str, Meta(max_length=40)] | None = None
    #: A template's key.
    template: TemplateKey | None = None
    correlation_id: ForeignId | None = None
    #: Of one batch: `dbt_…`
    batch: Annotated[str, Meta(max_length=40)] | None = None
    #: Accepted then or later.
    since: Moment | None = None
    #: Accepted before then.
    until: Moment | None = None
    #: One value of metadata that the tenant's policy declares searchable: `metadata.order_number=A-77` in a URL.
    metadata: Annotated[dict[MetadataKey, SearchedValue], Meta(max_length=1)] = msgspec.field(
        default_factory=dict
    )


class ListNotifications(NotificationFilter, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notifications are wanted."""


class LookUpNotifications(NotificationFilter, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notifications are wanted; the same filters as of the list, and what must not stand in a URL."""

    #: Of everybody who has this address.
    address: LookUpAddress | None = None


class ShowBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which words of a notification are wanted."""

    #: As this channel says it. Default: the one that delivered it, or whose words are proven.
    channel: Channel | None = None


class TemplateRef(Struct, frozen=True, kw_only=True):
    """The text: frozen when the notification was accepted."""

    key: str
    version: str
    version_id: str

    @classmethod
    def of(cls, one: Notification) -> "TemplateRef":
        """The version that it was frozen to; for `auto`, that of the channel it went by, or else of the first."""
        return cls(key=one.template_key, version=one.template_semver, version_id=one.template_version_id)


class SenderView(Struct, frozen=True, kw_only=True):
    """Who a message came from."""

    #: A mail address, a number, a sender name; empty where the vendor's account has one of its own.
    value: str
    #: What people see beside it.
    name: str | None

    @classmethod
    def of(cls, sender: SenderRecord | None) -> "SenderView | None":
        """The sender as it was frozen; null where nothing went out."""
        return None if sender is None else cls(value=sender.value, name=sender.name)


class NotificationView(Struct, frozen=True, kw_only=True):
    """A notification as it stands."""

    id: str
    status: NotificationStatus
    #: Where it is while it is under way: `queued waiting sending ending`; null once it is over, left out in lists.
    phase: Phase | UnsetType | None = UNSET
    recipient_id: str
    #: As asked for.
    channel: str
    #: The one that delivered.
    final_channel: str | None
    category: str
    use_case: UseCase
    priority: Priority
    #: As asked for, or as it was rendered in; null until then: the recipient's.
    locale: str | None
    template: TemplateRef
    #: Why it ended so: a code.
    reason: str | None
    #: What `delivered` rests on; `accepted` where the channel has no receipts.
    evidence: str | None
    #: Where it went last, as a hint such as `l…@e….test`; empty after an erasure, left out in lists.
    to: list[str] | UnsetType = UNSET
    #: Who it came from then; null until a step was prepared.
    sender: SenderView | None
    scheduled_for: Moment | None
    expires_at: Moment
    created_at: Moment
    updated_at: Moment
    dispatched_at: Moment | None
    delivered_at: Moment | None
    failed_at: Moment | None
    bounced_at: Moment | None
    suppressed_at: Moment | None
    superseded_at: Moment | None
    cancelled_at: Moment | None
    expired_at: Moment | None
    opened_at: Moment | None
    clicked_at: Moment | None
    read_at: Moment | None
    correlation_id: str | None
    source_event_id: str | None
    source_event_type: str | None
    source_event_produced_at: Moment | None
    #: The trace of the request that ordered it, as that request's answer named it.
    trace_id: str | None
    is_test: bool
    metadata: dict[str, Any]
    #: The notification that this one repeats.
    resent_from: str | None
    #: The batch that it is part of: `dbt_…`.
    batch_id: str | None
    links: Links

    @classmethod
    def told(cls, trace: DeliveryTrace, phase: Phase | None) -> "NotificationView":
        """One notification as it is shown by itself, with where it is and where it went."""
        one = trace.notification
        hints = hints_of(trace.keys.get(one.reader_id), one.address_ciphertext)
        return msgspec.structs.replace(cls.of(one, phase), to=list(hints))

    @classmethod
    def of(cls, one: Notification, phase: Phase | UnsetType | None = UNSET) -> "NotificationView":
        """The notification as it is shown."""
        return by_name(
            cls,
            one,
            phase=phase,
            template=TemplateRef.of(one),
            to=UNSET,
            sender=SenderView.of(one.sender),
            links=links_of(one.id),
            **{f"{name}_at": one.moments.get(name) for name in MOMENTS},
        )


class AttemptView(Struct, frozen=True, kw_only=True):
    """A call to a vendor, a step that was skipped, or what a vendor said afterwards."""

    id: str
    #: Which step of the ladder; null for what a vendor said afterwards.
    step: int | None
    channel: str
    vendor: str | None
    #: `accepted sent delivered delivered_read failed_temp failed_perm rejected_by_provider rejected_by_recipient
    #: step_skipped timed_out cancelled`; afterwards also `bounced complaint opened clicked`.
    status: str
    #: A code: the vendor's, or one of ours.
    reason: str | None
    #: What the vendor's code means by the status map, such as `invalid_address`; null where nobody has said.
    meaning: str | None
    #: False where nobody knows whether the vendor took it; null while its answer is awaited.
    answer_learned: bool | None
    #: The vendor's own name for it.
    provider_message_id: str | None
    started_at: Moment
    ended_at: Moment | None
    #: Where it went, as hints such as `l…@e….test`; several where a step goes to all devices. Empty after an erasure.
    to: list[str] = []
    sender: SenderView | None = None
    #: The vendor account that it went through: `adcfg_…`.
    account_id: str | None = None
    #: Of the vendor's answer, where it came over HTTP.
    http_status: int | None = None
    #: How long the vendor wanted to be left alone.
    retry_after_ms: int | None = None
    #: What the vendor said, in short; no address and nothing of the message is in it.
    error: str | None = None
    #: Whether the vendor's answer is kept word for word; the router's executions show it.
    answer_kept: bool = False
    #: Of what was rendered, under the tenant's pepper: equal ones said the same.
    content_digest: str | None = None

    @classmethod
    def of(cls, attempt: AttemptRecord, went_to: Sequence[str] = ()) -> "AttemptView":
        """An attempt of the router, and hints of where it went."""
        record = attempt.record
        return by_name(
            cls,
            attempt,
            answer_learned=None if attempt.ended_at is None else attempt.reason != NEVER_LEARNED,
            to=list(went_to),
            sender=SenderView.of(record.sender if record is not None else None),
            answer_kept=attempt.answer_ref is not None,
            content_digest=record.digest if record is not None else None,
        )

    @classmethod
    def later(cls, line: LoggedAttempt) -> "AttemptView":
        """What a vendor said afterwards."""
        return cls(
            **attributes(line, "id channel vendor reason started_at"),
            step=None,
            status=line.outcome,
            meaning=None,
            answer_learned=True,
            provider_message_id=line.vendor_message_id,
            ended_at=line.finished_at,
        )


def attempts_of(trace: DeliveryTrace) -> list[AttemptView]:
    """All of them, the oldest first."""
    found = [AttemptView.of(attempt, trace.went_to(attempt)) for attempt in trace.attempts]
    found += [AttemptView.later(line) for line in trace.said_later]
    return sorted(found, key=lambda attempt: attempt.started_at)


class AttemptList(Struct, frozen=True, kw_only=True):
    """All attempts of a notification, the oldest first; there are never many."""

    items: list[AttemptView]
    #: Always null; there is one page.
    next_cursor: str | None = None


class ShowCounters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which days are wanted, in UTC."""

    #: The first day, such as `2026-11-01`; six days before the last where it is left out.
    first: date | None = msgspec.field(default=None, name="from")
    #: The last day; today where it is left out.
    last: date | None = msgspec.field(default=None, name="to")


class CountView(Struct, frozen=True, kw_only=True):
    """How many of something on a day."""

    #: `accepted deferred`, or the status that they came to.
    name: str
    #: As asked for.
    channel: str
    category: str
    n: int


class DayView(Struct, frozen=True, kw_only=True):
    """The counts of one day."""

    day: date
    counts: list[CountView]


class CountersView(Struct, frozen=True, kw_only=True):
    """How many of what, by day and over all."""

    #: Days on which nothing happened are left out.
    days: list[DayView]
    #: Over all of these days, by name.
    totals: dict[str, int]

    @classmethod
    def of(cls, counts: list[DayCount]) -> "CountersView":
        """The counts as they are shown."""
        days: dict[date, list[CountView]] = {}
        totals: dict[str, int] = {}
        for count in counts:
            line = by_name(CountView, count)
            days.setdefault(count.day, []).append(line)
            totals[count.name] = totals.get(count.name, 0) + count.n
        return cls(days=[DayView(day=day, counts=lines) for day, lines in days.items()], totals=totals)
