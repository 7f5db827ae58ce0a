"""`tidings template`: templates kept in a folder, such as a repository of the tenant's own, and the server's."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.template_preview import preview
from tidings.cli.template_shelf import archive, customise, list_, restore

if TYPE_CHECKING:
    from tidings_client.templates import ImportReport

app = typer.Typer(
    help="Templates as files: fetch them, send them, compare, preview, check and publish them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("preview")(preview)
app.command("list")(list_)
app.command("customise")(customise)
app.command("archive")(archive)
app.command("restore")(restore)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME]...", help="welcome, or welcome/email. [default: all of them]"),
]
Folder = Annotated[
    Path, typer.Option("--folder", "-f", help="Where templates/ lies. [default: the present folder]")
]
_HERE = Path()


@app.command("pull")
def pull(
    names: Names = None,
    *,
    folder: Folder = _HERE,
    active: Annotated[bool, typer.Option("--active", help="What is in force, and no newer draft.")] = False,
    platform: Annotated[
        bool, typer.Option("--platform", help="The platform's templates, to begin from.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is different here.")] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Write the server's templates into a folder."""
    from tidings.cli.template_exchange import fetch
    from tidings.cli.template_folder import homes, left_over, names_of, read_folder, write_folder

    wanted = names_of(names or [])
    with client(url, key, tenant, data_dir) as tidings:
        found = fetch(tidings, wanted, active=active, platform=platform)
    here = read_folder(folder) if folder.is_dir() else {}
    different = sorted(path for path in found if path in here and here[path] != found[path])
    if different and not force:
        raise CommandError(
            f"{len(different)} files here say something else than the server ({', '.join(different[:3])}"
            f"{', …' if len(different) > 3 else ''}); `tidings template diff` shows it, --force writes over them"
        )
    written = write_folder(folder, found)
    gone = left_over(here, found) if force else []
    for path in gone:
        (folder / path).unlink()
    taken_away = f", {len(gone)} taken away" if gone else ""
    print(f"{len(found)} files of {len(homes(found))} templates; {written} written{taken_away}")


@app.command("push")
def push(
    names: Names = None,
    *,
    folder: Folder = _HERE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
    ] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Send a folder's templates as drafts, all or none; `tidings template publish` puts them in force."""
    from tidings.cli.template_exchange import give
    from tidings.cli.template_folder import packed_folder

    packed = packed_folder(folder, names or [])
    with client(url, key, tenant, data_dir) as tidings:
        report = give(tidings, packed, dry_run=dry_run)
    _show(report, as_json=as_json)
    if not report.written and not dry_run:
        raise CommandError("nothing was sent; mend the files above first")
    if not report.publishable:
        if dry_run:
            raise SystemExit(1)
        if not as_json:
            print("they are drafts now; mend the files above and push again before you publish them")


@app.command("validate")
def validate(
    names: Names = None,
    *,
    folder: Folder = _HERE,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Check a folder's templates as publishing would; nothing is written. The exit code is 0 if nothing is wrong."""
    from tidings.cli.template_exchange import give
    from tidings.cli.template_folder import packed_folder

    packed = packed_folder(folder, names or [])
    with client(url, key, tenant, data_dir) as tidings:
        report = give(tidings, packed, dry_run=True)
    _show(report, as_json=as_json)
    errors = sum(found.severity == "error" for found in report.findings)
    if not as_json:
        if errors:
            print(f"{errors} to mend")
        elif not report.publishable:
            print("not all of them were checked: name fewer at a time")
        else:
            print("nothing stands in the way of publishing")
    if errors or not report.publishable:
        raise SystemExit(1)


@app.command("diff")
def diff(
    names: Names = None,
    *,
    folder: Folder = _HERE,
    active: Annotated[bool, typer.Option("--active", help="Compare with what is in force.")] = False,
    platform: Annotated[
        bool,
        typer.Option(
            "--platform", help="Compare your template on the server with the platform's in force, no folder."
        ),
    ] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what a push would change on the server. The exit code is 1 if anything differs, as diff has it."""
    if platform:
        from tidings.cli.template_shelf import tell_platform_diff

        with client(url, key, tenant, data_dir) as tidings:
            differs = tell_platform_diff(tidings, names or [])
        if differs:
            raise SystemExit(1)
        return
    from tidings.cli.printing import print_lines
    from tidings.cli.template_exchange import fetch
    from tidings.cli.template_folder import chosen, names_of, read_folder, refuse_unknown
    from tidings.cli.template_report import differences

    wanted = names_of(names or [])
    here = chosen(read_folder(folder), wanted)
    with client(url, key, tenant, data_dir) as tidings:
        # One by one would end at the first that is only here.
        there = chosen(fetch(tidings, [], active=active, platform=False), wanted)
    refuse_unknown(wanted, folder, here, there)
    lines = list(differences(there, here))
    print_lines(lines)
    if lines:
        raise SystemExit(1)


@app.command("publish")
def publish(
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="welcome for the drafts of all its channels, or welcome/email"
        ),
    ],
    *,
    version: Annotated[str | None, typer.Option(help="Which one. [default: the newest draft]")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Put versions in force that are drafts on the server; the validator looks at them first."""
    from tidings.cli.printing import print_lines
    from tidings.cli.template_exchange import drafts_of, newest
    from tidings.cli.template_folder import Name, names_of
    from tidings.cli.template_report import tell_findings
    from tidings_client import ProblemError
    from tidings_client import templates as calls

    with client(url, key, tenant, data_dir) as tidings:
        wanted: list[tuple[Name, str]] = []
        for name in names_of(names):
            if name.channel is not None:
                wanted.append((name, version or newest(tidings, name.key, name.channel, ("draft",))))
            elif version is not None:
                raise CommandError(
                    f"--version is a number of one channel; say which: {name.key}/email, {name.key}/sms, …"
                )
            else:
                wanted += [(Name(name.key, channel), semver) for channel, semver in drafts_of(tidings, name)]
        for name, semver in wanted:
            try:
                tidings.call(calls.publish(name.key, name.one_channel(), semver, reason=reason))
            except ProblemError as problem:
                if problem.code != "template_unpublishable":
                    raise
                print_lines(tell_findings(calls.findings_of(problem)))
                raise CommandError(
                    f"{name} {semver} was not published; mend the {len(problem.errors)} errors above, "
                    "push and publish again"
                ) from None
            print(f"published  {name}  {semver}")


def _show(report: "ImportReport", *, as_json: bool) -> None:
    if as_json:
        import msgspec

        print(json.dumps(msgspec.to_builtins(report), indent=2, ensure_ascii=False))
        return
    from tidings.cli.printing import print_lines
    from tidings.cli.template_report import tell_report

    print_lines(tell_report(report))
