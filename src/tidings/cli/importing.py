"""Sends a file to be imported: with a bar, again where the connection breaks off, and what became of its lines."""

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from tidings.cli.failures import CommandError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from tidings_client import Tidings
    from tidings_client.imports import Imported, Kind

_PIECE = 64 * 1024
#: Pauses, in seconds, after a connection broke off; then the person has to say that they want to go on.
_PAUSES = (1.0, 2.0, 4.0, 8.0)
_SHOWN = 10
#: The exit code where the file was taken in, and not all of it.
_SOME_REFUSED = 3
_STYLES = {"error": "bold red", "warning": "yellow"}


def import_file(
    tidings: "Tidings", kind: "Kind", file: Path, query: Mapping[str, str], *, resume: str | None
) -> "Imported":
    """The import when all of the file is taken in."""
    from tidings_client import NotReachedError, UnavailableError
    from tidings_client.calls import new_key
    from tidings_client.imports import import_file as call_of

    key = resume or new_key()
    call = call_of(kind, query, key=key, media_type=_media_type(file))
    with _opened(file) as source, _bar() as bar:
        task = bar.add_task(file.name, total=file.stat().st_size)
        for pause in (*_PAUSES, None):
            source.seek(0)
            bar.update(task, completed=0)
            try:
                return tidings.upload(call, _pieces(source, bar, task))
            except (NotReachedError, UnavailableError) as error:
                if pause is None:
                    raise CommandError(f"{error}; to go on where it stood, add --resume {key}") from None
                time.sleep(pause)
            except KeyboardInterrupt:
                print(f"tidings: stopped; to go on where it stood, add --resume {key}", file=sys.stderr)
                raise
    raise AssertionError("the last try returns or raises")


def show(done: "Imported", tidings: "Tidings", *, as_json: bool, report: Path | None) -> None:
    """What became of the lines; the report goes where it was asked for."""
    from tidings_client.imports import report as report_of

    if report is not None:
        with report.open("wb") as kept:
            for piece in tidings.download(report_of(done.id)):
                kept.write(piece)
    if as_json:
        import msgspec

        print(msgspec.json.encode(done).decode())
        return
    from rich.text import Text

    from tidings.cli.printing import print_lines, shown

    would = "would be " if done.dry_run else ""
    lines = [
        Text(f"{done.id}  {shown(done.format)}, {done.lines:,} lines"),
        Text(
            f"{done.added:,} {would}added, {done.changed:,} changed, {done.unchanged:,} unchanged, "
            f"{done.refused:,} refused"
        ),
    ]
    if done.warnings:
        lines.append(Text(f"{done.warnings:,} warnings: those lines count, without what is named"))
    for p in done.first_problems[:_SHOWN]:
        where = f"line {p.line}{f', {shown(p.column)}' if p.column else ''}"
        style = _STYLES.get(p.severity, "")
        lines.append(
            Text.assemble(
                f"  {where}: ", (f"{shown(p.severity)}: ", style), f"{shown(p.what)} ({shown(p.code)})"
            )
        )
    if done.problems > _SHOWN:
        rest = f"; all of them are in {report}" if report else "; --report FILE keeps all of them"
        lines.append(Text(f"  … {done.problems - _SHOWN:,} more problems{rest}"))
    print_lines(lines)


def end(done: "Imported", *, allow_refused: bool) -> None:
    """A script can tell by the exit code that lines were left out."""
    if done.refused and not allow_refused:
        would = "would be" if done.dry_run else "were"
        print(
            f"tidings: {done.refused:,} of {done.lines:,} lines {would} refused (--allow-refused ends with 0 all the same)",
            file=sys.stderr,
        )
        raise SystemExit(_SOME_REFUSED)


def _media_type(file: Path) -> str:
    return "application/x-ndjson" if file.suffix.lower() in {".jsonl", ".ndjson"} else "text/csv"


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise CommandError(f"{file} can't be read: {error.strerror}") from None


def _pieces(source: BinaryIO, bar: "Progress", task: "TaskID") -> Iterator[bytes]:
    while piece := source.read(_PIECE):
        yield piece
        bar.advance(task, len(piece))


def _bar() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
