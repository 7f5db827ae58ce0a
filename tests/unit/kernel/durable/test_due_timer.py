"""When to look next."""

from datetime import UTC, datetime, timedelta

from tidings.kernel.durable.wakeup import DueTimer

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_it_sleeps_until_the_earliest() -> None:
    """Of what the look found and what was left waiting since it began."""
    timer = DueTimer()
    timer.begin_look()

    assert timer.seconds_left(None, now=NOW, longest=5) == 5
    assert timer.seconds_left(NOW + timedelta(seconds=3), now=NOW, longest=5) == 3
    assert not timer.wakeup.called
    timer.expect(NOW + timedelta(seconds=4))
    assert not timer.wakeup.called
    timer.expect(NOW + timedelta(seconds=1))
    assert timer.wakeup.called


def test_what_comes_during_a_look_is_not_missed() -> None:
    timer = DueTimer()
    timer.begin_look()
    timer.expect(NOW - timedelta(seconds=1))

    assert timer.wakeup.called
    assert timer.seconds_left(None, now=NOW, longest=5) == 0
