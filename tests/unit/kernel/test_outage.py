"""An outage of the database fills no log."""

import json

import pytest

from tests.unit.kernel.test_logs import logging_restored
from tidings.kernel import logs
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.outage import EVERY, OUTAGE, Outage

__all__ = ["logging_restored"]


class Time:
    """Moved by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def retry(event: str, error: str = "DatabaseUnavailableError") -> dict[str, object]:
    return {"event": event, "level": "warning", "error": error, "retry_seconds": 0.1}


def test_it_is_told_once_then_in_a_while_with_a_count_and_when_it_is_over() -> None:
    time = Time()
    outage = Outage(time)
    first = retry("relay_failed")

    assert not outage.keeps_back(first)
    assert "lines_left_out" not in first
    assert all(outage.keeps_back(retry(f"job_{n}")) for n in range(40))
    assert outage.keeps_back(
        {"event": "http.unavailable", "level": "warning", "code": "database_unavailable"}
    )
    time.seconds += EVERY
    later = retry("claim_failed")
    assert not outage.keeps_back(later)
    assert (later["lines_left_out"], later["outage_seconds"]) == (41, 30)
    assert outage.keeps_back(retry("relay_failed"))
    time.seconds += 2.5
    assert outage.over() == {"outage_seconds": 32.5, "lines_left_out": 1}
    assert not outage.noticed
    assert not outage.keeps_back(retry("relay_failed"))


def test_other_lines_are_shown() -> None:
    """Before it whoever fails for another reason, and during it whatever is no mere retry."""
    outage = Outage(Time())

    assert not outage.keeps_back(retry("wakeups_lost", "TimeoutError"))
    assert not outage.keeps_back(retry("relay_failed"))
    assert outage.keeps_back(retry("wakeups_lost", "TimeoutError"))
    assert not outage.keeps_back({"event": "postgres_ended", "level": "error", "retry_seconds": 0.1})
    assert not outage.keeps_back({"event": "key_revoked", "level": "info"})


@pytest.mark.usefixtures("logging_restored")
def test_lines_say_why_and_go_through_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Our own words are shown; a stranger's may be anything."""
    if OUTAGE.noticed:
        OUTAGE.over()  # What another test of this process has left.
    logs.configure(style="json")
    log = logs.get_logger("bus.relay")
    away = DatabaseUnavailableError("the database can't be reached: Connection refused")
    try:
        for _ in range(50):
            log.warning("relay_failed", retry_seconds=0.1, **logs.why(away))
    finally:
        if OUTAGE.noticed:
            OUTAGE.over()
    log.warning("relay_failed", retry_seconds=0.1, **logs.why(LookupError("Ada's words")))

    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["error"], line.get("reason")) for line in lines] == [
        ("DatabaseUnavailableError", "the database can't be reached: Connection refused"),
        ("LookupError", None),
    ]
