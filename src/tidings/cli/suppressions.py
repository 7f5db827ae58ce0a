"""`tidings suppressions`: take lists in, count them, take them out again."""

from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json

app = typer.Typer(
    help="Addresses that must not be written to: import lists, count, export.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(help="A CSV, or JSON lines (.jsonl).", exists=True, dir_okay=False)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")]
Report = Annotated[Path | None, typer.Option("--report", help="Where to keep all lines that can't be taken.")]
Resume = Annotated[
    str | None, typer.Option("--resume", help="Go on with an import that broke off, by its key.")
]

AllowRefused = Annotated[
    bool, typer.Option("--allow-refused", help="End with 0 also where lines were refused; otherwise it is 3.")
]


@app.command("import")
def import_(
    file: File,
    *,
    format_: Annotated[
        str, typer.Option("--format", help="auto, sendgrid, mailgun, postmark, ses or generic.")
    ] = "auto",
    mapping: Annotated[
        str | None, typer.Option("--mapping", help="Where a generic file has what: address:E-mail,reason:Why")
    ] = None,
    channel: Annotated[str, typer.Option("--channel", help="Of lines that name none.")] = "email",
    reason: Annotated[
        str | None, typer.Option("--reason", help="Of all lines, whatever the file says.")
    ] = None,
    emit_events: Annotated[
        bool, typer.Option("--events/--no-events", help="Whether each new one is announced as an event.")
    ] = True,
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
    """Suppress all addresses in a list, as SendGrid, Mailgun, Postmark or SES exports it, or any other CSV."""
    from tidings.cli.importing import end, import_file, show

    wanted = {
        "format": format_,
        "mapping": mapping,
        "channel": channel,
        "reason": reason,
        "emit_events": _flag(emit_events),
        "dry_run": _flag(dry_run),
    }
    with client(url, key, tenant, data_dir) as tidings:
        query = {name: value for name, value in wanted.items() if value is not None}
        done = import_file(tidings, "suppressions", file, query, resume=resume)
        show(done, tidings, as_json=as_json, report=report)
    end(done, allow_refused=allow_refused)


@app.command("stats")
def stats(
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """How many are in force, by channel and reason; to compare with what another service counted."""
    import msgspec

    from tidings_client.imports import suppression_stats

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(suppression_stats())
    if as_json:
        print(msgspec.json.encode(found).decode())
        return
    for channel, counts in found.by_channel.items():
        for reason, count in counts.by_reason.items():
            print(f"{channel:10} {reason:16} {count:>12,}")
    print(f"{'all':10} {'':16} {found.total:>12,}")


@app.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="Where to write the CSV.", dir_okay=False)],
    *,
    channel: Annotated[str | None, typer.Option("--channel", help="Only this one.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Only these.")] = None,
    released: Annotated[bool, typer.Option("--released", help="Those too that are released.")] = False,
    reveal: Annotated[
        bool, typer.Option("--reveal", help="With the addresses; the audit notes who saw them.")
    ] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Write all suppressions to a file; with --reveal it can be imported again."""
    from tidings_client.imports import export_suppressions

    wanted = {"channel": channel, "reason": reason, "released": _flag(released), "reveal": _flag(reveal)}
    query = {name: value for name, value in wanted.items() if value is not None}
    with client(url, key, tenant, data_dir) as tidings, file.open("wb") as kept:
        for piece in tidings.download(export_suppressions(query)):
            kept.write(piece)
    print(f"written to {file}")


def _flag(value: bool) -> str:
    return "true" if value else "false"
