"""Sends a file to be imported: with a bar, again where the connection breaks off, and what became of its lines."""

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from tidings.cli.api_command import Api
from tidings.cli.command import JsonObject, Output
from tidings.cli.failures import CommandError
from tidings.cli.printing import progress_bar, shown
from tidings.cli.resource import Row

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID
    from rich.text import Text

_PIECE = 64 * 1024
#: Pauses, in seconds, after a connection broke off; then the person has to say that they want to go on.
_PAUSES = (1.0, 2.0, 4.0, 8.0)
_SHOWN = 10
#: The exit code where the file was taken in, and not all of it.
_SOME_REFUSED = 3
_STYLES = {"error": "bold red", "warning": "yellow"}


def import_file(
    api: Api,
    operation: str,
    file: Path,
    query: Mapping[str, object],
    *,
    path: Sequence[object] = (),
    resume: str | None,
    report: Path | None,
    allow_refused: bool,
) -> Output:
    """Import all of a file, and write the report where it was asked for."""
    done = _sent(api, operation, file, query, path=path, resume=resume)
    if report is not None:
        with report.open("wb") as kept:
            for piece in api.download("download_report", done["id"]):
                kept.write(piece)
    api.exit_code = exit_code(done, allow_refused=allow_refused)
    return Output(done, lines_of(done, report))


def _sent(
    api: Api,
    operation: str,
    file: Path,
    query: Mapping[str, object],
    *,
    path: Sequence[object],
    resume: str | None,
) -> JsonObject:
    from rich.progress import DownloadColumn

    from tidings_client import NotReachedError, UnavailableError, operations
    from tidings_client.calls import Call, new_key

    key = resume or new_key()
    call: Call[JsonObject] = operations.call(
        operation, *path, query=query, key=key, media_type=_media_type(file), platform=api.platform
    )
    with _opened(file) as source, progress_bar(DownloadColumn()) as bar:
        task = bar.add_task(file.name, total=file.stat().st_size)
        for pause in (*_PAUSES, None):
            source.seek(0)
            bar.update(task, completed=0)
            try:
                return api.tidings.upload(call, _pieces(source, bar, task))
            except (NotReachedError, UnavailableError) as error:
                if pause is None:
                    raise CommandError(f"{error}; to go on where it stood, add --resume {key}") from None
                time.sleep(pause)
            except KeyboardInterrupt:
                print(f"tidings: stopped; to go on where it stood, add --resume {key}", file=sys.stderr)
                raise
    raise AssertionError("the last try returns or raises")


def lines_of(done: JsonObject, report: Path | None) -> "list[Text]":
    """What became of the lines."""
    from rich.text import Text

    would = "would be " if done["dry_run"] else ""
    lines = [
        Text(f"{done['id']}  {shown(done['format'])}, {done['lines']:,} lines"),
        Text(
            f"{done['added']:,} {would}added, {done['changed']:,} changed, {done['unchanged']:,} unchanged, "
            f"{done['refused']:,} refused"
        ),
    ]
    if done.get("warnings"):
        lines.append(Text(f"{done['warnings']:,} warnings: those lines count, without what is named"))
    for p in done["first_problems"][:_SHOWN]:
        column = f", {shown(p['column'])}" if p["column"] else ""
        where = f"line {p['line']}{column}"
        severity = p.get("severity", "error")
        style = _STYLES.get(severity, "")
        words = f"{shown(p['what'])} ({shown(p['code'])})"
        lines.append(Text.assemble(f"  {where}: ", (f"{shown(severity)}: ", style), words))
    if done["problems"] > _SHOWN:
        rest = f"; all of them are in {report}" if report else "; --report FILE keeps all of them"
        lines.append(Text(f"  … {done['problems'] - _SHOWN:,} more problems{rest}"))
    return lines


def exit_code(done: JsonObject, *, allow_refused: bool) -> int:
    """A script can tell by the exit code that lines were left out."""
    if not done["refused"] or allow_refused:
        return 0
    would = "would be" if done["dry_run"] else "were"
    print(
        f"tidings: {done['refused']:,} of {done['lines']:,} lines {would} refused (--allow-refused ends with 0 all the same)",
        file=sys.stderr,
    )
    return _SOME_REFUSED


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


#: The row of an operation that imports a file.
IMPORT = Row(
    upload=import_file,
    help={
        "file": "A CSV, or JSON lines (.jsonl).",
        "dry_run": "Say what would happen; change nothing.",
        "emit_events": "Whether each change is announced as an event.",
    },
    more={
        "report": Annotated[
            Path | None, typer.Option("--report", help="Where to keep all lines that can't be taken.")
        ],
        "resume": Annotated[
            str | None, typer.Option("--resume", help="Go on with an import that broke off, by its key.")
        ],
        "allow_refused": Annotated[
            bool,
            typer.Option(
                "--allow-refused", help="End with 0 also where lines were refused; otherwise it is 3."
            ),
        ],
    },
)
