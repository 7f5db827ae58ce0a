"""An explanation as JSON; addresses as hints, no name, nothing of the message."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel, QuietHours
from tidings.kernel.mapping import by_name
from tidings.notify.decide.model import TraceLine
from tidings.notify.notifications.messages_en import held_sentence, line_sentence, no_sentence
from tidings.notify.notifications.progress import Next, Phase
from tidings.notify.notifications.said_no import SaidNo
from tidings.notify.notifications.store import MOST_DIGEST_ITEMS
from tidings.notify.notifications.timeline import Happening
from tidings.notify.notifications.trace import DeliveryTrace
from tidings.notify.notifications.view import AttemptView, NotificationView
from tidings.notify.recipients.preferences_model import ChannelChoice
from tidings.notify.schedule.firings import Firing
from tidings.notify.suppressions.model import Suppression, asked_by


class ExplainedSuppression(Struct, frozen=True, kw_only=True):
    """What holds an address back, as it is now; not the address."""

    id: str
    #: `hard_bounce soft_bounce complaint invalid_address opt_out manual compliance rate_limit`.
    reason: str
    since: Moment
    #: Null: for good.
    until: Moment | None
    #: Since when it holds nothing back any more.
    released_at: Moment | None
    #: What came before it: the word that somebody wrote, in which language, in which conversation.
    asked: str | None
    #: The notification whose vendor said so.
    source_notification_id: str | None

    @classmethod
    def of(cls, held: Suppression) -> "ExplainedSuppression":
        """A suppression as it is told."""
        return by_name(cls, held, reason=held.reason.value, until=held.expires_at, asked=asked_by(held.notes))


class ExplainedGuardian(Struct, frozen=True, kw_only=True):
    """Who is written to instead of the recipient, or too."""

    recipient_id: str
    #: Needs `recipients:read`; null without it, and where there is no name.
    display_name: str | None


class ExplainedNo(Struct, frozen=True, kw_only=True):
    """A no that somebody said."""

    at: Moment
    #: `one_click`, `unsubscribe_page`, `preference_page`, `api`, or what the caller named.
    source: str
    #: Null: on all channels.
    channel: str | None
    #: Null: everything that can be unsubscribed from.
    category: str | None
    #: Whether consent was withdrawn.
    consent: bool
    #: Whether it came from the address, and holds for everybody who has it.
    by_address: bool

    @classmethod
    def of(cls, no: SaidNo) -> "ExplainedNo":
        """The no as it is shown."""
        return by_name(cls, no)


class GateView(Struct, frozen=True, kw_only=True):
    """What one gate said."""

    gate: str
    #: `not_asked` in a rehearsal, where asking would use something up.
    verdict: Literal["pass", "stop", "defer", "not_asked"]
    #: A code; null where there is nothing special to tell.
    reason: str | None
    #: The same as a sentence.
    explanation: str
    #: The step of the ladder; null for the notification as a whole.
    step: int | None
    #: Until when it was put off.
    until: Moment | None
    #: The tenant's own suppression that stood in the way.
    suppression: ExplainedSuppression | None = None
    #: Who is written to instead or too, where the line says so.
    guardian: ExplainedGuardian | None = None
    #: When and how somebody said the no that it met.
    said_no: ExplainedNo | None = None

    @classmethod
    def of(
        cls,
        line: TraceLine,
        held: Mapping[str, Suppression] | None = None,
        names: Mapping[str, str] = MappingProxyType({}),
        nos: Mapping[TraceLine, SaidNo] | None = None,
    ) -> "GateView":
        """A line of the trace as it is shown, with what it names where that is known."""
        found = held.get(line.by) if held is not None and line.by is not None else None
        guardian = line.by if line.by is not None and line.by.startswith("rcp_") else None
        no = nos.get(line) if nos is not None else None
        known = held_sentence(found) if found is not None else no_sentence(no) if no is not None else None
        return by_name(
            cls,
            line,
            explanation=known or line_sentence(line, names),
            step=line.step or None,
            suppression=None if found is None else ExplainedSuppression.of(found),
            guardian=None
            if guardian is None
            else ExplainedGuardian(recipient_id=guardian, display_name=names.get(guardian)),
            said_no=None if no is None else ExplainedNo.of(no),
        )


class ExplainedTemplate(Struct, frozen=True, kw_only=True):
    """Which text."""

    #: `tpl_…`; null where the version is gone.
    id: str | None
    key: str
    version: str
    version_id: str
    #: `tenant` or `platform`; null where the version is gone.
    owner: Literal["tenant", "platform"] | None
    #: The language that was asked for, by the request or by the recipient.
    locale_asked: str | None
    #: The language of the texts.
    locale: str | None
    direction: Literal["ltr", "rtl"] | None
    #: False: not rendered yet; the locale is the one that it would be in now.
    rendered: bool
    #: True: the exact words are kept, and `/body` shows them. False: `/body` renders them again, and says in `exact` whether they
    #: are proven to be what was sent.
    words_kept: bool


class ExplainedConsent(Struct, frozen=True, kw_only=True):
    """Consent to what needs it."""

    granted: bool
    at: Moment | None
    source: str | None


class ExplainedChoices(Struct, frozen=True, kw_only=True):
    """What matters of the preferences, as they are now."""

    locale: str
    timezone: str
    quiet_hours: list[QuietHours]
    #: Whose quiet hours these are.
    quiet_hours_of: Literal["recipient", "tenant", "nobody"]
    #: Until when it is quiet at this moment.
    quiet_until: Moment | None
    consent: ExplainedConsent
    #: Whether the category needs consent, and whether people can say no to it.
    category_needs_consent: bool
    category_can_be_declined: bool
    #: By channel; those left out are allowed.
    channels: dict[Channel, ChannelChoice]
    unsubscribed_from_all_at: Moment | None
    #: Who hears instead or too.
    guardian_id: str | None
    guardian_mode: str | None


class ExplainedPreferences(Struct, frozen=True, kw_only=True):
    """Whose preferences were decided by, and which version of them."""

    #: Who is written to: the recipient, or their guardian instead.
    recipient_id: str
    #: Null until it was decided; 0 where nothing was ever chosen.
    version_decided_by: int | None
    #: Null where there is no such recipient any more.
    version_now: int | None
    #: Whether something was chosen since.
    changed_since: bool
    now: ExplainedChoices | None


class ExplainedRoute(Struct, frozen=True, kw_only=True):
    """One step of the ladder."""

    step: int
    channel: str
    vendor: str
    #: What it has to reach: `accepted sent delivered read`; null where it is not frozen yet.
    success: str | None = None
    #: False: its vendors send no receipts, and being accepted is all that it can reach.
    receipts: bool | None = None
    #: Its clock, from its first call; null: by what the message is for.
    deadline_seconds: int | None = None
    #: Calls after the first; null: by what the message is for.
    retry_budget: int | None = None
    #: Known from the start: it is not taken, for this reason.
    barred: str | None = None
    #: How likely it was to arrive, where the order was learned.
    probability: float | None = None
    #: True: drawn, to find out more; false: the best guess.
    drawn: bool | None = None
    #: What it was to cost, by which the order was made.
    usual_cost_micros: int | None = None
    #: The higher, the earlier: deliveries for a million micros of money and patience.
    index: float | None = None


class ExplainedCosts(Struct, frozen=True, kw_only=True):
    """What it may cost and has cost, in millionths of a currency."""

    spent_micros: int
    #: Held for calls whose answer is not known yet.
    reserved_micros: int
    #: Null: there is no cap.
    cap_micros: int | None
    currency: str | None


class ExplainedPolicy(Struct, frozen=True, kw_only=True):
    """By which rules it goes."""

    #: Which version of the tenant's own policy is in force now.
    tenant_version: int
    #: The router's policy; null: the default ladder, the channel's vendor and then its fallback vendor.
    id: str | None
    version: int | None
    name: str
    strategy: str | None
    #: The ladder.
    routes: list[ExplainedRoute]
    #: True: as it was frozen when it was handed over. False: as it would be now.
    frozen: bool
    #: `fixed`, `learned` or `cheapest`; null without a policy.
    order: str | None = None
    costs: ExplainedCosts | None = None


class ExplainedDigest(Struct, frozen=True, kw_only=True):
    """The digest that it was gathered in, or that it is."""

    #: `item`: it was gathered with others. `digest`: it is the message that took their place.
    role: Literal["item", "digest"]
    #: The window: `tidings digest show` tells more of it, for thirty days after its flush.
    window_id: str
    #: `open flushing flushed`; null where the window is not kept any more.
    state: str | None
    flush_at: Moment | None
    #: The message that took the place of the items; null until there is one, and where each went by itself.
    digest_notification_id: str | None
    #: What it took the place of, the oldest first, 100 at most; empty unless it is a digest.
    items: list[str]
    #: Whether there are more than those.
    more_items: bool
    #: The digest before it, which was not opened, and whose messages it tells once more; null where it tells none again.
    repeats: str | None = None

    @classmethod
    def of(cls, trace: DeliveryTrace) -> "ExplainedDigest | None":
        """As it is told; None where it has to do with no digest."""
        of, known, one = trace.gathered_in, trace.digest, trace.notification
        window_id = of or one.digest_group_id
        if window_id is None:
            return None
        taken_by = known.digest_notification_id if known is not None else None
        return cls(
            role="item" if of is None else "digest",
            window_id=window_id,
            state=known.state if known is not None else None,
            flush_at=known.flush_at if known is not None else None,
            digest_notification_id=one.id if of is not None else trace.taken_by or taken_by,
            items=list(trace.digest_items[:MOST_DIGEST_ITEMS]),
            more_items=len(trace.digest_items) > MOST_DIGEST_ITEMS,
            repeats=trace.repeats,
        )


class ExplainedTrigger(Struct, frozen=True, kw_only=True):
    """Which trigger and which event made it."""

    #: `trg_…`, and its version at the time.
    id: str
    version: int
    event_id: str
    event_type: str
    #: What the event is about; null where that does not matter to the trigger.
    subject: str | None
    #: When the event was heard.
    fired_at: Moment
    #: When it was planned for, where it was not sent at once.
    planned_for: Moment | None

    @classmethod
    def of(cls, firing: Firing) -> "ExplainedTrigger":
        """The line of the ledger as it is shown."""
        return by_name(
            cls,
            firing,
            id=firing.trigger_id,
            version=firing.trigger_version,
            subject=firing.event_subject,
            planned_for=firing.send_at if firing.scheduled_id is not None else None,
        )


class ExplainView(Struct, frozen=True, kw_only=True):
    """Why this person did, or did not, get this."""

    #: The whole of it, to be read aloud.
    summary: str
    notification: NotificationView
    #: Where it is while it is under way; null once it is over.
    phase: Phase | None
    #: What comes next; null once it is over.
    next: Next | None
    #: A vendor's answer was never learned and it was sent again: the person may have got it twice.
    possibly_repeated: bool
    #: What every gate said, in the order in which they were asked.
    decision: list[GateView]
    #: The oldest first.
    timeline: list[Happening]
    template: ExplainedTemplate
    preferences: ExplainedPreferences
    policy: ExplainedPolicy
    attempts: list[AttemptView]
    #: Null where it has to do with no digest.
    digest: ExplainedDigest | None
    #: Which trigger and event made it; null where a caller did.
    trigger: ExplainedTrigger | None = None
