"""Event subscriptions as JSON: what requests bring, and what answers show."""

from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tidings.contracts.moments import Moment
from tidings.contracts.text import Label
from tidings.kernel.mapping import by_name
from tidings.kernel.refusals import FieldError, InvalidError
from tidings.notify.event_subscriptions.change import MOST_RETRIED, TenantRule
from tidings.notify.event_subscriptions.model import EventSubscription, RefusedMessage, SubscriptionProgress
from tidings.notify.ids import RefusedMessageId

Environment = Literal["live", "test"]
_TenantWord = Annotated[int, Meta(ge=1, le=100)]
_TenantName = Annotated[str, Meta(min_length=2, max_length=63)]
_RULES = ("for_tenant", "tenant_word", "about_tenants")


class CreateEventSubscription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages come in, and whose events they are: `for_tenant`, `tenant_word` or `about_tenants`, one of them."""

    name: Label
    #: The subject of NATS: `*` is one word, `>` at the end is the rest.
    subject: Annotated[str, Meta(min_length=1, max_length=255)]
    #: All messages are this tenant's: its id or slug.
    for_tenant: _TenantName | None = None
    #: Which word of a message's subject, counted from 1, has the tenant's id or slug.
    tenant_word: _TenantWord | None = None
    #: They are events about tenants (`tenant.created.v1`), and nothing else.
    about_tenants: bool = False
    #: What comes by a subscription of tests is a test, as with a test key.
    environment: Environment = "live"
    #: Whether `iam.user.deleted.v1` is taken, which erases a person.
    may_erase: bool = False
    #: `beginning`: with what the stream still has.
    start: Literal["now", "beginning"] = "now"
    #: False: its messages wait on the broker until it is resumed.
    enabled: bool = True

    def rule(self) -> TenantRule:
        """Whose events its messages are."""
        given = (self.for_tenant is not None, self.tenant_word is not None, self.about_tenants)
        if sum(given) != 1:
            raise InvalidError([FieldError("for_tenant", _ONE_OF)])
        return TenantRule(
            for_tenant=self.for_tenant, tenant_word=self.tenant_word, about_tenants=self.about_tenants
        )


_ONE_OF = (
    "must say whose events these are, in one way: for_tenant (an id or slug), tenant_word (the word of the subject that names it), "
    "or about_tenants: true"
)


class ChangeEventSubscription(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be different; what is left out stays. The subject stays: another subject is another subscription."""

    remedies: ClassVar[dict[str, str]] = {
        "subject": "can't be changed: make another subscription, and delete this one",
        "enabled": "is changed by pause and resume",
    }

    name: Label | UnsetType = UNSET
    #: Of these three one; it takes the place of what was there.
    for_tenant: _TenantName | UnsetType = UNSET
    tenant_word: _TenantWord | UnsetType = UNSET
    about_tenants: Literal[True] | UnsetType = UNSET
    environment: Environment | UnsetType = UNSET
    may_erase: bool | UnsetType = UNSET

    def rule(self) -> TenantRule | None:
        """Whose events its messages are from now on; None: whose they were."""
        given = [name for name in _RULES if getattr(self, name) is not UNSET]
        if not given:
            return None
        if len(given) > 1:
            raise InvalidError([FieldError(given[1], _ONE_OF)])
        return TenantRule(**{given[0]: getattr(self, given[0])})


class SubscriptionProgressView(Struct, frozen=True, kw_only=True):
    """How far it is read, and what came of its messages."""

    #: Where the broker keeps its messages; null before they were read.
    stream: str | None
    #: Tidings made that stream, because none kept this subject: for 7 days, up to 256 MB.
    own_stream: bool
    #: Messages that became events.
    accepted: int
    #: Events that had come before.
    repeated: int
    #: Messages that were refused since it was made; the newest are under `refused`.
    refused: int
    #: Messages that the broker still had after the last one that was read.
    waiting: int
    last_received_at: Moment | None
    last_refused_at: Moment | None
    #: The code of the last refusal.
    last_refusal: str | None
    #: Why it can't be read now.
    problem: str | None
    problem_since: Moment | None


class EventSubscriptionView(Struct, frozen=True, kw_only=True):
    """A subscription to what others publish."""

    id: str
    name: str
    subject: str
    for_tenant: str | None
    tenant_word: int | None
    about_tenants: bool
    environment: Environment
    may_erase: bool
    enabled: bool
    version: int
    created_at: Moment
    updated_at: Moment
    progress: SubscriptionProgressView

    @classmethod
    def of(cls, one: EventSubscription, progress: SubscriptionProgress | None) -> "EventSubscriptionView":
        """With how far it is read."""
        return by_name(
            cls,
            one,
            environment="test" if one.is_test else "live",
            progress=by_name(SubscriptionProgressView, progress or SubscriptionProgress()),
        )


class RefusedMessageView(Struct, frozen=True, kw_only=True):
    """A message that was refused; what it says is not shown."""

    id: str
    refused_at: Moment
    #: Where it was on the broker.
    stream: str
    position: int
    #: Bytes of its content.
    size: int
    #: Why, as a problem's code.
    code: str
    #: The attribute that is wrong; empty: the message as a whole.
    field: str
    #: What it has to be instead, or what is in the way.
    remedy: str
    #: It can be tried again.
    kept: bool

    @classmethod
    def of(cls, one: RefusedMessage) -> "RefusedMessageView":
        """Its facts."""
        return by_name(cls, one)


class RetryRefused(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which refused messages to take once more."""

    #: Null: all that are kept, the oldest first.
    ids: Annotated[list[RefusedMessageId], Meta(min_length=1, max_length=MOST_RETRIED)] | None = None
    #: All that come after this one: where a call before has ended.
    after: RefusedMessageId | None = None


class RetriedMessages(Struct, frozen=True, kw_only=True):
    """What came of it."""

    accepted: int
    #: Events that had come before.
    repeated: int
    #: Refused again; they stay.
    refused: int
    #: More are kept than one call takes: go on with `after`.
    next_after: str | None
