"""When to look next."""

from datetime import UTC, datetime, timedelta

from tidings.router.executions.alarm import Alarm

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_it_sleeps_until_the_earliest() -> None:
    """Of what the look found and what was left waiting since it began."""
    alarm = Alarm()
    alarm.begin_look()

    assert alarm.seconds_left(None, now=NOW, longest=5) == 5
    assert alarm.seconds_left(NOW + timedelta(seconds=3), now=NOW, longest=5) == 3
    assert not alarm.wake.called
    alarm.expect(NOW + timedelta(seconds=4))
    assert not alarm.wake.called
    alarm.expect(NOW + timedelta(seconds=1))
    assert alarm.wake.called


def test_what_comes_during_a_look_is_not_missed() -> None:
    alarm = Alarm()
    alarm.begin_look()
    alarm.expect(NOW - timedelta(seconds=1))

    assert alarm.wake.called
    assert alarm.seconds_left(None, now=NOW, longest=5) == 0
