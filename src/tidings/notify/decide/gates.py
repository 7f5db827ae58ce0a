"""The gates that a notification passes once; each a small pure function over loaded facts."""

from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.enums import AUTO, NotificationStatus
from tidings.contracts.ids import RecipientId
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.decide.model import (
    PASS,
    DecisionRequest,
    Defer,
    JoinDigest,
    Pass,
    StepRequest,
    Stop,
    Verdict,
)
from tidings.notify.decide.reasons import GateReason
from tidings.notify.digest_windows.schedule import EXPIRY_MARGIN, about_security, plan
from tidings.notify.facts.model import Facts, PersonFacts, TenantFacts
from tidings.notify.quiet_hours.quiet_until import quiet_until
from tidings.notify.recipients.preferences_model import category_denied, channel_denied
from tidings.notify.tenants.model import TenantStatus

#: How long a suspended tenant's messages wait before they are looked at again.
HELD_FOR: Final = timedelta(minutes=5)


def tenant_active(tenant: TenantFacts, now: datetime) -> Verdict:
    """A suspended tenant's sending is held; a frozen one's drains."""
    if tenant.status is TenantStatus.ACTIVE:
        return PASS
    if tenant.status is TenantStatus.SUSPENDED:
        return Defer(now + HELD_FOR, GateReason.TENANT_SUSPENDED)
    return Stop(NotificationStatus.CANCELLED, GateReason.TENANT_DELETING)


def not_expired(request: DecisionRequest | StepRequest, now: datetime) -> Verdict:
    """Expired notifications are never sent."""
    return PASS if now < request.expires_at else Stop(NotificationStatus.EXPIRED, GateReason.EXPIRED)


def recipient_known(
    facts: Facts, request: DecisionRequest
) -> tuple[Verdict, PersonFacts | None, PersonFacts | None]:
    """Who is written to, and who gets a copy: the guardian rule, applied once."""
    person = facts.people.get(request.recipient_id)
    if person is None:
        return Stop(NotificationStatus.FAILED, GateReason.RECIPIENT_UNKNOWN), None, None
    if person.erased:
        return Stop(NotificationStatus.SUPPRESSED, GateReason.RECIPIENT_ERASED), None, None
    if request.is_copy:
        # Two who are each other's guardians would write to each other for ever.
        return Pass(GateReason.COPY_FOR_GUARDIAN), person, None
    routing = person.choices.guardian_routing
    if routing is None or not routing.concerns(request.category):
        return PASS, person, None
    guardian = facts.people.get(RecipientId(routing.guardian_id))
    if guardian is not None and guardian.erased:
        guardian = None
    if routing.mode == "copy":
        # A guardian who is gone is no reason to keep it from the one it is for.
        return (Pass(GateReason.GUARDIAN_COPY, guardian.id) if guardian else PASS), person, guardian
    if guardian is None:
        return Stop(NotificationStatus.SUPPRESSED, GateReason.GUARDIAN_UNKNOWN), None, None
    return Pass(GateReason.GUARDIAN_INSTEAD, guardian.id), guardian, None


def category_allowed(facts: Facts, request: DecisionRequest, person: PersonFacts) -> Verdict:
    """Consent where it is needed, and what the person chose; `auto` needs one channel that is not declined."""
    policy = facts.categories.get(request.category)
    if policy is None:
        return Stop(NotificationStatus.FAILED, GateReason.CATEGORY_UNKNOWN)
    denial = category_denied(person.choices, policy)
    defaults = facts.tenant.policy.preference_defaults
    if denial is None and request.channel != AUTO:
        denial = channel_denied(person.choices, policy, request.channel, defaults)
    elif denial is None and facts.tenant.channels:
        denials = [
            channel_denied(person.choices, policy, channel, defaults) for channel in facts.tenant.channels
        ]
        denial = denials[0] if all(denials) else None
    return PASS if denial is None else Stop(NotificationStatus.SUPPRESSED, GateReason(denial))


def channel_set_up(tenant: TenantFacts, request: DecisionRequest) -> Verdict:
    """A channel that is named and that the tenant does not have: there is no step that could say so."""
    if request.channel == AUTO or tenant.config_of(request.channel) is not None:
        return PASS
    return Stop(NotificationStatus.FAILED, GateReason.CHANNEL_NOT_SET_UP)


def quiet_hours(
    facts: Facts, request: DecisionRequest | StepRequest, person: PersonFacts, now: datetime
) -> Verdict:
    """Quiet hours: it waits for their end, unless it is critical, released, or its category may break the quiet."""
    hours = facts.quiet_hours(person)
    if not hours:
        return PASS
    until = quiet_until(hours, person.timezone, now)
    if until is None:
        return PASS
    if request.priority == "critical":
        return Pass(GateReason.QUIET_BUT_CRITICAL)
    policy: CategoryPolicy | None = facts.categories.get(request.category)
    if policy is not None and policy.breaks_quiet_hours:
        return Pass(GateReason.QUIET_BUT_BREAKING)
    if request.released:
        return Pass(GateReason.QUIET_BUT_RELEASED)
    if until >= request.expires_at:
        return Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_QUIET_ENDS)
    return Defer(until, GateReason.QUIET_HOURS)


def digest(facts: Facts, request: DecisionRequest, person: PersonFacts, now: datetime) -> Verdict | None:
    """Digests: it is gathered with others where the reader has it so; None where no schedule concerns it."""
    choice = facts.digest_choice(person, request.category)
    policy = facts.categories.get(request.category)
    if choice is None or policy is None or not policy.may_digest or request.left_digest:
        return None
    if request.priority == "critical":
        return Pass(GateReason.DIGEST_BUT_CRITICAL)
    if about_security(request.category, request.use_case):
        return Pass(GateReason.DIGEST_BUT_SECURITY)
    if request.released:
        return Pass(GateReason.DIGEST_BUT_RELEASED)
    if request.is_whole:
        return Pass(GateReason.DIGEST_BUT_WHOLE)
    if request.has_no_digest:
        return Pass(GateReason.DIGEST_BUT_NO_TEMPLATE)
    planned = plan(choice, person.timezone, now)
    if planned.flush_at >= request.expires_at:
        return Pass(GateReason.EXPIRES_BEFORE_DIGEST)
    return JoinDigest(
        planned.flush_at,
        GateReason.DIGEST,
        window_end=planned.end,
        slides=planned.slides,
        flush_by=max(planned.flush_at, request.expires_at - EXPIRY_MARGIN),
    )
