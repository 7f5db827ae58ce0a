"""`tidings template`: templates kept in a folder, such as a repository of the tenant's own, and the server's."""

from pathlib import Path
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import Output, command_group, print_answer, without_none
from tidings.cli.failures import CommandError
from tidings.cli.resource import ResourceCommands
from tidings.cli.template_catalogue import archive, customise, list_, restore
from tidings.cli.template_preview import preview

app = command_group()
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


@api_command(app, "pull")
def pull(
    api: Api,
    names: Names = None,
    *,
    folder: Folder = _HERE,
    active: Annotated[bool, typer.Option("--active", help="What is in force, and no newer draft.")] = False,
    platform: Annotated[
        bool, typer.Option("--platform", help="The platform's templates, to begin from.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over what is different here.")] = False,
) -> Output:
    """Write the server's templates into a folder."""
    from tidings.cli.template_folder import homes, left_over, names_of, read_folder, write_folder
    from tidings.cli.template_transfer import fetch

    wanted = names_of(names or [])
    found = fetch(api, wanted, active=active, platform=platform)
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
    done = {"files": len(found), "templates": len(homes(found)), "written": written, "taken_away": len(gone)}
    return Output(done, f"{len(found)} files of {len(homes(found))} templates; {written} written{taken_away}")


@api_command(app, "push")
def push(
    api: Api,
    names: Names = None,
    *,
    folder: Folder = _HERE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would happen; change nothing.")
    ] = False,
) -> Output:
    """Send a folder's templates as drafts, all or none; `tidings template publish` puts them in force."""
    from tidings.cli.template_folder import packed_folder
    from tidings.cli.template_format import report_lines
    from tidings.cli.template_transfer import give

    report = give(api, packed_folder(folder, names or []), dry_run=dry_run)
    lines = list(report_lines(report))
    if not report["written"] and not dry_run:
        print_answer(Output(report, lines), as_json=api.as_json)
        raise CommandError("nothing was sent; mend the files above first")
    if report["publishable"]:
        return Output(report, lines)
    if dry_run:
        api.exit_code = 1
        return Output(report, lines)
    note = "they are drafts now; mend the files above and push again before you publish them"
    return Output(report, [*lines, note])


@api_command(app, "validate")
def validate(api: Api, names: Names = None, *, folder: Folder = _HERE) -> Output:
    """Check a folder's templates as publishing would; nothing is written. The exit code is 0 if nothing is wrong."""
    from tidings.cli.template_folder import packed_folder
    from tidings.cli.template_format import report_lines
    from tidings.cli.template_transfer import give

    report = give(api, packed_folder(folder, names or []), dry_run=True)
    errors = sum(found["severity"] == "error" for found in report.get("findings", ()))
    api.exit_code = int(bool(errors) or not report["publishable"])
    if errors:
        verdict = f"{errors} to mend"
    elif not report["publishable"]:
        verdict = "not all of them were checked: name fewer at a time"
    else:
        verdict = "nothing stands in the way of publishing"
    return Output(report, [*report_lines(report), verdict])


@api_command(app, "diff")
def diff(
    api: Api,
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
) -> Output:
    """Show what a push would change on the server. The exit code is 1 if anything differs, as diff has it."""
    from tidings.cli.template_catalogue import platform_differences
    from tidings.cli.template_folder import chosen, names_of, read_folder, refuse_unknown
    from tidings.cli.template_format import differences
    from tidings.cli.template_transfer import fetch

    if platform:
        lines = list(platform_differences(api, names or []))
    else:
        wanted = names_of(names or [])
        here = chosen(read_folder(folder), wanted)
        # One by one would end at the first that is only here.
        there = chosen(fetch(api, [], active=active, platform=False), wanted)
        refuse_unknown(wanted, folder, here, there)
        lines = list(differences(there, here))
    api.exit_code = int(bool(lines))
    return Output([line.plain for line in lines], lines)


@api_command(app, "publish")
def publish(
    api: Api,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME...", help="welcome for the drafts of all its channels, or welcome/email"
        ),
    ],
    *,
    version: Annotated[str | None, typer.Option(help="Which one. [default: the newest draft]")] = None,
    reason: Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")] = None,
) -> None:
    """Put versions in force that are drafts on the server; the validator looks at them first."""
    from tidings.cli.printing import print_lines
    from tidings.cli.template_folder import Name, names_of
    from tidings.cli.template_format import finding_lines
    from tidings.cli.template_transfer import drafts_of, findings_of, newest
    from tidings_client import ProblemError

    wanted: list[tuple[Name, str]] = []
    for name in names_of(names):
        if name.channel is not None:
            wanted.append((name, version or newest(api, name.key, name.channel, ("draft",))))
        elif version is not None:
            raise CommandError(
                f"--version is a number of one channel; say which: {name.key}/email, {name.key}/sms, …"
            )
        else:
            wanted += [(Name(name.key, channel), semver) for channel, semver in drafts_of(api, name)]
    for name, semver in wanted:
        try:
            api.call(
                "publish_version", name.key, name.one_channel(), semver, body=without_none(reason=reason)
            )
        except ProblemError as problem:
            if problem.code != "template_unpublishable":
                raise
            print_lines(finding_lines(findings_of(problem)))
            raise CommandError(
                f"{name} {semver} was not published; mend the {len(problem.errors)} errors above, "
                "push and publish again"
            ) from None
        print(f"published  {name}  {semver}")


ResourceCommands(
    "templates",
    # `pull`, `push`, `preview`, `validate` and `publish` do these with files.
    names={
        "import": "push",
        "export": "pull",
        "preview-version": "preview",
        "publish-version": "publish",
        "validate-version": "validate",
    },
    columns=("semver", "status", "locales", "updated_at"),
).add_to(app)
