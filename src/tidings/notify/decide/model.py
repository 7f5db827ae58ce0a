"""What deciding takes and gives: a request, a verdict of each gate, a decision with its trace.

Structs, because some are made for every notification: that takes a fifth of a frozen dataclass's time.
"""

from datetime import datetime
from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from tidings.contracts.enums import NotificationStatus, Priority, UseCase
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.decide.reasons import GateReason
from tidings.notify.facts.model import AddressFacts


class Pass(Struct, frozen=True):
    """The gate lets it through."""

    #: Worth telling, though nothing stopped it.
    reason: GateReason | None = None
    #: The id of who is written to instead or too: a guardian.
    by: str | None = None


class Stop(Struct, frozen=True):
    """It is not sent; the notification, or this step of it, ends so."""

    status: NotificationStatus
    reason: GateReason
    #: The id of what stands in the way, where that has one: a suppression, a refusal.
    by: str | None = None


class Defer(Struct, frozen=True):
    """Not now: it is decided anew at that moment."""

    until: datetime
    reason: GateReason


class JoinDigest(Defer, frozen=True, kw_only=True):
    """Not by itself: it joins the window that is open for it, and `until` is when that is flushed if it is the first."""

    #: The latest that the schedule allows, and whether every item puts the flush off.
    window_end: datetime
    slides: bool = False
    #: It expires soon after.
    flush_by: datetime | None = None


Verdict: TypeAlias = Pass | Stop | Defer
PASS: Final = Pass()


class Gate(StrEnum):
    """The gates, in the order in which they are passed."""

    TENANT = "tenant_active"
    EXPIRY = "not_expired"
    RECIPIENT = "recipient_known"
    CATEGORY = "category_allowed"
    QUIET_HOURS = "quiet_hours"
    DIGEST = "digest"
    LIMITS = "rate_limits"
    #: Once per step, at the moment of sending.
    STATE = "still_wanted"
    CHANNEL = "channel_allowed"
    ADDRESS = "address_usable"
    SUPPRESSION = "not_suppressed"
    SENDER = "sender_authorised"
    CHANNEL_LIMIT = "channel_limit"


class TraceLine(NamedTuple):
    """One line of a decision's trace."""

    gate: str
    verdict: Literal["pass", "stop", "defer"]
    reason: str | None = None
    until: datetime | None = None
    #: Which step of the ladder; 0 for what is decided once.
    step: int = 0
    #: The id of what stood in the way.
    by: str | None = None


class DecisionRequest(Struct, frozen=True, kw_only=True):
    """A notification, as far as deciding has to know it."""

    recipient_id: RecipientId
    category: str
    #: `auto`: the router's ladder chooses.
    channel: Channel | Literal["auto"]
    priority: Priority
    expires_at: datetime
    #: A guardian's copy of another one: the guardian rule was applied, and is not applied again.
    is_copy: bool = False
    #: An operator released it: it waits for no quiet time, nor for a digest.
    released: bool = False
    use_case: UseCase = "txn"
    #: It came out of a digest, or is one: it joins none any more.
    left_digest: bool = False
    #: It has more than a digest can tell of it: files, or a conversation that it answers in.
    is_whole: bool = False
    #: No template of digests has words for every channel that it may go over.
    has_no_digest: bool = False


class Decision(Struct, frozen=True, kw_only=True):
    """What was decided about a notification, and why."""

    verdict: Verdict
    trace: tuple[TraceLine, ...]
    #: Who is written to: the recipient, or their guardian instead.
    recipient_id: RecipientId
    #: Guardians who get a notification of their own as well.
    copies: tuple[RecipientId, ...] = ()
    locale: str | None = None
    timezone: str | None = None
    #: Which version of the preferences was decided by.
    preferences_version: int | None = None


class StepRequest(Struct, frozen=True, kw_only=True):
    """A step of a notification, as far as deciding has to know it."""

    #: Who is written to, as it was decided once.
    recipient_id: RecipientId
    category: str
    channel: Channel
    priority: Priority
    expires_at: datetime
    #: How the notification stands at this moment.
    status: NotificationStatus
    #: Counts from 1.
    step: int = 1
    #: The one address that it may go to, by its id; None: the first choice among theirs.
    address_id: str | None = None
    #: An operator released it: it waits for no quiet time.
    released: bool = False


class StepDecision(Struct, frozen=True, kw_only=True):
    """What was decided about a step, and why."""

    verdict: Verdict
    trace: tuple[TraceLine, ...]
    #: Whether the notification as a whole is over, and not this step alone.
    ends_notification: bool = False
    #: Where it goes: one address, or all devices for push; empty unless it passed, and for the in-app feed.
    addresses: tuple[AddressFacts, ...] = ()
    #: How the tenant appears; None unless it passed.
    channel: ChannelConfig | None = None
