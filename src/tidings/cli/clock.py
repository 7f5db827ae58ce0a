"""`tidings clock`: move the time of a Tidings that was started with `tidings up --clock`, to see what happens then."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli import options
from tidings.cli.command import command_group
from tidings.cli.failures import CommandError

app = command_group()


@app.command()
def show(*, data_dir: options.DataDir = None) -> None:
    """Show what time it is for Tidings, and how far ahead of the machine that is."""
    _say(_ahead(_file(data_dir)))


@app.command()
def advance(
    length: Annotated[str, typer.Argument(help="How far: 30s, 15m, 2h, 2d.")],
    *,
    data_dir: options.DataDir = None,
) -> None:
    """Move the time forward; what is due by then goes out within seconds. There is no way back."""
    by = options.duration_of(length)
    if not by:
        raise CommandError(f"advance takes a length such as 15m, 2h or 2d, not {length!r}")
    file = _file(data_dir)
    _move(file, _ahead(file) + by)


@app.command()
def to(
    moment: Annotated[str, typer.Argument(help="With its offset: 2026-12-01T09:00Z.")],
    *,
    data_dir: options.DataDir = None,
) -> None:
    """Move the time forward to a moment."""
    file = _file(data_dir)
    move_to(file, moment, "MOMENT", from_=_ahead(file))


def move_to(file: Path, moment: str, option: str, *, from_: timedelta) -> None:
    """Let the clock of a file show that moment, if that is forward from so far ahead."""
    wanted = options.moment_of(moment, option)
    if wanted is None:
        return
    ahead = wanted - datetime.now(UTC)
    if ahead < from_:
        raise CommandError(f"{option} is before the time that it is for Tidings; a clock only goes forward")
    _move(file, ahead)


def _file(data_dir: Path | None) -> Path:
    from tidings.operations.embedded import DataDir

    return DataDir(data_dir or Path("tidings-data")).clock


def _ahead(file: Path) -> timedelta:
    from tidings.kernel.moved_clock import read_ahead

    ahead = read_ahead(file)
    if ahead is None:
        raise CommandError(
            f"the Tidings of {file.parent} goes by the machine's clock; start it with `tidings up --clock now`, "
            "on a data dir for trying out, and its time can be moved"
        )
    return ahead


def _move(file: Path, ahead: timedelta) -> None:
    from tidings.kernel.moved_clock import FURTHEST, FURTHEST_BEHIND, write_ahead

    if ahead > FURTHEST:
        raise CommandError(
            f"the clock can be at most {FURTHEST.days} days ahead: partitions are made for no longer"
        )
    if ahead < -FURTHEST_BEHIND:
        raise CommandError(f"the clock can be at most {FURTHEST_BEHIND.days} days behind")
    write_ahead(file, ahead)
    _say(ahead)


def _say(ahead: timedelta) -> None:
    now = (datetime.now(UTC) + ahead).replace(microsecond=0)
    side = "ahead of" if ahead > timedelta(0) else "behind"
    apart = f", {_words(abs(ahead))} {side} the machine" if ahead else ""
    typer.echo(f"It is {now:%Y-%m-%dT%H:%M:%SZ} for Tidings{apart}.")


def _words(length: timedelta) -> str:
    days, seconds = divmod(round(length.total_seconds()), 86400)
    parts = [(days, "d"), (seconds // 3600, "h"), (seconds % 3600 // 60, "min")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or f"{seconds} s"
