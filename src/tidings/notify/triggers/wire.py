"""Triggers as JSON."""

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.enums import Category, Priority
from tidings.contracts.moments import Moment
from tidings.contracts.tenants import Channel
from tidings.contracts.text import Label
from tidings.kernel.http.paging import PageQuery
from tidings.kernel.mapping import by_name
from tidings.notify.accept.wire import TemplateKey
from tidings.notify.schedule.firings import Firing
from tidings.notify.triggers.model import EVENT_SUBJECT, EVENT_TIME, Trigger

EventType = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        pattern=r"^[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]+\Z",
        description="must be the type of an event, such as reservation.confirmed",
    ),
]
EventTypes = Annotated[list[EventType], Meta(max_length=20)]
PathText = Annotated[str, Meta(min_length=1, max_length=200)]
Recipients = PathText | Annotated[list[PathText], Meta(min_length=1, max_length=10)]
Condition = Annotated[str, Meta(min_length=1, max_length=2000)]
Variables = Annotated[dict[str, Any], Meta(max_length=100)]
AnyChannelName = Channel | Literal["auto"]


class PutTrigger(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What event is to send what, to whom, and when."""

    event_type: EventType
    template: TemplateKey
    #: `auto` lets the tenant's ladder choose.
    channel: AnyChannelName = "auto"
    #: A path to a recipient as in notifications (`$.data.guest`), or to an id; or `primary_guest tenant_admins iam_subject
    #: vendor_assignee`; or a list of these.
    recipient: Recipients
    #: What the template gets. A text that begins with `$.` is a path into the event; `$$` is a dollar sign.
    variables: Variables = {}
    #: A path to the moment or day that the time is reckoned from.
    anchor: PathText = EVENT_TIME
    #: From the anchor, as an ISO 8601 duration; `-P2D` is two days before.
    offset: Annotated[str, Meta(max_length=40)] | None = None
    #: The hour of that day where the person is, such as `09:00`.
    local_time: Annotated[str, Meta(max_length=5)] | None = None
    #: The template's own where it is left out.
    category: Category | None = None
    #: The template's own where it is left out.
    priority: Priority | None = None
    #: A condition over `data.…`, `type`, `subject`, `source` and `time`: `data.nights >= 2`.
    condition: Condition | None = None
    #: Events about the same subject that clear what is planned.
    cancelled_by: EventTypes = []
    #: Events about the same subject that move what is planned.
    replanned_by: EventTypes = []
    #: A path to what the event is about.
    subject: PathText = EVENT_SUBJECT
    #: For people.
    name: Label | None = None
    enabled: bool = True


class ChangeTrigger(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is different from now on; what is left out stays, and null takes it away."""

    event_type: EventType | UnsetType = UNSET
    template: TemplateKey | UnsetType = UNSET
    channel: AnyChannelName | UnsetType = UNSET
    recipient: Recipients | UnsetType = UNSET
    variables: Variables | UnsetType = UNSET
    anchor: PathText | UnsetType = UNSET
    offset: Annotated[str, Meta(max_length=40)] | UnsetType | None = UNSET
    local_time: Annotated[str, Meta(max_length=5)] | UnsetType | None = UNSET
    category: Category | UnsetType | None = UNSET
    priority: Priority | UnsetType | None = UNSET
    condition: Condition | UnsetType | None = UNSET
    cancelled_by: EventTypes | UnsetType = UNSET
    replanned_by: EventTypes | UnsetType = UNSET
    subject: PathText | UnsetType = UNSET
    name: Label | UnsetType | None = UNSET
    enabled: bool | UnsetType = UNSET

    def onto(self, before: PutTrigger) -> PutTrigger:
        """The trigger with the change made."""
        given = {name: getattr(self, name) for name in self.__struct_fields__}
        changes = {name: value for name, value in given.items() if value is not UNSET}
        whole = {name: getattr(before, name) for name in before.__struct_fields__}
        return PutTrigger(**{**whole, **changes})


class TriggerView(Struct, frozen=True, kw_only=True):
    """A trigger."""

    id: str
    #: Whose it is; one of the platform's can be switched on and off, and copied.
    owner: Literal["platform", "tenant"]
    name: str | None
    event_type: str
    template: str
    channel: str
    recipient: str | list[str]
    variables: dict[str, Any]
    anchor: str
    offset: str | None
    local_time: str | None
    category: str | None
    priority: str | None
    condition: str | None
    cancelled_by: list[str]
    replanned_by: list[str]
    subject: str
    #: Whether it fires for you.
    enabled: bool
    #: The set of the platform's that it belongs to.
    set: str | None
    #: The platform's trigger that it takes the place of.
    customises: str | None
    #: Also the ETag; each change makes another one.
    version: int
    created_at: Moment
    updated_at: Moment
    #: What may keep it from sending, as things are now.
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, trigger: Trigger, *, enabled: bool | None = None, warnings: tuple[str, ...] = ()
    ) -> "TriggerView":
        """A trigger as it is shown; `enabled` as the tenant has it."""
        return by_name(
            cls,
            trigger,
            owner="platform" if trigger.tenant_id is None else "tenant",
            name=trigger.title,
            recipient=recipient_of(trigger),
            variables=dict(trigger.variables),
            cancelled_by=list(trigger.cancelled_by),
            replanned_by=list(trigger.replanned_by),
            enabled=trigger.enabled if enabled is None else enabled,
            set=trigger.set_name,
            warnings=warnings,
        )


