"""A batch, its states, its shares and its totals; pure."""

import hashlib
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, TypeAlias

from msgspec import Meta, Struct

from tidings.contracts.enums import Vendor
from tidings.contracts.ids import NotificationId, RecipientId
from tidings.contracts.tenants import Count, Day, Domain, TimeOfDay, TimeZone
from tidings.kernel.ids import TenantId
from tidings.notify.accept.row import AnyChannel
from tidings.notify.ids import BatchId

#: What the sealed box of a batch's variables is for, and whose key it is under.
VARIABLES_PURPOSE: Final = "batch_variables"
SEALED_FOR: Final = "_tenant/batches"

#: An account with a vendor, as channels and `tidings adapter list` name it.
AccountName: TypeAlias = Annotated[
    str,
    Meta(
        max_length=64, pattern=r"^adcfg_[0-9A-Z]+\Z", description="must be the id of an account: `adcfg_…`."
    ),
]

#: Transactional messages go before either; the two other priorities are not for many people at once.
BatchPriority = Literal["low", "normal"]


class BatchStatus(StrEnum):
    """Where a batch stands."""

    DRAFT = "draft"
    SCHEDULED = "scheduled"
    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


#: From where each can be reached.
REACHED_FROM: Final[Mapping[BatchStatus, frozenset[BatchStatus]]] = {
    BatchStatus.SCHEDULED: frozenset({BatchStatus.DRAFT, BatchStatus.PAUSED}),
    BatchStatus.RUNNING: frozenset({BatchStatus.DRAFT, BatchStatus.SCHEDULED, BatchStatus.PAUSED}),
    BatchStatus.PAUSED: frozenset({BatchStatus.SCHEDULED, BatchStatus.RUNNING}),
    BatchStatus.COMPLETED: frozenset({BatchStatus.RUNNING}),
    BatchStatus.CANCELLED: frozenset(
        {BatchStatus.DRAFT, BatchStatus.SCHEDULED, BatchStatus.RUNNING, BatchStatus.PAUSED}
    ),
    BatchStatus.FAILED: frozenset({BatchStatus.SCHEDULED, BatchStatus.RUNNING}),
}
ENDED: Final = frozenset({BatchStatus.COMPLETED, BatchStatus.CANCELLED, BatchStatus.FAILED})


class PersonState(StrEnum):
    """Where one person of a batch stands."""

    PLANNED = "planned"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    SENT = "sent"
    DELIVERED = "delivered"
    BOUNCED = "bounced"
    FAILED = "failed"
    SUPPRESSED = "suppressed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    #: The batch was cancelled before a message was made for them.
    WITHDRAWN = "withdrawn"


class _Whatever:
    """Holds every name."""

    def __contains__(self, name: object) -> bool:
        return True


