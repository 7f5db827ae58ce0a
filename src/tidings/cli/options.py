"""Options that several commands have in common, said once."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.failures import CommandError

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
Lines = Annotated[int, typer.Option("-n", "--lines", help="How many at most.", min=1, max=1000)]
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
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise CommandError(f"{option} must be a time with its offset, such as 2026-11-15T12:00:00Z")
    return found
