"""A clock that is ahead of the machine's."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tidings.cli.main import app
from tidings.kernel import moved_clock
from tidings.kernel.moved_clock import MovedClock, read_ahead, write_ahead


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(moved_clock, "_EVERY", 0.0)
    return tmp_path / "clock"


def test_it_is_as_far_ahead_as_the_file_says(file: Path) -> None:
    clock = MovedClock(file)
    assert abs(clock.now() - datetime.now(UTC)) < timedelta(hours=1)
    write_ahead(file, timedelta(days=2))
    assert timedelta(days=2) <= clock.now() - datetime.now(UTC) + timedelta(hours=1)


def test_it_never_goes_back(file: Path) -> None:
    clock = MovedClock(file)
    write_ahead(file, timedelta(days=2))
    late = clock.now()
    write_ahead(file, timedelta(0))
    assert clock.now() >= late
    file.unlink()
    assert clock.now() >= late


def test_it_may_begin_in_the_past_and_goes_on_from_there(file: Path) -> None:
    write_ahead(file, timedelta(days=-30))
    clock = MovedClock(file)
    early = clock.now()
    assert timedelta(days=29) < datetime.now(UTC) - early
    write_ahead(file, timedelta(days=-31))
    assert clock.now() >= early
    file.unlink()
    assert datetime.now(UTC) - clock.now() < timedelta(hours=1)


@pytest.mark.parametrize("text", ["", "two days", "nan-"])
def test_a_file_that_says_nothing_moves_nothing(file: Path, text: str) -> None:
    file.write_text(text)
    assert read_ahead(file) is None
    assert MovedClock(file).now() - datetime.now(UTC) < timedelta(hours=1)


def _run(*arguments: str, data_dir: Path) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["clock", *arguments, "--data-dir", str(data_dir)])
    return done.exit_code, done.output + str(done.exception or "")


def test_the_command_moves_it(file: Path) -> None:
    write_ahead(file, timedelta(0))
    assert _run("advance", "2d", data_dir=file.parent)[0] == 0
    code, text = _run("advance", "3h", data_dir=file.parent)
    assert (code, read_ahead(file)) == (0, timedelta(days=2, hours=3))
    assert "2 d 3 h ahead of the machine" in text
    assert "2 d 3 h" in _run("show", data_dir=file.parent)[1]


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        (("advance", "soon"), "such as 15m"),
        (("advance", "61d"), "at most 60 days"),
        (("to", "2020-01-01T00:00Z"), "only goes forward"),
        (("to", "tomorrow"), "with its offset"),
    ],
)
def test_what_can_t_be_is_refused(file: Path, arguments: tuple[str, ...], remedy: str) -> None:
    write_ahead(file, timedelta(0))
    code, text = _run(*arguments, data_dir=file.parent)
    assert code != 0
    assert remedy in text
    assert read_ahead(file) == timedelta(0)


def test_without_a_clock_of_its_own_the_command_says_how_to_get_one(tmp_path: Path) -> None:
    code, text = _run("advance", "2d", data_dir=tmp_path)
    assert code != 0
    assert "tidings up --clock now" in text
