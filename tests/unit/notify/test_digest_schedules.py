"""When a digest comes: by the reader's clock, over changes of it in both directions, and by what was gathered."""

from datetime import UTC, datetime, timedelta

import pytest

from tidings.contracts.tenants import DigestChoice
from tidings.notify.digest_windows.schedule import in_force, plan, schedule_faults

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("choice", "zone", "now", "flush"),
    [
        # The same local hour before and after the clock is put forward, and back.
        (DigestChoice(every="day", at="09:00"), BERLIN, "2027-03-27T12:00", "2027-03-28T07:00"),
        (DigestChoice(every="day", at="09:00"), BERLIN, "2026-10-24T12:00", "2026-10-25T08:00"),
        # An hour that the night skips is the moment of the change; one that comes twice is the first.
        (DigestChoice(every="day", at="02:30"), BERLIN, "2027-03-27T12:00", "2027-03-28T01:00"),
        (DigestChoice(every="day", at="02:30"), BERLIN, "2026-10-24T12:00", "2026-10-25T00:30"),
        # Not twice in the night that has the hour twice.
        (DigestChoice(every="day", at="02:30"), BERLIN, "2026-10-25T00:30", "2026-10-26T01:30"),
        (DigestChoice(every="day"), "Asia/Kabul", "2026-11-15T00:00", "2026-11-15T04:30"),
        # A Sunday.
        (DigestChoice(every="week", day="sun", at="12:00"), "UTC", "2026-11-15T12:00", "2026-11-22T12:00"),
        (DigestChoice(every="week", days=("mon", "thu"), at="08:00"), "UTC", "2026-11-16T09:00", "2026-11-19T08:00"),
        (DigestChoice(every="week"), "UTC", "2026-11-15T12:00", "2026-11-16T09:00"),
        (DigestChoice(every="hour"), "UTC", "2026-11-15T12:20", "2026-11-15T13:00"),
        (DigestChoice(every="hour"), "Asia/Kabul", "2026-11-15T12:20", "2026-11-15T12:30"),
        (DigestChoice(every="hour"), "UTC", "2026-11-15T12:00", "2026-11-15T13:00"),
    ],
)  # fmt: skip
def test_a_digest_by_the_clock(choice: DigestChoice, zone: str, now: str, flush: str) -> None:
    planned = plan(choice, zone, at(now))

    assert planned.flush_at == planned.end == at(flush)
    assert not planned.slides


def test_a_digest_so_long_after_the_first_message() -> None:
    opened, now = at("2026-11-15T12:00"), at("2026-11-15T12:10")

    assert plan(DigestChoice(every="minutes", minutes=15), "UTC", now, opened=opened).flush_at == at(
        "2026-11-15T12:15"
    )


def test_a_pause_puts_it_off_and_has_an_end() -> None:
    choice, opened = DigestChoice(every="pause", minutes=10, at_most_minutes=30), at("2026-11-15T12:00")
    flushes = []
    for minutes in (0, 8, 16, 24):
        last = opened + timedelta(minutes=minutes)
        flushes.append(plan(choice, "UTC", last, opened=opened, last_item=last).flush_at - opened)

    assert [flush / timedelta(minutes=1) for flush in flushes] == [10, 18, 26, 30]


def test_who_chose_is_heard_and_the_tenant_otherwise() -> None:
    own, usual, never = (
        DigestChoice(every="hour"),
        DigestChoice(every="day"),
        DigestChoice(every="never"),
    )

    assert in_force(own, usual) is own
    assert in_force(None, usual) is usual
    assert in_force(never, usual) is None
    assert in_force(None, None) is None


@pytest.mark.parametrize(
    ("choice", "field"),
    [
        (DigestChoice(every="never", minutes=5), "d"),
        (DigestChoice(every="day", day="mon"), "d.day"),
        (DigestChoice(every="day", days=("mon",)), "d.days"),
        (DigestChoice(every="week", day="mon", days=("tue",)), "d.days"),
        (DigestChoice(every="week", days=("tue", "tue")), "d.days"),
        (DigestChoice(every="day", minutes=5), "d.minutes"),
        (DigestChoice(every="minutes", minutes=5, at_most_minutes=9), "d.at_most_minutes"),
        (DigestChoice(every="pause", minutes=5, at_most_minutes=4), "d.at_most_minutes"),
        (DigestChoice(every="pause", minutes=5, at_most_minutes=6 * 1440), "d"),
        # Four days from Thursday to Monday.
        (DigestChoice(every="week", days=("mon", "thu")), "d"),
    ],
)
def test_what_could_not_act_is_named(choice: DigestChoice, field: str) -> None:
    faults = schedule_faults(choice, at="d", may_digest=True, expires_after=3 * 86_400)

    assert [fault.field for fault in faults] == [field]


@pytest.mark.parametrize(
    "choice",
    [
        DigestChoice(every="never"),
        DigestChoice(every="hour"),
        DigestChoice(every="day", at="07:15"),
        DigestChoice(every="week", days=("mon", "wed", "fri")),
        DigestChoice(every="minutes", minutes=1440),
        DigestChoice(every="pause", minutes=5, at_most_minutes=5),
    ],
)
def test_what_can_act_is_taken(choice: DigestChoice) -> None:
    assert schedule_faults(choice, at="d", may_digest=True, expires_after=3 * 86_400) == []


def test_a_category_that_is_never_gathered_has_no_schedule_but_never() -> None:
    refused, taken = (
        schedule_faults(choice, at="d", may_digest=False, expires_after=86_400)
        for choice in (DigestChoice(every="day"), DigestChoice(every="never"))
    )

    assert "may_digest" in refused[0].remedy
    assert taken == []
