"""Every gate, open and shut: what is arranged, and what has to come of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from tests.integration.pipeline import arranging as by
from tests.integration.pipeline.arranging import Act, nothing
from tidings.contracts.tenants import NotificationPolicy
from tidings.notify.decide.model import Gate
from tidings.notify.decide.reasons import GateReason

SOCIAL = {"category": "social"}
CODE = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}
#: They are told of what is social half an hour after it began.
GATHERED = {"social": {"every": "minutes", "minutes": 30}}
CONSENT = {"granted": True, "source": "signup_form"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is arranged, and what comes of it."""

    name: str
    outcome: Literal["sent", "not sent", "deferred"]
    status: str
    gate: str
    verdict: Literal["pass", "stop", "defer"]
    reason: GateReason | None = None
    #: Of the ladder; None for what is decided once.
    step: int | None = None
    policy: Callable[[datetime], NotificationPolicy] = field(default=lambda _: NotificationPolicy())
    channels: tuple[str, ...] = ("email", "sms")
    addresses: str = "email"
    wish: dict[str, Any] = field(default_factory=dict)
    #: Seconds until it expires; None: by its category.
    lasts: float | None = None
    #: Before it is sent; while it waits; once the vendor has put it off for a moment.
    before: Act = nothing
    between: Act = nothing
    put_off: Act | None = None
    #: What has to end before one that was deferred goes on.
    release: Act = nothing
    #: Who gets it, where it is sent.
    gets: tuple[Literal["to", "phone", "guardian_to"], ...] = ("to",)
    #: The notification's own reason, where it is not the gate's.
    ends: str | None = None
    #: The gate was asked when the notification was over: only the router's attempt tells of it.
    after_the_end: bool = False


T, E, R, C, Q, L = Gate.TENANT, Gate.EXPIRY, Gate.RECIPIENT, Gate.CATEGORY, Gate.QUIET_HOURS, Gate.LIMITS
D = Gate.DIGEST
S, H, A, P, F, M = (
    Gate.STATE,
    Gate.CHANNEL,
    Gate.ADDRESS,
    Gate.SUPPRESSION,
    Gate.SENDER,
    Gate.CHANNEL_LIMIT,
)


def sent(name: str, gate: str, reason: GateReason | None = None, **more: Any) -> Row:
    return Row(
        name=name, outcome="sent", status="delivered", gate=gate, verdict="pass", reason=reason, **more
    )


def stopped(name: str, gate: str, reason: GateReason, status: str, **more: Any) -> Row:
    return Row(name=name, outcome="not sent", status=status, gate=gate, verdict="stop", reason=reason, **more)


def deferred(name: str, gate: str, reason: GateReason, status: str = "scheduled", **more: Any) -> Row:
    return Row(
        name=name, outcome="deferred", status=status, gate=gate, verdict="defer", reason=reason, **more
    )


