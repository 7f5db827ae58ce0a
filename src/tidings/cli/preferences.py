"""`tidings preferences`: what recipients chose, many at a time."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, Output, api_command
from tidings.cli.importing import AllowRefused, DryRun, File, Report, Resume, import_file
from tidings.cli.resource import add_resource

app = typer.Typer(help="What recipients chose, many at a time.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def preferences() -> None:
    """What recipients chose, many at a time."""


@api_command(app, "import")
def import_(
    api: Api,
    file: File,
    *,
    emit_events: Annotated[
        bool, typer.Option("--events/--no-events", help="Whether each change is announced as an event.")
    ] = True,
    dry_run: DryRun = False,
    report: Report = None,
    resume: Resume = None,
    allow_refused: AllowRefused = False,
) -> Output:
    """Take in what recipients chose, merged into what they chose before."""
    query = {"dry_run": dry_run, "emit_events": emit_events}
    return import_file(
        api, "import_preferences", file, query, resume=resume, report=report, allow_refused=allow_refused
    )


add_resource(app, "preferences")
