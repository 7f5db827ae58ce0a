"""`tidings template list|customise|archive|restore`: which templates there are, and whose of them count."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

if TYPE_CHECKING:
    from tidings_client import Tidings
    from tidings_client.templates import TemplateLine

One = Annotated[str, typer.Argument(metavar="NAME", help="welcome/email")]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")]


def list_(
    *,
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away.")] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """List the templates that can be used: your own and the platform's, and where the platform has a newer one."""
    from tidings.cli.printing import print_json
    from tidings.cli.template_exchange import every_template

    with client(url, key, tenant, data_dir) as tidings:
        found = every_template(tidings, status="archived" if archived else None)
    found = [line for line in found if line.archived is archived or (archived and not line.active_version)]
    found.sort(key=lambda line: (line.key, line.channel, line.owner))
    if as_json:
        import msgspec

        print_json(msgspec.to_builtins(found))
        return
    for line in found:
        print(_told(line))
    if not found:
        print(
            "there is no template; `tidings template push` sends one, `tidings bootstrap` publishes the platform's"
        )


def _told(line: "TemplateLine") -> str:
    from tidings.cli.printing import shown

    state = f"{line.active_version} in force" if line.active_version else "nothing in force"
    notes = []
    if line.archived:
        notes.append("archived")
    elif line.latest_status == "draft":
        notes.append(f"draft {line.latest_version}")
    if line.customised_from is not None:
        notes.append(f"customised from the platform's {line.customised_from}")
    if line.platform_newer is not None:
        notes.append(
            f"platform_newer: {line.platform_newer} (`tidings template diff --platform {line.key}/{line.channel}`)"
        )
    told = "; ".join(notes)
    return shown(
        f"{line.key}/{line.channel}  {line.owner}  {line.category}  {state}{f'; {told}' if told else ''}"
    )


def customise(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="otp/email, or otp for all its channels")
    ],
    *,
    version: Annotated[
        str | None, typer.Option(help="The number of the draft. [default: 1.0.0, or the next minor number]")
    ] = None,
    note_only: Annotated[
        bool,
        typer.Option("--note-only", help="Copy nothing; note that you have looked at the platform's newest."),
    ] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Copy the platform's templates into drafts of your own; `publish` puts them in force, `archive` undoes it."""
    from tidings.cli.template_exchange import every_template
    from tidings.cli.template_folder import names_of
    from tidings_client import templates as calls

    with client(url, key, tenant, data_dir) as tidings:
        for name in names_of(names):
            channels = [name.channel] if name.channel else _channels(every_template(tidings, key=name.key))
            if not channels:
                raise CommandError(
                    f"the platform has no template {name.key}; `tidings template list` shows those it has"
                )
            for channel in channels:
                made = tidings.call(calls.customise(name.key, channel, semver=version, note_only=note_only))
                of = f"the platform's {made['customised_from']}"
                if made["draft"] is None:
                    print(f"noted  {name.key}/{channel}  {of}")
                else:
                    print(f"draft  {name.key}/{channel}  {made['draft']}  from {of}")
    if not note_only:
        print(
            "`tidings template pull` writes them into a folder, `tidings template publish` puts them in force"
        )


def _channels(lines: "Sequence[TemplateLine]") -> list[str]:
    return sorted(line.channel for line in lines if line.owner == "platform")


def archive(
    name: One,
    *,
    reason: Reason = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Put a whole template away; the platform's of the same key counts again. `restore` brings it back."""
    from tidings.cli.template_folder import names_of
    from tidings_client import templates as calls

    (wanted,) = names_of([name])
    with client(url, key, tenant, data_dir) as tidings:
        tidings.call(calls.archive(wanted.key, wanted.one_channel(), reason=reason))
    print(f"archived  {wanted}")


def restore(
    name: One,
    *,
    reason: Reason = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Take an archived template back, as it was."""
    from tidings.cli.template_folder import names_of
    from tidings_client import templates as calls

    (wanted,) = names_of([name])
    with client(url, key, tenant, data_dir) as tidings:
        seen = tidings.call(calls.restore(wanted.key, wanted.one_channel(), reason=reason))
    print(f"restored  {wanted}  {seen.get('active_version') or 'nothing'} in force")


def tell_platform_diff(tidings: "Tidings", names: Sequence[str]) -> bool:
    """Print what differs between the platform's templates in force and the tenant's newest; whether anything does."""
    from rich.text import Text

    from tidings.cli.printing import print_lines, shown
    from tidings.cli.template_exchange import every_template, newest
    from tidings.cli.template_folder import names_of
    from tidings_client import templates as calls

    wanted = names_of(names)
    lines = every_template(tidings)
    theirs = {(line.key, line.channel): line.active_version for line in lines if line.owner == "platform"}
    own = [
        line
        for line in lines
        if line.owner == "tenant"
        and (line.key, line.channel) in theirs
        and (not wanted or any(n.key == line.key and n.channel in (None, line.channel) for n in wanted))
    ]
    if not own:
        raise CommandError(
            "you have no template of your own that the platform has too; `tidings template customise` makes one"
        )
    differs = False
    for line in sorted(own, key=lambda line: (line.key, line.channel)):
        mine = newest(tidings, line.key, line.channel, ("draft", "active"), owner="tenant")
        seen = tidings.call(
            calls.diff(
                line.key,
                line.channel,
                from_=str(theirs[line.key, line.channel]),
                to=mine,
                from_owner="platform",
                to_owner="tenant",
            )
        )
        if seen["changes"]:
            differs = True
            told = f"{line.key}/{line.channel}: the platform's {seen['from_version']} → yours {mine}"
            patch = [Text(shown(text.replace("\t", "    "))) for text in str(seen["unified"]).splitlines()]
            print_lines([Text(shown(told), "bold"), *patch])
    return differs