TABLE = [
    sent("the tenant is active", T),
    sent("a frozen tenant drains", T, between=by.freeze),
    deferred("the tenant is suspended", T, GateReason.TENANT_SUSPENDED, between=by.suspend, release=by.resume),
    stopped(
        "the tenant is being deleted", T, GateReason.TENANT_DELETING, "cancelled", between=by.delete_tenant
    ),
    sent("its time is not over", E, lasts=600),
    stopped("its time is over", E, GateReason.EXPIRED, "expired", lasts=60, between=by.wait_two_minutes),
    sent("the recipient is known", R),
    stopped("the recipient is gone", R, GateReason.RECIPIENT_UNKNOWN, "failed", between=by.delete_person),
    stopped("the recipient was erased", R, GateReason.RECIPIENT_ERASED, "suppressed", between=by.erase_person),
    sent(
        "a guardian instead",
        R,
        GateReason.GUARDIAN_INSTEAD,
        before=by.guardian("instead"),
        gets=("guardian_to",),
    ),
    sent(
        "a guardian too",
        R,
        GateReason.GUARDIAN_COPY,
        before=by.guardian("copy"),
        gets=("to", "guardian_to"),
    ),
    stopped(
        "a guardian instead who is gone",
        R,
        GateReason.GUARDIAN_UNKNOWN,
        "suppressed",
        before=by.guardian("instead", erased=True),
    ),
    sent("a guardian too who is gone", R, before=by.guardian("copy", erased=True)),
    stopped(
        "the category is gone",
        C,
        GateReason.CATEGORY_UNKNOWN,
        "failed",
        before=by.make_category,
        wish={"category": "passing"},
        between=by.remove_category,
    ),
    stopped("no consent", C, GateReason.CONSENT_MISSING, "suppressed", wish={"category": "marketing"}),
    sent("consent", C, wish={"category": "marketing"}, before=by.choose(marketing_consent=CONSENT)),
    stopped(
        "unsubscribed from all",
        C,
        GateReason.UNSUBSCRIBED_FROM_ALL,
        "suppressed",
        wish=SOCIAL,
        before=by.choose(global_unsubscribed_at="2026-11-01T00:00:00Z"),
    ),
    sent(
        "unsubscribed from all, and it can't be unsubscribed from",
        C,
        before=by.choose(global_unsubscribed_at="2026-11-01T00:00:00Z"),
    ),
    stopped(
        "the category is declined",
        C,
        GateReason.CATEGORY_DECLINED,
        "suppressed",
        wish=SOCIAL,
        before=by.choose(channels={"email": {"categories": {"social": False}}}),
    ),
    stopped(
        "off by the tenant's default",
        C,
        GateReason.OFF_BY_DEFAULT,
        "suppressed",
        wish=SOCIAL,
        policy=lambda _: NotificationPolicy(preference_defaults={"social": {"email": False}}),
    ),
    sent(
        "off by the tenant's default, and asked for",
        C,
        wish=SOCIAL,
        policy=lambda _: NotificationPolicy(preference_defaults={"social": {"email": False}}),
        before=by.choose(channels={"email": {"categories": {"social": True}}}),
    ),
    stopped(
        "the channel is declined",
        C,
        GateReason.CHANNEL_DECLINED,
        "suppressed",
        wish=SOCIAL,
        before=by.choose(channels={"email": {"allow": False}}),
    ),
    sent("nobody sleeps", Q),
    deferred("quiet hours", Q, GateReason.QUIET_HOURS, policy=by.quiet_now),
    sent(
        "quiet hours, critical",
        Q,
        GateReason.QUIET_BUT_CRITICAL,
        policy=by.quiet_now,
        wish={"priority": "critical"},
    ),
    sent(
        "quiet hours, a category that breaks them",
        Q,
        GateReason.QUIET_BUT_BREAKING,
        policy=by.quiet_now,
        wish={"category": "security"},
    ),
    sent("their own quiet hours are none", Q, policy=by.quiet_now, before=by.choose(quiet_hours=[])),
    stopped(
        "expires in quiet hours",
        Q,
        GateReason.EXPIRES_BEFORE_QUIET_ENDS,
        "expired",
        policy=by.quiet_now,
        lasts=3600,
    ),
    deferred("a digest", D, GateReason.DIGEST, wish=SOCIAL, before=by.choose(digest_schedule=GATHERED)),
    sent(
        "a digest, critical",
        D,
        GateReason.DIGEST_BUT_CRITICAL,
        wish={**SOCIAL, "priority": "critical"},
        before=by.choose(digest_schedule=GATHERED),
    ),
    sent(
        "a digest, a code",
        D,
        GateReason.DIGEST_BUT_SECURITY,
        wish={**SOCIAL, "use_case": "otp"},
        before=by.choose(digest_schedule=GATHERED),
    ),
    sent(
        "a digest, with a file",
        D,
        GateReason.DIGEST_BUT_WHOLE,
        wish={
            **SOCIAL,
            "attachments": [{"filename": "a.txt", "media_type": "text/plain", "content": "YQ=="}],
        },
        before=by.choose(digest_schedule=GATHERED),
    ),
    sent(
        "expires before its digest",
        D,
        GateReason.EXPIRES_BEFORE_DIGEST,
        wish=SOCIAL,
        before=by.choose(digest_schedule=GATHERED),
        lasts=600,
    ),
    sent("the limits have room", L, policy=by.limited(per_second=2, per_recipient_per_day=2)),
    deferred(
        "the tenant's limit", L, GateReason.RATE_LIMITED, policy=by.limited(per_second=1), before=by.use_up
    ),
    deferred(
        "the recipient's limit",
        L,
        GateReason.RATE_LIMITED,
        policy=by.limited(per_recipient_per_hour=1),
        before=by.use_up,
    ),
    deferred(
        "the recipient's limit on the channel",
        L,
        GateReason.RECIPIENT_CHANNEL_LIMITED,
        policy=by.limited(per_recipient_per_channel_per_day={"email": 1}),
        before=by.use_up,
    ),
    stopped(
        "expires before the tenant's limit has room",
        L,
        GateReason.EXPIRES_BEFORE_LIMIT_FREES,
        "expired",
        policy=by.limited(per_day=1),
        before=by.use_up,
        lasts=5,
    ),
    stopped(
        "expires before the recipient's limit has room",
        L,
        GateReason.EXPIRES_BEFORE_LIMIT_FREES,
        "expired",
        policy=by.limited(per_recipient_per_day=1),
        before=by.use_up,
        lasts=3600,
    ),
    sent("still wanted", S, step=1),
    stopped(
        "cancelled before the vendor was asked again",
        S,
        GateReason.CANCELLED,
        "cancelled",
        step=1,
        put_off=by.stand("cancelled"),
        after_the_end=True,
    ),
    stopped(
        "delivered before the vendor was asked again",
        S,
        GateReason.DELIVERED_ALREADY,
        "delivered",
        step=1,
        put_off=by.stand("delivered"),
        after_the_end=True,
    ),
    stopped(
        "over before the vendor was asked again",
        S,
        GateReason.OVER_ALREADY,
        "superseded",
        step=1,
        put_off=by.stand("superseded"),
        after_the_end=True,
    ),
    sent("the channel is set up", H, step=1),
    stopped(
        "the channel was removed",
        H,
        GateReason.CHANNEL_NOT_SET_UP,
        "failed",
        step=1,
        put_off=by.remove_channel,
        ends="4.3.0",
    ),
    stopped(
        "the channel is switched off",
        H,
        GateReason.CHANNEL_DISABLED,
        "failed",
        step=1,
        before=by.disable_channel,
    ),
    stopped(
        "one channel of two is declined, the other has no address",
        H,
        GateReason.CHANNEL_DECLINED,
        "suppressed",
        step=1,
        wish=CODE | SOCIAL,
        before=by.choose(channels={"email": {"allow": False}}),
    ),
    sent("an address", A, step=1),
    sent("no mail address, but a telephone", A, step=2, addresses="sms", wish=CODE, gets=("phone",)),
    stopped("no address", A, GateReason.NO_ADDRESS, "failed", step=1, addresses="sms"),
    stopped(
        "removed since", A, GateReason.NO_ADDRESS, "failed", step=1, between=by.remove_addresses
    ),
    sent("nothing is suppressed", P, step=1),
    stopped("the tenant suppressed it", P, GateReason.SUPPRESSED_BY_TENANT, "suppressed", step=1, between=by.suppress),
    stopped(
        "the platform suppressed it",
        P,
        GateReason.SUPPRESSED_BY_PLATFORM,
        "suppressed",
        step=1,
        between=by.suppress_for_all(domain=False),
    ),
    stopped(
        "the platform suppressed its domain",
        P,
        GateReason.SUPPRESSED_BY_DOMAIN,
        "suppressed",
        step=1,
        between=by.suppress_for_all(domain=True),
    ),
    stopped(
        "its owner unsubscribed",
        P,
        GateReason.ADDRESS_UNSUBSCRIBED,
        "suppressed",
        step=1,
        wish=SOCIAL,
        between=by.unsubscribe_address("social"),
    ),
    sent("its owner unsubscribed from something else", P, step=1, wish=SOCIAL, between=by.unsubscribe_address("reminder")),
    sent("the tenant may appear so", F, step=1),
    stopped(
        "the tenant may not appear so any more",
        F,
        GateReason.SENDER_UNAUTHORISED,
        "failed",
        step=1,
        between=by.narrow_senders,
    ),
    deferred(
        "quiet hours before the vendor was asked again",
        Q,
        GateReason.QUIET_HOURS,
        "dispatched",
        step=1,
        policy=by.quiet_soon,
        put_off=nothing,
    ),
    deferred(
        "the channel's limit", M, GateReason.RATE_LIMITED, "dispatched", step=1, before=by.limit_channel
    ),
    stopped(
        "expires before the channel's limit has room",
        M,
        GateReason.EXPIRES_BEFORE_LIMIT_FREES,
        "expired",
        step=1,
        before=by.limit_channel,
        lasts=5,
    ),
    sent(
        "expires before the channel's limit has room, and another channel has some",
        M,
        step=2,
        wish=CODE,
        addresses="email sms",
        gets=("phone",),
        before=by.limit_channel,
        lasts=5,
    ),
    stopped(
        "expires before the channel's limit has room, and has no address on another",
        M,
        GateReason.EXPIRES_BEFORE_LIMIT_FREES,
        "expired",
        step=1,
        wish=CODE,
        before=by.limit_channel,
        lasts=5,
    ),
]  # fmt: skip

