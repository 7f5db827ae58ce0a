"""An explanation put together from a trace and what surrounds it."""

from dataclasses import replace
from typing import Any

import msgspec

from tests.support.facts import CATEGORIES
from tests.support.traces import ID, LAILA, NOON, delivered, delivery_trace, notification
from tidings.contracts.delivery import DeliveryRoute
from tidings.contracts.tenants import NotificationPolicy, QuietHours
from tidings.notify.facts.model import TenantFacts
from tidings.notify.facts.store import PersonRow
from tidings.notify.notifications.explain import Background, explanation
from tidings.notify.notifications.explain_view import ExplainView
from tidings.notify.notifications.trace import DeliveryTrace
from tidings.notify.recipients.consent import Consent
from tidings.notify.recipients.preferences_model import ChannelChoice, Choices
from tidings.notify.tenants.model import TenantStatus

ALWAYS = QuietHours(days=("mon", "tue", "wed", "thu", "fri", "sat", "sun"), start="00:00", end="23:59")


def person(choices: Choices | None = None, **more: Any) -> PersonRow:
    return msgspec.structs.replace(
        PersonRow(
            id=LAILA,
            locale="fa-AF",
            timezone="Asia/Kabul",
            erased=False,
            display_name_ciphertext=b"sealed",
            choices=choices or Choices(),
            preferences_version=4,
        ),
        **more,
    )


def background(**more: Any) -> Background:
    policy = more.pop("policy", None)
    return replace(
        Background(
            tenant=TenantFacts(
                status=TenantStatus.ACTIVE,
                name="Acme",
                locale="en-US",
                timezone="UTC",
                policy=policy or NotificationPolicy(),
                version=1,
                channels={},
            ),
            category=CATEGORIES["transactional"],
            person=person(),
            recipient_id=LAILA,
            published=None,
            routes=(DeliveryRoute(channel="email", vendor="smtp"),),
        ),
        **more,
    )


def explained(given: DeliveryTrace, **more: Any) -> ExplainView:
    return explanation(given, background(**more), NOON)


def test_every_line_of_the_decision_has_a_sentence() -> None:
    one = notification(trace="t+;e+;r+guardian_instead;c-consent_missing;z+of_tomorrow;1.a-no_address")
    lines = explained(delivery_trace(one)).decision

    assert [(line.gate, line.verdict, line.reason, line.step) for line in lines] == [
        ("tenant_active", "pass", None, None),
        ("not_expired", "pass", None, None),
        ("recipient_known", "pass", "guardian_instead", None),
        ("category_allowed", "stop", "consent_missing", None),
        ("z", "pass", "of_tomorrow", None),
        ("address_usable", "stop", "no_address", 1),
    ]
    assert [line.explanation for line in lines] == [
        "The tenant is active.",
        "Its time was not over.",
        "The recipient's guardian is written to instead.",
        "The category needs consent, and the recipient has not given it.",
        "The reason given was of_tomorrow.",
        "The recipient has no address on this channel.",
    ]


def test_what_was_decided_by_stands_beside_what_holds_now() -> None:
    choices = Choices(
        quiet_hours=(ALWAYS,),
        channels={"sms": ChannelChoice(allow=False)},
        marketing_consent=Consent(granted=True, at=NOON, source="signup_form", evidence="form 7"),
    )
    told = explained(delivered(), person=person(choices)).preferences

    assert (told.version_decided_by, told.version_now, told.changed_since) == (3, 4, True)
    assert told.now is not None
    assert told.now.quiet_hours_of == "recipient"
    assert told.now.quiet_until is not None
    assert told.now.consent.source == "signup_form"
    assert told.now.channels["sms"].allow is False


def test_quiet_hours_are_the_tenants_where_nobody_chose_any() -> None:
    policy = NotificationPolicy(quiet_hours=(ALWAYS,))

    theirs = explained(delivery_trace(), policy=policy).preferences.now
    none = explained(delivery_trace()).preferences.now

    assert theirs is not None
    assert none is not None
    assert (theirs.quiet_hours_of, none.quiet_hours_of) == ("tenant", "nobody")


def test_somebody_who_is_gone_has_no_preferences_now() -> None:
    told = explained(delivered(), person=None).preferences

    assert (told.version_now, told.changed_since, told.now) == (None, False, None)


def test_the_ladder_is_the_frozen_one_once_it_was_handed_over() -> None:
    before, after = explained(delivery_trace()).policy, explained(delivered()).policy

    assert (before.frozen, [route.vendor for route in before.routes]) == (False, ["smtp"])
    assert (after.frozen, [route.vendor for route in after.routes]) == (True, ["smtp", "http"])
    assert after.name == "default ladder"


def test_the_template_says_the_language_that_was_read() -> None:
    told = explained(delivered()).template

    assert (told.locale_asked, told.locale, told.direction, told.rendered) == ("fa-AF", "fa", "rtl", True)


def test_no_address_and_no_text_is_in_it() -> None:
    text = msgspec.json.encode(explained(delivered())).decode()

    assert ID in text
    assert "@" not in text
    assert "sealed" not in text
