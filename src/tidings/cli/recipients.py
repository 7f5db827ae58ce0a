"""`tidings recipients`: people, many at a time."""

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json
from tidings.cli.suppressions import AllowRefused, DryRun, File, Report, Resume

app = typer.Typer(help="People, many at a time.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def recipients() -> None:
    """People, many at a time."""


@app.command("import")
def import_(
    file: File,
    *,
    dry_run: DryRun = False,
    report: Report = None,
    resume: Resume = None,
    allow_refused: AllowRefused = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Make all recipients in a file known, or bring them up to date."""
    from tidings.cli.importing import end, import_file, show

    query = {"dry_run": "true" if dry_run else "false"}
    with client(url, key, tenant, data_dir) as tidings:
        done = import_file(tidings, "recipients", file, query, resume=resume)
        show(done, tidings, as_json=as_json, report=report)
    end(done, allow_refused=allow_refused)
