"""Files of a ledger hold stretches of time that follow each other, within a month, up to the last midnight."""

from datetime import UTC, datetime, timedelta

import pytest

from tidings.backoffice.exports.plan import Window, complete_until, gaps, next_window


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("exported_until", "oldest", "window"),
    [
        (None, "2026-09-17T12:00", ("2026-09-01", "2026-10-01")),
        ("2026-10-01", "2026-10-01T00:00", ("2026-10-01", "2026-11-01")),
        ("2026-11-10", "2026-11-10T03:00", ("2026-11-10", "2026-11-19")),
        ("2026-08-10", "2026-11-03T03:00", ("2026-11-01", "2026-11-19")),
        ("2026-11-19", "2026-11-19T00:00", None),
    ],
)
def test_the_next_file(exported_until: str | None, oldest: str, window: tuple[str, str] | None) -> None:
    found = next_window(at(exported_until) if exported_until else None, at(oldest), at("2026-11-19"))

    assert found == (Window(at(window[0]), at(window[1])) if window else None)


def test_a_day_is_complete_an_hour_after_its_end() -> None:
    assert complete_until(at("2026-11-19T00:59")) == at("2026-11-18")
    assert complete_until(at("2026-11-19T01:00")) == at("2026-11-19")


def test_what_of_a_month_stands_in_no_file() -> None:
    month, day = at("2026-11-01"), timedelta(days=1)
    parts = [Window(month + 2 * day, month + 5 * day), Window(month + 5 * day, month + 7 * day)]

    assert gaps(month, parts) == [Window(month, month + 2 * day), Window(month + 7 * day, at("2026-12-01"))]
    assert gaps(month, [Window(month, at("2026-12-01"))]) == []
    assert gaps(month, []) == [Window(month, at("2026-12-01"))]