def recipient_of(trigger: Trigger) -> str | list[str]:
    """As it was written: one, or a list."""
    listed = trigger.recipients_listed or len(trigger.recipients) != 1
    return list(trigger.recipients) if listed else trigger.recipients[0]


def wish_of(trigger: Trigger) -> PutTrigger:
    """What one would write to get this trigger."""
    return by_name(
        PutTrigger,
        trigger,
        recipient=recipient_of(trigger),
        variables=dict(trigger.variables),
        cancelled_by=list(trigger.cancelled_by),
        replanned_by=list(trigger.replanned_by),
        name=trigger.title,
    )


class ListTriggers(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which triggers."""

    event_type: Annotated[str | None, Meta(description="Only those that fire on this type of event.")] = None


class TriggerVersionView(Struct, frozen=True, kw_only=True):
    """A trigger as it was."""

    version: int
    changed_at: Moment
    changed_by: str
    trigger: PutTrigger


class TriggerVersions(Struct, frozen=True, kw_only=True):
    """Every version, the newest first."""

    items: list[TriggerVersionView]


class TriggerSet(Struct, frozen=True, kw_only=True):
    """Triggers that the platform ships together."""

    name: str
    #: How many there are, and how many of them fire for you.
    triggers: int
    enabled: int


class TriggerSets(Struct, frozen=True, kw_only=True):
    """The sets that there are."""

    items: list[TriggerSet]


class AdoptedSet(Struct, frozen=True, kw_only=True):
    """A set whose triggers fire for you from now on."""

    name: str
    triggers: list[TriggerView]


class ListFirings(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which lines of the ledger."""

    event: Annotated[str | None, Meta(description="Only what this event has led to.")] = None
    trigger: Annotated[str | None, Meta(description="Only of this trigger.")] = None
    result: Annotated[
        Literal["sent", "planned", "skipped", "failed", "obsolete", "cleared"] | None,
        Meta(description="Only those with this result."),
    ] = None


class FiringView(Struct, frozen=True, kw_only=True):
    """What came of a trigger and an event, for one person."""

    id: str
    event_id: str
    event_type: str
    event_source: str
    subject: str | None
    event_time: Moment
    trigger_id: str
    trigger_version: int
    template: str
    channel: str
    recipient_id: str | None
    scheduled_id: str | None
    notification_id: str | None
    #: `cleared`: the event itself cleared what was planned before.
    result: Literal["sent", "planned", "skipped", "failed", "obsolete", "cleared"]
    #: A code: why it was skipped, failed, or ended before it was sent.
    reason: str | None
    #: When it was to be sent, as reckoned when the event was heard.
    send_at: Moment | None
    #: The later event that moved or cleared it.
    ended_by: str | None
    fired_at: Moment

    @classmethod
    def of(cls, firing: Firing) -> "FiringView":
        """A line as it is shown."""
        return by_name(
            cls,
            firing,
            subject=firing.event_subject,
            template=firing.template_key,
            result=firing.result.value,
        )


class HintedAddress(Struct, frozen=True, kw_only=True):
    """An address, as a hint."""

    channel: str
    hint: str


class RehearsedRecipient(Struct, frozen=True, kw_only=True):
    """Who would be written to; no name, and addresses as hints."""

    #: Null where they are new.
    id: str | None
    identity_type: str | None
    identity_id: str | None
    timezone: str
    locale: str | None
    addresses: list[HintedAddress]


class RehearsedMessage(Struct, frozen=True, kw_only=True):
    """A message that the event would make."""

    trigger: str
    trigger_version: int
    template: str
    channel: str
    recipient: RehearsedRecipient
    send_at: Moment
    #: How the time comes about, as a sentence.
    why: str


class RehearsedNothing(Struct, frozen=True, kw_only=True):
    """A trigger that heard the event and would make nothing of it, or not for one person."""

    trigger: str
    template: str
    #: A code.
    reason: str
    #: The same as a sentence.
    why: str


class RehearsedClearing(Struct, frozen=True, kw_only=True):
    """Something planned that the event would end."""

    trigger: str
    scheduled_id: str
    why: str


class TriggerRehearsal(Struct, frozen=True, kw_only=True):
    """Which messages an event would make, to whom and when, and which not."""

    planned: list[RehearsedMessage]
    not_planned: list[RehearsedNothing]
    clears: list[RehearsedClearing]
