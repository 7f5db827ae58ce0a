"""Places in the row of a mail domain: kept when they are met in time, given anew when they are not."""

from datetime import UTC, datetime, timedelta

from tidings.notify.batches.domain_pace import DomainRows

NOON = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def rows(at: datetime, slots: dict[str, datetime] | None = None, *, pace: int = 6) -> DomainRows:
    return DomainRows({"slow.test": pace}, slots or {}, at)


def test_places_of_one_domain_follow_each_other_at_its_pace() -> None:
    given = rows(NOON)

    places = [given.place("slow.test", NOON) for _ in range(4)]

    assert places == [NOON + n * 10 * SECOND for n in range(4)]


def test_a_domain_without_a_pace_and_people_without_an_address_are_not_kept_waiting() -> None:
    given = rows(NOON)

    assert [given.place(domain, NOON) for domain in ("fast.test", None, "fast.test")] == [NOON] * 3
    assert given.may_go("fast.test", NOON - timedelta(hours=1))
    assert given.slots == {}


def test_who_is_met_in_time_goes_whoever_went_before() -> None:
    given = rows(NOON)

    assert [given.may_go("slow.test", NOON - 5 * SECOND) for _ in range(3)] == [True] * 3


def test_of_those_who_are_late_one_goes_and_the_others_get_new_places_behind_all_that_are_taken() -> None:
    late = NOON - timedelta(minutes=10)
    given = rows(NOON, {"slow.test": NOON + timedelta(minutes=1)})

    went = [given.may_go("slow.test", late) for _ in range(3)]
    places = [given.place("slow.test", NOON) for _ in range(2)]

    assert went == [True, False, False]
    assert places == [NOON + 60 * SECOND, NOON + 70 * SECOND]


def test_who_is_late_is_not_put_off_for_ever() -> None:
    """Where something else is slower than the domain, everybody is late, and its row is free each time."""
    slots: dict[str, datetime] = {}
    for minute in range(5):
        now = NOON + timedelta(minutes=minute)
        given = rows(now, slots)

        assert given.may_go("slow.test", NOON - timedelta(hours=1))
        slots = given.slots


def test_a_row_of_an_hour_that_has_come_counts_for_those_who_are_late() -> None:
    hour = NOON + timedelta(hours=1)
    given = rows(NOON)
    planned = [given.place("slow.test", hour) for _ in range(3)]

    then = rows(hour, given.slots)
    assert then.may_go("slow.test", hour)
    assert not then.may_go("slow.test", NOON)
    assert then.place("slow.test", hour) == planned[-1] + 10 * SECOND


def test_what_is_over_is_not_kept() -> None:
    given = rows(NOON, {"slow.test": NOON, "made slow.test": NOON - SECOND, "*": NOON - SECOND})

    assert given.slots == {"*": NOON - SECOND}
