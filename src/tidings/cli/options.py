"""Options that several commands have in common, and how values that were typed are checked."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from tidings.cli.failures import CommandError
from tidings.cli.printing import shown

T = TypeVar("T")
_DURATION = re.compile(r"(?:in )?\+?(\d{1,6}(?:\.\d+)?)(s|m|h|d)")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir",
        envvar="TIDINGS_DATA_DIR",
        help="Folder of the embedded database, keys and blobs. [default: tidings-data]",
    ),
]
DatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--database-url", envvar="TIDINGS_DATABASE_URL", help="An outside Postgres, as the runtime role."
    ),
]
OwnerDatabaseUrl = Annotated[
    str | None,
    typer.Option(
        "--owner-database-url",
        envvar="TIDINGS_OWNER_DATABASE_URL",
        help="The same database, as the owner role.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Lines = Annotated[int, typer.Option("-n", "--lines", "--limit", help="How many at most.", min=1, max=1000)]
Actor = Annotated[str | None, typer.Option("--actor", help="Who does it. [default: your login name]")]
Port = Annotated[
    str | None, typer.Option("--port", envvar="TIDINGS_PORT", help="Port to listen on. [default: 8080]")
]
Host = Annotated[
    str | None,
    typer.Option("--host", envvar="TIDINGS_HOST", help="Address to listen on. [default: 127.0.0.1]"),
]
MetricsPort = Annotated[
    str | None,
    typer.Option(
        "--metrics-port",
        envvar="TIDINGS_METRICS_PORT",
        help="Port for /healthz, /readyz and /metrics of this process: 0 for any free one, off for none. "
        "[default: 9464 for work, else the API's port alone]",
    ),
]


def moment_of(text: str | None, option: str) -> datetime | None:
    """The moment that was typed after `option`, if one was."""
    try:
        found = None if text is None else datetime.fromisoformat(text)
    except ValueError:
        found = None
    if text is not None and (found is None or found.tzinfo is None):
        raise CommandError(f"{option} must be a time with its offset, such as 2026-11-15T12:00:00Z")
    return found


def duration_of(text: str) -> timedelta | None:
    """A length of time such as 30s, 15m, 2h or 1d; None where it is none."""
    found = _DURATION.fullmatch(text)
    return timedelta(seconds=float(found[1]) * _SECONDS[found[2]]) if found else None


def day_of(text: str, option: str) -> date:
    """The day that was typed after `option`."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007  # a day has no zone
    except ValueError:
        raise CommandError(f"{option} must be a day such as 2026-11-01, not {shown(text)!r}") from None


def from_options(wanted: type[T], values: Mapping[str, object], options: Mapping[str, str]) -> T:
    """The values as a `wanted`; `options` says how the person at the keyboard calls each field."""
    import msgspec

    from tidings.kernel.http.field_errors import explain
    from tidings.kernel.refusals import InvalidError

    with named_as(options):
        try:
            return msgspec.convert(values, wanted)
        except msgspec.ValidationError as error:
            raise InvalidError(explain(dict(values), wanted, error)) from None


@contextmanager
def named_as(options: Mapping[str, str]) -> Iterator[None]:
    """Let a refusal inside name options instead of fields."""
    from tidings.kernel.refusals import RefusalError

    try:
        yield
    except RefusalError as error:
        faults = getattr(error, "errors", ())
        if not faults:
            raise
        raise CommandError(
            "; ".join(f"{options.get(fault.field, fault.field)} {fault.remedy}" for fault in faults)
        ) from None
