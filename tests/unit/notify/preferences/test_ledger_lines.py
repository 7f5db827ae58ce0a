"""Which lines a change of preferences writes: one for every yes and no that changed, and none besides."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tidings.notify.recipients.consent import CONFIRM_WITHIN, Consent, settle
from tidings.notify.recipients.consent_ledger import told_between
from tidings.notify.recipients.preferences_model import ChannelChoice, Choices

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
NOTHING = Choices()
OFF = Choices(global_unsubscribed_at=NOON)
YES = Choices(marketing_consent=Consent(granted=True, source="form", at=NOON))
WAITS = Choices(marketing_consent=Consent(granted=False, source="form", pending_since=NOON))


def mail(*, allow: bool = True, **categories: bool) -> Choices:
    return Choices(channels={"email": ChannelChoice(allow=allow, categories=categories)})


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        (NOTHING, NOTHING, []),
        (NOTHING, Choices(locale="fr"), []),
        (NOTHING, OFF, [("opted_out", None, None)]),
        (OFF, NOTHING, [("opted_in", None, None)]),
        (NOTHING, mail(allow=False), [("opted_out", "email", None)]),
        (mail(allow=False), NOTHING, [("opted_in", "email", None)]),
        (NOTHING, mail(social=False), [("opted_out", "email", "social")]),
        (mail(social=False), mail(social=False), []),
        (mail(social=False), NOTHING, [("opted_in", "email", "social")]),
        (mail(social=False), mail(social=True), [("opted_in", "email", "social")]),
        (NOTHING, mail(social=True), []),
        (mail(allow=False), mail(allow=False, social=True), [("opted_in", "email", "social")]),
        (NOTHING, YES, [("consent_granted", None, None)]),
        (YES, YES, []),
        (YES, NOTHING, [("consent_withdrawn", None, None)]),
        (NOTHING, WAITS, [("consent_requested", None, None)]),
        (WAITS, WAITS, []),
        (WAITS, YES, [("consent_granted", None, None)]),
        (WAITS, NOTHING, [("consent_withdrawn", None, None)]),
    ],
)
def test_lines(before: Choices, after: Choices, lines: list[Any]) -> None:
    assert [(told.kind, told.channel, told.category) for told in told_between(before, after)] == lines


def test_consent_that_has_to_be_confirmed_waits_and_waits_on() -> None:
    wanted = Consent(granted=True, source="form")
    first, wrong = settle(Consent(granted=False), wanted, now=NOON, at="c", confirm=True)
    assert (first.granted, first.pending_since, wrong) == (False, NOON, [])
    later = NOON.replace(hour=13)
    assert settle(first, wanted, now=later, at="c", confirm=True)[0] == first
    assert settle(first, first, now=later, at="c")[0] == first
    other = Consent(granted=True, source="call")
    assert settle(first, other, now=later, at="c", confirm=True)[0].pending_since == later
    assert settle(first, wanted, now=later, at="c")[0].granted is True
    assert settle(first, Consent(granted=False), now=later, at="c")[0].pending_since is None
    forged = Consent(granted=False, pending_since=later)
    assert [fault.field for fault in settle(first, forged, now=later, at="c")[1]] == ["c.pending_since"]


def test_consent_that_nobody_confirmed_in_time_can_be_asked_for_again() -> None:
    wanted = Consent(granted=True, source="form")
    first, _ = settle(Consent(granted=False), wanted, now=NOON, at="c", confirm=True)
    over = NOON + CONFIRM_WITHIN
    just_before = settle(first, wanted, now=over - timedelta(milliseconds=1), at="c", confirm=True)[0]
    assert just_before.pending_since == NOON
    again = settle(first, wanted, now=over, at="c", confirm=True)[0]
    assert (again.granted, again.pending_since) == (False, over)
    assert [
        told.kind for told in told_between(Choices(marketing_consent=first), Choices(marketing_consent=again))
    ] == ["consent_requested"]
    assert settle(first, first, now=over, at="c")[0] == first, "given back as it was read"