#: Reasons that no row needs to have, and why.
ELSEWHERE = {
    GateReason.QUIET_BUT_RELEASED: "is said of what somebody released: test_one_that_waits_is_sent_now",
    GateReason.DIGEST_BUT_RELEASED: "is said of what somebody released: test_one_that_is_released_leaves_its_digest_and_goes_now",
    GateReason.DIGEST_BUT_NO_TEMPLATE: "is said on other channels than these: test_what_no_digest_can_carry_goes_at_once",
    GateReason.BATCH_PACE: "is said of messages of batches: test_no_more_than_its_pace_goes_through_an_account_and_others_do_not_wait",
    GateReason.DIGEST_OF_ONE: "is said once its digest is flushed: test_one_alone_goes_by_itself",
    GateReason.DIGEST_NOT_MADE: "is said once its digest is flushed: test_where_there_is_no_template_each_goes_by_itself",
    GateReason.DIGEST_FOR_ANOTHER: "is said once its digest is flushed: test_what_was_gathered_for_a_guardian_of_before_is_decided_anew",
    GateReason.IS_DIGEST: "is said of the digest: test_an_explanation_tells_which_digest_took_it_and_of_a_digest_what_it_took",
    GateReason.DIGEST_REPEATS: "is said of the digest: test_what_was_not_opened_is_told_once_more",
    GateReason.DIGESTED: "is said once its digest is flushed: test_an_explanation_tells_which_digest_took_it_and_of_a_digest_what_it_took",
    GateReason.COPY_FOR_GUARDIAN: "is said of the copy: test_guardians_of_each_other_get_one_each",
    GateReason.ADDRESS_GONE: "is said of answers: test_an_address_that_is_not_theirs_any_more_is_not_written_to",
}
