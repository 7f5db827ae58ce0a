"""A subscription to what others publish, what has become of its messages, and a message that was refused."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.outside_subjects import OutsideInterest
from tidings.notify.ids import EventSubscriptionId, RefusedMessageId

#: Each is read by a task of its own.
MOST_SUBSCRIPTIONS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class EventSubscription:
    """Which messages come in, and whose events they are."""

    id: EventSubscriptionId
    name: str
    subject: str
    #: All messages are this tenant's.
    for_tenant: TenantId | None
    #: Which word of the subject, counted from 1, has the tenant's id or slug. None beside no tenant: events about tenants.
    tenant_word: int | None
    #: What comes is a test.
    is_test: bool
    #: Whether `iam.user.deleted.v1` is taken, which erases a person.
    may_erase: bool
    #: Messages since then; None: all that the stream had.
    since: datetime | None
    enabled: bool
    version: int
    created_at: datetime
    updated_at: datetime
    #: It is gone, as soon as the broker has forgotten it too.
    deleted_at: datetime | None = None

    @property
    def about_tenants(self) -> bool:
        """Its events are the platform's, and tell of tenants."""
        return self.for_tenant is None and self.tenant_word is None

    def tenant_named(self, subject: str) -> str | None:
        """The id or slug of the tenant whose message this is; None where the subject has no such word."""
        if self.for_tenant is not None:
            return self.for_tenant
        words = subject.split(".")
        place = self.tenant_word or 0
        return words[place - 1] if 0 < place <= len(words) else None

    def interest(self, known: "SubscriptionProgress | None") -> OutsideInterest:
        """What the broker is told."""
        return OutsideInterest(
            id=self.id,
            name=self.name,
            subject=self.subject,
            since=self.since,
            stream=known.stream if known else None,
            position=known.position if known else 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionProgress:
    """How far a subscription has been read, and what came of it."""

    #: Where its messages are kept; None before it was read.
    stream: str | None = None
    #: Tidings made that stream, because there was none.
    own_stream: bool = False
    #: The last place that is done with.
    position: int = 0
    accepted: int = 0
    #: Events that had come before.
    repeated: int = 0
    refused: int = 0
    #: Messages that the broker still had, when it last said so.
    waiting: int = 0
    last_received_at: datetime | None = None
    last_refused_at: datetime | None = None
    #: The code of the last refusal.
    last_refusal: str | None = None
    #: Why it can't be read now.
    problem: str | None = None
    problem_since: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRefusal:
    """Why a message is no event of a tenant; nothing of its content."""

    code: str
    #: The attribute that is wrong, where it is one that CloudEvents names.
    field: str
    #: What it has to be instead, or what is in the way.
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptMessage:
    """What a message says, sealed where it is kept."""

    subject: str
    headers: Mapping[str, str] = field(repr=False)
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedMessage:
    """A message that was refused, without what it says."""

    id: RefusedMessageId
    stream: str
    position: int
    refused_at: datetime
    size: int
    code: str
    field: str
    remedy: str
    #: Its content is kept, so that it can be tried again.
    kept: bool


def check_tenant_word(subject: str, place: int) -> None:
    """A `BadValueError` where that word says the same in every message, or is not in every one."""
    words = subject.split(".")
    at = place - 1
    if words[-1] == ">" and at >= len(words) - 1:
        if at == len(words) - 1:
            return
        raise BadValueError(
            "tenant_word", f"must be at most {len(words)}: a message may have no more words than that"
        )
    if at >= len(words):
        raise BadValueError("tenant_word", f"must be at most {len(words)}: the subject has no more words")
    if words[at] != "*":
        raise BadValueError(
            "tenant_word", f"must be a word that is * in the subject: word {place} is always {words[at][:60]}"
        )