class BatchAudience(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Whom a batch is for."""

    #: A condition over recipients; None: all who are listed.
    filter: str | None = None
    #: Those of a list, as far as the filter lets them.
    listed: bool = False
    #: The names of variables that the list brings for some of them.
    variables: tuple[str, ...] = ()

    @property
    def is_said(self) -> bool:
        """Whether it says anything: a batch is never for everybody by mistake."""
        return self.filter is not None or self.listed

    @property
    def may_lack(self) -> Container[str]:
        """Names of variables that the batch need not have: its list has them, or will, where it is for nobody yet."""
        return self.variables if self.is_said else _Whatever()


class AccountRate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many messages of the batch go through a vendor or an account; each that is given holds."""

    per_minute: Count | None = None
    per_hour: Count | None = None
    #: On each day of the batch's zone.
    per_day: Count | None = None
    #: On its first day, on the second, …; afterwards the others hold alone.
    warm_up: Annotated[tuple[Count, ...], Meta(max_length=90)] = ()


class Pacing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How quickly people are written to. Limits of tenants, channels and vendor accounts hold beside it."""

    #: People of this batch in a minute.
    per_minute: Count | None = None
    #: Those of them whose mail address is at this domain, in a minute.
    domains: Annotated[dict[Domain, Count], Meta(max_length=50)] = {}
    #: Its messages through an account, by the account's id.
    accounts: Annotated[dict[AccountName, AccountRate], Meta(max_length=20)] = {}
    #: The same by vendor, whichever account is behind it.
    vendors: Annotated[dict[Vendor, AccountRate], Meta(max_length=20)] = {}
    #: Whose days `per_day` and `warm_up` are of: `tenant`, or a zone.
    timezone: TimeZone = "tenant"

    @property
    def by_account(self) -> bool:
        """Whether vendors or accounts are paced."""
        return bool(self.accounts or self.vendors)

    @property
    def by_day(self) -> bool:
        """Whether something is counted by the day."""
        rates = (*self.accounts.values(), *self.vendors.values())
        return any(rate.per_day is not None or rate.warm_up for rate in rates)


class SendingWindow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The hours and days that people are written to in."""

    start: TimeOfDay
    #: May be the day after: `22:00` to `02:00`.
    end: TimeOfDay
    days: Annotated[tuple[Day, ...], Meta(min_length=1, max_length=7)] = (
        "mon", "tue", "wed", "thu", "fri", "sat", "sun",
    )  # fmt: skip
    #: Whose clock it is: `tenant`, `recipient`, or a zone.
    timezone: TimeZone = "tenant"


class BatchVariant(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A share of an A/B test; its variables are sealed with the batch's own."""

    name: str
    percent: int
    #: None: the batch's own template.
    template: str | None = None


class BatchVariables(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is filled in, as it is sealed."""

    #: For everybody.
    all: dict[str, Any] = {}
    #: By variant, over the others.
    variants: tuple[dict[str, Any], ...] = ()


class StoredBatch(Struct, frozen=True, kw_only=True):
    """A stored batch."""

    tenant_id: TenantId
    id: BatchId
    name: str
    status: BatchStatus
    template_key: str
    channel: AnyChannel
    category: str
    priority: BatchPriority
    audience: BatchAudience
    variables_ciphertext: bytes
    scheduled_for: datetime | None
    local_time: str | None
    window: SendingWindow | None
    pacing: Pacing | None
    variants: tuple[BatchVariant, ...]
    needs_approval: bool
    created_by: str
    #: Who wrote it down as it is.
    changed_by: str
    created_at: datetime
    updated_at: datetime
    version: int
    approved_by: str | None = None
    approved_at: datetime | None = None
    cloned_from: BatchId | None = None
    started_by: str | None = None
    started_at: datetime | None = None
    paused_at: datetime | None = None
    resumed_at: datetime | None = None
    completed_at: datetime | None = None
    cancelled_at: datetime | None = None
    failed_at: datetime | None = None
    #: How many people it had when it was started.
    expected: int | None = None
    #: The last recipient that the runner has come to.
    walked_to: str = ""
    #: When it had come to the end.
    walked_at: datetime | None = None
    due_at: datetime | None = None
    attempts: int = 0
    #: When the next one may go: in all (`*`), and by mail domain.
    slots: Mapping[str, datetime] = {}
    problem: str | None = None

    def __repr__(self) -> str:
        return f"StoredBatch({self.id}, {self.status})"

    @property
    def has_ended(self) -> bool:
        """Whether nobody else is written to."""
        return self.status in ENDED

    @property
    def is_planned(self) -> bool:
        """Whether each person has a time of their own."""
        return (
            self.local_time is not None
            or (self.window is not None and self.window.timezone == "recipient")
            or bool(self.pacing and self.pacing.domains)
        )

    def variant_of(self, recipient_id: RecipientId) -> int:
        """The share that a person is in, the same whenever it is asked for; 0: the batch as it is."""
        return pick_variant(self.id, recipient_id, [variant.percent for variant in self.variants])

    def template_of(self, variant: int) -> str:
        """The template of a share."""
        own = self.variants[variant - 1].template if variant else None
        return own or self.template_key


def pick_variant(batch_id: str, recipient_id: str, percents: Sequence[int]) -> int:
    """Which of the shares, counted from 1; 0 for the rest. By a hash: a person is in the same one for good."""
    if not percents:
        return 0
    digest = hashlib.blake2s(f"{batch_id}:{recipient_id}".encode(), digest_size=8).digest()
    place = int.from_bytes(digest, "big") * 100 // (1 << 64)
    until = 0
    for number, percent in enumerate(percents, start=1):
        until += percent
        if place < until:
            return number
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody that a batch is for."""

    recipient_id: RecipientId
    timezone: str
    #: What a list says of them alone, sealed under their key.
    variables_ciphertext: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerLine:
    """What becomes of one person in a transaction of the runner."""

    recipient_id: RecipientId
    variant: int
    state: PersonState
    notification_id: NotificationId | None = None
    error_code: str | None = None
    send_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class BatchCounts:
    """How many people have come to each state, since the batch was started."""

    n: Mapping[str, int]

    def __getitem__(self, name: str) -> int:
        return self.n.get(name, 0)

    @property
    def settled(self) -> int:
        """Of those that a message was made for: how many of the messages are over."""
        return sum(
            self[name] for name in ("delivered", "failed", "suppressed", "expired", "cancelled", "superseded")
        )

    @property
    def under_way(self) -> int:
        """Messages that are not over."""
        return self["accepted"] - self.settled

    @property
    def not_handed_over(self) -> int:
        """Messages that still wait, for whatever it is. Too many rather than too few: one that failed may have been sent or not."""
        never_sent = self["cancelled"] + self["superseded"]
        return self["accepted"] - never_sent - max(self["sent"], self.settled - never_sent)

    @property
    def planned(self) -> int:
        """People whose message is still to be made."""
        return self["people"] - self["accepted"] - self["refused"] - self["withdrawn"]

    def states(self) -> dict[str, int]:
        """The people of the ledger by what became of each; together they are all of them."""
        found = {
            "planned": self.planned,
            "under_way": self.under_way,
            "delivered": self["delivered"] - self["bounced"],
            **{name: self[name] for name in _OTHER_ENDS},
        }
        return {name: count for name, count in found.items() if count}

    def totals(self, *, expected: int | None, walked: bool, cancelled: bool) -> "BatchTotals":
        """The totals of a batch that was found to have so many people when it was started."""
        met = self["people"]
        # Tags change and people are erased while it runs: in the end those count that were there.
        people = met if walked else max(met, expected or 0)
        unmet = people - met if cancelled else 0
        failed = self["failed"] + self["refused"] + self["expired"]
        withdrawn = self["cancelled"] + self["withdrawn"] + unmet
        over = self["delivered"] + failed + self["suppressed"] + self["superseded"] + withdrawn
        return BatchTotals(
            people=people,
            sent=self["sent"],
            delivered=self["delivered"],
            failed=failed,
            suppressed=self["suppressed"],
            remaining=people - over,
            superseded=self["superseded"],
            cancelled=withdrawn,
            refused=self["refused"],
            expired=self["expired"],
            bounced=self["bounced"],
            opened=self["opened"],
            clicked=self["clicked"],
        )


#: What became of people beside `delivered`.
_OTHER_ENDS: Final = (
    "bounced", "failed", "suppressed", "expired", "cancelled", "superseded", "refused", "withdrawn",
)  # fmt: skip


class BatchTotals(Struct, frozen=True, kw_only=True):
    """How far a batch is. `people` are those delivered, failed, suppressed, superseded, cancelled and remaining."""

    people: int
    #: Handed to a vendor; most of them are delivered or failed by now.
    sent: int
    delivered: int
    #: With those refused before a message was made, and those that expired.
    failed: int
    #: By consent, preference or suppression.
    suppressed: int
    #: Nothing final has become of them yet.
    remaining: int
    #: Gathered into a digest.
    superseded: int
    #: Not written to, because the batch was cancelled.
    cancelled: int
    #: Of those failed: no message could be made.
    refused: int
    #: Of those failed: it was too late.
    expired: int
    #: Of those delivered: came back afterwards.
    bounced: int
    #: Of those delivered, as far as it is watched.
    opened: int
    clicked: int
