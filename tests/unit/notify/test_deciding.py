"""Every gate: passed, stopped, deferred, with its reason; table-driven."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec import structs

from tests.support.facts import (
    EVERY_NIGHT,
    LAILA,
    MORNING,
    MOTHER,
    NIGHT,
    NOON,
    address,
    channel_config,
    facts,
    held,
    person,
    request,
    step,
)
from tidings.contracts.enums import NotificationStatus
from tidings.contracts.ids import RECIPIENT
from tidings.contracts.tenants import NotificationPolicy, SendingLimits
from tidings.kernel.hot_state import Taken
from tidings.notify.channels.model import RateLimit, Sender
from tidings.notify.decide.decide import decide, decide_step, limited, step_limited
from tidings.notify.decide.gates import HELD_FOR
from tidings.notify.decide.limits import takes_of_step, takes_once
from tidings.notify.decide.model import Defer, Pass, Stop
from tidings.notify.decide.reasons import SENTENCES, GateReason
from tidings.notify.ids import ADDRESS_REFUSAL
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import ChannelChoice, Choices, GuardianRouting
from tidings.notify.tenants.model import TenantStatus

QUIET = Choices(quiet_hours=(EVERY_NIGHT,))
#: The tenant's own, which the trace names.
REFUSAL = ADDRESS_REFUSAL.new(NOON)
HELD = held("tenant")
#: One that a conversation is with, although it is not their first choice.
THEIR_OTHER = address(is_primary=False)
NO_MAIL = Choices(channels={"email": ChannelChoice(allow=False)})
CONSENT = Choices(marketing_consent=Consent(granted=True, source="form"))
UNSUBSCRIBED = Choices(global_unsubscribed_at=NOON)
INSTEAD = GuardianRouting(guardian_id=MOTHER, mode="instead")
COPY = GuardianRouting(guardian_id=MOTHER, mode="copy", categories=("transactional",))
TENANT_QUIET = NotificationPolicy(quiet_hours=(EVERY_NIGHT,))


def case(
    name: str, verdict: Any, gate: str, *, now: datetime = NOON, given: Any = None, **wanted: Any
) -> Any:
    return pytest.param(given or facts(), wanted, now, verdict, gate, id=name)


STOPPED = [
    case("tenant suspended", Defer(NOON + HELD_FOR, GateReason.TENANT_SUSPENDED), "tenant_active",
         given=facts(status=TenantStatus.SUSPENDED)),
    case("tenant deleting", Stop(NotificationStatus.CANCELLED, GateReason.TENANT_DELETING), "tenant_active",
         given=facts(status=TenantStatus.DELETING)),
    case("expired", Stop(NotificationStatus.EXPIRED, GateReason.EXPIRED), "not_expired", expires_at=NOON),
    case("recipient unknown", Stop(NotificationStatus.FAILED, GateReason.RECIPIENT_UNKNOWN), "recipient_known",
         recipient_id=RECIPIENT.new(NOON)),
    case("recipient erased", Stop(NotificationStatus.SUPPRESSED, GateReason.RECIPIENT_ERASED), "recipient_known",
         given=facts(person(erased=True))),
    case("guardian gone", Stop(NotificationStatus.SUPPRESSED, GateReason.GUARDIAN_UNKNOWN), "recipient_known",
         given=facts(person(choices=Choices(guardian_routing=INSTEAD)))),
    case("guardian erased", Stop(NotificationStatus.SUPPRESSED, GateReason.GUARDIAN_UNKNOWN), "recipient_known",
         given=facts(person(choices=Choices(guardian_routing=INSTEAD)), person(MOTHER, erased=True))),
    case("category unknown", Stop(NotificationStatus.FAILED, GateReason.CATEGORY_UNKNOWN), "category_allowed", category="weather"),
    case("no consent", Stop(NotificationStatus.SUPPRESSED, GateReason.CONSENT_MISSING), "category_allowed", category="marketing"),
    case("unsubscribed from all", Stop(NotificationStatus.SUPPRESSED, GateReason.UNSUBSCRIBED_FROM_ALL), "category_allowed",
         given=facts(person(choices=UNSUBSCRIBED)), category="social"),
    case("channel declined", Stop(NotificationStatus.SUPPRESSED, GateReason.CHANNEL_DECLINED), "category_allowed",
         given=facts(person(choices=NO_MAIL)), category="social"),
    case("category declined", Stop(NotificationStatus.SUPPRESSED, GateReason.CATEGORY_DECLINED), "category_allowed",
         given=facts(person(choices=Choices(channels={"email": ChannelChoice(categories={"social": False})}))),
         category="social"),
    case("auto, all channels declined", Stop(NotificationStatus.SUPPRESSED, GateReason.CHANNEL_DECLINED), "category_allowed",
         given=facts(person(choices=NO_MAIL)), category="social", channel="auto"),
    case("own quiet hours", Defer(MORNING, GateReason.QUIET_HOURS), "quiet_hours", now=NIGHT,
         given=facts(person(choices=QUIET))),
    case("the tenant's quiet hours", Defer(MORNING, GateReason.QUIET_HOURS), "quiet_hours", now=NIGHT,
         given=facts(policy=TENANT_QUIET)),
    case("expires in quiet hours", Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_QUIET_ENDS), "quiet_hours", now=NIGHT,
         given=facts(person(choices=QUIET)), expires_at=NIGHT + timedelta(hours=1)),
    case("the guardian's quiet hours", Defer(MORNING, GateReason.QUIET_HOURS), "quiet_hours", now=NIGHT,
         given=facts(person(choices=Choices(guardian_routing=INSTEAD)), person(MOTHER, QUIET))),
]  # fmt: skip

PASSED = [
    case("plain", None, "quiet_hours"),
    case("consent given", None, "category_allowed", given=facts(person(choices=CONSENT)), category="marketing"),
    case("can't be unsubscribed", None, "category_allowed", given=facts(person(choices=UNSUBSCRIBED))),
    case("can't be declined", None, "category_allowed", given=facts(person(choices=NO_MAIL))),
    case("declined but for this category", None, "category_allowed", category="social",
         given=facts(person(choices=Choices(channels={"email": ChannelChoice(allow=False, categories={"social": True})})))),
    case("auto, one channel left", None, "category_allowed", category="social", channel="auto",
         given=facts(person(choices=NO_MAIL), channels=(channel_config(), channel_config("sms")))),
    case("by day", None, "quiet_hours", given=facts(person(choices=QUIET))),
    case("none of their own", None, "quiet_hours", now=NIGHT,
         given=facts(person(choices=Choices(quiet_hours=())), policy=TENANT_QUIET)),
    case("critical", GateReason.QUIET_BUT_CRITICAL, "quiet_hours", now=NIGHT,
         given=facts(person(choices=QUIET)), priority="critical"),
    case("breaks the quiet", GateReason.QUIET_BUT_BREAKING, "quiet_hours", now=NIGHT,
         given=facts(person(choices=QUIET)), category="security"),
    case("a copy without its guardian", None, "recipient_known",
         given=facts(person(choices=Choices(guardian_routing=COPY)))),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted", "now", "verdict", "gate"), STOPPED)
def test_what_stops_or_defers(given: Any, wanted: Any, now: datetime, verdict: Any, gate: str) -> None:
    decision = decide(given, request(**wanted), now)

    assert decision.verdict == verdict
    last = decision.trace[-1]
    assert (last.gate, last.reason) == (gate, verdict.reason)
    assert last.verdict == ("defer" if isinstance(verdict, Defer) else "stop")
    assert all(line.verdict == "pass" for line in decision.trace[:-1])


@pytest.mark.parametrize(("given", "wanted", "now", "reason", "gate"), PASSED)
def test_what_passes(given: Any, wanted: Any, now: datetime, reason: Any, gate: str) -> None:
    decision = decide(given, request(**wanted), now)

    assert isinstance(decision.verdict, Pass)
    assert (decision.recipient_id, decision.locale, decision.preferences_version) == (LAILA, "fa-AF", 3)
    assert [line.gate for line in decision.trace] == [
        "tenant_active", "not_expired", "recipient_known", "category_allowed", "quiet_hours",
    ]  # fmt: skip
    assert next(line.reason for line in decision.trace if line.gate == gate) == reason


def test_a_guardian_hears_instead_or_too() -> None:
    mother = person(MOTHER, locale="ps-AF")
    instead = facts(person(choices=Choices(guardian_routing=INSTEAD)), mother)
    copied = facts(person(choices=Choices(guardian_routing=COPY)), mother)

    only_mother = decide(instead, request(), NOON)
    both = decide(copied, request(), NOON)
    not_concerned = decide(copied, request(category="security"), NOON)

    assert (only_mother.recipient_id, only_mother.locale, only_mother.copies) == (MOTHER, "ps-AF", ())
    assert (both.recipient_id, both.copies) == (LAILA, (MOTHER,))
    assert (not_concerned.recipient_id, not_concerned.copies) == (LAILA, ())


def test_a_limit_defers_and_never_drops() -> None:
    passed = decide(facts(), request(), NOON)
    full = Taken(granted=False, refused_by=("tenant:day",), retry_at=NOON + timedelta(hours=2))

    free = limited(passed, request(), Taken(granted=True), NOON)
    later = limited(passed, request(), full, NOON)
    too_late = limited(passed, request(expires_at=NOON + timedelta(hours=1)), full, NOON)

    assert isinstance(free.verdict, Pass)
    assert later.verdict == Defer(NOON + timedelta(hours=2), GateReason.RATE_LIMITED)
    assert too_late.verdict == Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_LIMIT_FREES)
    assert later.trace[-1].gate == "rate_limits"


def test_limits_are_those_of_tenant_recipient_and_channel() -> None:
    limits = SendingLimits(
        per_second=5,
        per_day=10,
        per_recipient_per_hour=2,
        per_recipient_per_day=3,
        per_channel_per_second={"email": 1},
        per_recipient_per_channel_per_hour={"email": 1},
        per_recipient_per_channel_per_day={"email": 4},
    )
    tenant = facts(
        policy=NotificationPolicy(limits=limits),
        channels=(channel_config(rate_limit=RateLimit(per_minute=30, per_day=1000)),),
    ).tenant

    assert [take.key for take in takes_once(tenant, LAILA)] == [
        "tenant:second", "tenant:day", f"recipient:{LAILA}:hour", f"recipient:{LAILA}:day",
    ]  # fmt: skip
    assert [take.key for take in takes_of_step(tenant, "email")] == [
        "policy:email:second", "channel:email:minute", "channel:email:day",
    ]  # fmt: skip
    on_channel = [f"recipient-channel:{LAILA}:email:hour", f"recipient-channel:{LAILA}:email:day"]
    assert [take.key for take in takes_once(tenant, LAILA, "email")][-2:] == on_channel
    assert [take.key for take in takes_of_step(tenant, "email", LAILA)][-2:] == on_channel
    assert not {take.key for take in takes_once(tenant, LAILA, "sms")} & set(on_channel)
    assert takes_once(facts().tenant, LAILA) == ()


def test_the_limit_of_a_recipient_on_a_channel_has_its_own_reason() -> None:
    passed = decide(facts(), request(), NOON)
    key = f"recipient-channel:{LAILA}:email:day"
    full = Taken(granted=False, refused_by=("tenant:day", key), retry_at=NOON + timedelta(hours=2))
    later = limited(passed, request(), full, NOON)
    assert later.verdict == Defer(NOON + timedelta(hours=2), GateReason.RECIPIENT_CHANNEL_LIMITED)


STEP_STOPPED = [
    case("cancelled", Stop(NotificationStatus.CANCELLED, GateReason.CANCELLED), "still_wanted", status=NotificationStatus.CANCELLED),
    case("delivered", Stop(NotificationStatus.DELIVERED, GateReason.DELIVERED_ALREADY), "still_wanted", status=NotificationStatus.DELIVERED),
    case("bounced", Stop(NotificationStatus.BOUNCED, GateReason.OVER_ALREADY), "still_wanted", status=NotificationStatus.BOUNCED),
    case("expired", Stop(NotificationStatus.EXPIRED, GateReason.EXPIRED), "not_expired", expires_at=NOON),
    case("suspended", Defer(NOON + HELD_FOR, GateReason.TENANT_SUSPENDED), "tenant_active",
         given=facts(status=TenantStatus.SUSPENDED)),
    case("erased", Stop(NotificationStatus.SUPPRESSED, GateReason.RECIPIENT_ERASED), "recipient_known", given=facts(person(erased=True))),
    case("not set up", Stop(NotificationStatus.FAILED, GateReason.CHANNEL_NOT_SET_UP), "channel_allowed", channel="sms"),
    case("disabled", Stop(NotificationStatus.FAILED, GateReason.CHANNEL_DISABLED), "channel_allowed",
         given=facts(channels=(channel_config(status="disabled"),))),
    case("declined a moment ago", Stop(NotificationStatus.SUPPRESSED, GateReason.CHANNEL_DECLINED), "channel_allowed",
         given=facts(person(choices=NO_MAIL)), category="social"),
    case("consent withdrawn", Stop(NotificationStatus.SUPPRESSED, GateReason.CONSENT_MISSING), "channel_allowed", category="marketing"),
    case("no address", Stop(NotificationStatus.FAILED, GateReason.NO_ADDRESS), "address_usable", given=facts(person(addresses={}))),
    case("an address whose key is gone", Stop(NotificationStatus.FAILED, GateReason.NO_ADDRESS), "address_usable",
         given=facts(person(addresses={"email": (address(value=None),)}))),
    case("another address than the conversation's", Stop(NotificationStatus.FAILED, GateReason.ADDRESS_GONE), "address_usable",
         address_id="rad_of_another"),
    case("the conversation's is suppressed, and there is a primary",
         Stop(NotificationStatus.SUPPRESSED, GateReason.SUPPRESSED_BY_TENANT, HELD.suppression_id), "not_suppressed",
         address_id=THEIR_OTHER.id, given=facts(person(addresses={"email": (address(), structs.replace(THEIR_OTHER, held=HELD))}))),
    case("suppressed", Stop(NotificationStatus.SUPPRESSED, GateReason.SUPPRESSED_BY_TENANT, HELD.suppression_id), "not_suppressed",
         given=facts(person(addresses={"email": (address(held=HELD),)}))),
    case("suppressed, and there is another", Stop(NotificationStatus.SUPPRESSED, GateReason.SUPPRESSED_BY_PLATFORM), "not_suppressed",
         given=facts(person(addresses={"email": (address(held=held("platform")), address(is_primary=False))}))),
    case("wildcard", Stop(NotificationStatus.SUPPRESSED, GateReason.SUPPRESSED_BY_DOMAIN), "not_suppressed",
         given=facts(person(addresses={"email": (address(held=held("domain")),)}))),
    case("unsubscribed by its owner", Stop(NotificationStatus.SUPPRESSED, GateReason.ADDRESS_UNSUBSCRIBED, REFUSAL), "not_suppressed",
         category="social", given=facts(person(addresses={"email": (address(refused={"social": REFUSAL}),)}))),
    case("unsubscribed from everything by its owner", Stop(NotificationStatus.SUPPRESSED, GateReason.ADDRESS_UNSUBSCRIBED, REFUSAL),
         "not_suppressed", category="social", given=facts(person(addresses={"email": (address(refused={"": REFUSAL}),)}))),
    case("sender of another domain", Stop(NotificationStatus.FAILED, GateReason.SENDER_UNAUTHORISED), "sender_authorised",
         given=facts(policy=NotificationPolicy(allowed_sender_domains=("other.test",)))),
    case("sender that is not on the list", Stop(NotificationStatus.FAILED, GateReason.SENDER_UNAUTHORISED), "sender_authorised",
         channel="sms", given=facts(person(addresses={"sms": (address(),)}), channels=(channel_config("sms"),),
                                    policy=NotificationPolicy(allowed_sender_ids=("+15550100", "Other")))),
    case("sender that is not granted over a shared account", Stop(NotificationStatus.FAILED, GateReason.SENDER_UNAUTHORISED),
         "sender_authorised", given=facts(shared={"smtp": None})),
    case("no sender", Stop(NotificationStatus.FAILED, GateReason.SENDER_UNAUTHORISED), "sender_authorised",
         given=facts(channels=(channel_config(sender=Sender()),))),
    case("quiet by now", Defer(MORNING, GateReason.QUIET_HOURS), "quiet_hours", now=NIGHT,
         given=facts(person(choices=QUIET))),
]  # fmt: skip

ENDS = {"still_wanted", "not_expired", "recipient_known"}


@pytest.mark.parametrize(("given", "wanted", "now", "verdict", "gate"), STEP_STOPPED)
def test_what_stops_or_defers_a_step(given: Any, wanted: Any, now: datetime, verdict: Any, gate: str) -> None:
    decision = decide_step(given, step(**wanted, step=2), now)

    assert decision.verdict == verdict
    last = decision.trace[-1]
    assert (last.gate, last.reason, last.step) == (gate, verdict.reason, 2)
    assert decision.ends_notification == (gate in ENDS)
    assert decision.addresses == ()


def test_an_answer_goes_to_the_address_that_its_conversation_is_with() -> None:
    given = facts(person(addresses={"email": (address(), THEIR_OTHER)}))

    decision = decide_step(given, step(address_id=THEIR_OTHER.id), NOON)

    assert isinstance(decision.verdict, Pass)
    assert decision.addresses == (THEIR_OTHER,)


def test_a_step_that_passes_says_where_and_as_whom() -> None:
    second = address(is_primary=False)
    given = facts(person(addresses={"email": (address(value=None), second)}))

    decision = decide_step(given, step(), NOON)
    after_limit = step_limited(decision, step(), None, NOON)

    assert isinstance(after_limit.verdict, Pass)
    assert decision.addresses == (second,)
    assert decision.channel == given.tenant.channels["email"]
    assert [line.gate for line in after_limit.trace][-3:] == [
        "sender_authorised",
        "quiet_hours",
        "channel_limit",
    ]


def test_a_channel_without_room_stops_its_step_and_not_the_notification() -> None:
    passed = decide_step(facts(), step(), NOON)
    full = Taken(granted=False, refused_by=("channel:email:day",), retry_at=NOON + timedelta(hours=2))

    later = step_limited(passed, step(), full, NOON)
    too_late = step_limited(passed, step(expires_at=NOON + timedelta(hours=1)), full, NOON)

    assert later.verdict == Defer(NOON + timedelta(hours=2), GateReason.RATE_LIMITED)
    assert too_late.verdict == Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_LIMIT_FREES)
    assert not too_late.ends_notification
    assert (too_late.trace[-1].gate, too_late.trace[-1].reason) == (
        "channel_limit",
        GateReason.EXPIRES_BEFORE_LIMIT_FREES,
    )


def test_push_goes_to_every_free_device_and_the_feed_needs_none() -> None:
    devices = (address("push"), address("push", held=held("tenant")), address("push"))
    given = facts(
        person(addresses={"push": devices}),
        channels=(channel_config("push", sender=Sender()), channel_config("inapp", sender=Sender())),
    )

    push = decide_step(given, step(channel="push"), NOON)
    feed = decide_step(given, step(channel="inapp"), NOON)

    assert push.addresses == (devices[0], devices[2])
    assert isinstance(feed.verdict, Pass)


def test_no_decision_prints_an_address() -> None:
    decision = decide_step(facts(), step(), NOON)

    assert "laila" not in repr(decision)
    assert "laila" not in repr(facts())


def test_every_reason_has_its_sentence_and_its_place_in_the_docs() -> None:
    from tests.support.generated_docs import DOCS

    page = (DOCS / "deciding.md").read_text()

    assert set(SENTENCES) == set(GateReason)
    assert [reason for reason in GateReason if f"`{reason}`" not in page] == []


def test_moments_are_aware() -> None:
    verdict = decide(facts(person(choices=QUIET)), request(), NIGHT).verdict

    assert isinstance(verdict, Defer)
    assert verdict.until.tzinfo is UTC
