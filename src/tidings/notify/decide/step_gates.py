"""The gates of one step, at the moment of sending; each a small pure function over loaded facts."""

from typing import Final

from tidings.contracts.enums import NotificationStatus
from tidings.contracts.tenants import Channel
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.channels.model import ChannelConfig
from tidings.notify.channels.senders import authorised, shown_on
from tidings.notify.decide.model import PASS, StepRequest, Stop, Verdict
from tidings.notify.decide.reasons import GateReason
from tidings.notify.facts.model import AddressFacts, Facts, PersonFacts, TenantFacts
from tidings.notify.recipients.preferences_model import category_denied, channel_denied
from tidings.notify.refusals.model import refused_by

#: Channels that reach a recipient without an address: the feed is the recipient's own.
ADDRESSLESS: Final[frozenset[Channel]] = frozenset({"inapp"})
#: Channels that go to all addresses of a recipient as one step.
TO_ALL: Final[frozenset[Channel]] = frozenset({"push"})

_WANTED: Final = frozenset(
    {NotificationStatus.QUEUED, NotificationStatus.SCHEDULED, NotificationStatus.DISPATCHED}
)
_OVER: Final = {
    NotificationStatus.CANCELLED: GateReason.CANCELLED,
    NotificationStatus.DELIVERED: GateReason.DELIVERED_ALREADY,
}
_HELD_BY: Final = {
    "tenant": GateReason.SUPPRESSED_BY_TENANT,
    "platform": GateReason.SUPPRESSED_BY_PLATFORM,
    "domain": GateReason.SUPPRESSED_BY_DOMAIN,
}


def still_wanted(request: StepRequest) -> Verdict:
    """Not cancelled, delivered or otherwise over meanwhile."""
    if request.status in _WANTED:
        return PASS
    return Stop(request.status, _OVER.get(request.status, GateReason.OVER_ALREADY))


def recipient_still_known(person: PersonFacts | None) -> Verdict:
    """Not erased meanwhile."""
    if person is None:
        return Stop(NotificationStatus.FAILED, GateReason.RECIPIENT_UNKNOWN)
    return Stop(NotificationStatus.SUPPRESSED, GateReason.RECIPIENT_ERASED) if person.erased else PASS


def channel_allowed(facts: Facts, request: StepRequest, person: PersonFacts) -> Verdict:
    """Set up by the tenant, and not declined by the person a moment ago; consent is asked for again too."""
    config = facts.tenant.config_of(request.channel)
    if config is None:
        return Stop(NotificationStatus.FAILED, GateReason.CHANNEL_NOT_SET_UP)
    if config.status == "disabled":
        return Stop(NotificationStatus.FAILED, GateReason.CHANNEL_DISABLED)
    policy = facts.categories.get(request.category)
    if policy is None:
        return Stop(NotificationStatus.FAILED, GateReason.CATEGORY_UNKNOWN)
    denial = category_denied(person.choices, policy) or channel_denied(
        person.choices, policy, request.channel, facts.tenant.policy.preference_defaults
    )
    return PASS if denial is None else Stop(NotificationStatus.SUPPRESSED, GateReason(denial))


def address_usable(
    channel: Channel, person: PersonFacts, *, only: str | None = None
) -> tuple[Verdict, tuple[AddressFacts, ...]]:
    """The primary address if it can be read, else the oldest that can; all devices for push.

    `only`: this one and no other, because it is the one that a conversation is with.
    """
    if channel in ADDRESSLESS:
        return PASS, ()
    known = person.addresses.get(channel, ())
    # They come with the primary first, then the oldest. One whose key is gone can't be used.
    readable = tuple(a for a in known if a.value is not None)
    if not known:
        return Stop(NotificationStatus.FAILED, GateReason.NO_ADDRESS), ()
    if only is not None:
        the_one = tuple(a for a in readable if a.id == only)
        return (PASS if the_one else Stop(NotificationStatus.FAILED, GateReason.ADDRESS_GONE)), the_one
    if not readable:
        return Stop(NotificationStatus.FAILED, GateReason.NO_ADDRESS), ()
    return PASS, readable if channel in TO_ALL else readable[:1]


def not_suppressed(
    addresses: tuple[AddressFacts, ...], policy: CategoryPolicy | None
) -> tuple[Verdict, tuple[AddressFacts, ...]]:
    """Neither held back nor unsubscribed by its owner, who may be known by another recipient too.

    No other address is tried instead: where the chosen one is held back, nothing is sent.
    """
    free = tuple(a for a in addresses if a.held is None and refused_by(a.refused, policy) is None)
    if free or not addresses:
        return PASS, free
    held = next((a.held for a in addresses if a.held is not None), None)
    if held is None:
        refusal = next(refused_by(a.refused, policy) for a in addresses)
        return Stop(NotificationStatus.SUPPRESSED, GateReason.ADDRESS_UNSUBSCRIBED, refusal), ()
    # What the platform has against an address is its own affair.
    named = held.suppression_id if held.by == "tenant" else None
    return Stop(NotificationStatus.SUPPRESSED, _HELD_BY[held.by], named), ()


def sender_may(tenant: TenantFacts, config: ChannelConfig) -> Verdict:
    """The tenant's lists of senders may have become shorter since the channel was set up.

    One vendor that may carry it is enough: the router leaves the others out, also those that a policy names.
    """
    shown = shown_on(config.channel, config.sender)
    for vendor in config.vendors:
        if authorised(config.channel, shown, tenant.policy, vendor=vendor, shared=tenant.shared):
            return PASS
    return Stop(NotificationStatus.FAILED, GateReason.SENDER_UNAUTHORISED)
