"""`tidings template list|customise|archive|restore`: which templates there are, and which of them count."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.template_folder import names_of
from tidings.cli.template_transfer import every_template, newest

if TYPE_CHECKING:
    from rich.text import Text

One = Annotated[str, typer.Argument(metavar="NAME", help="welcome/email")]
Reason = Annotated[str | None, typer.Option(help="Why; it is kept in the audit.")]


def _line(one: JsonObject) -> str:
    state = f"{one['active_version']} in force" if one["active_version"] else "nothing in force"
    name, notes = f"{one['key']}/{one['channel']}", []
    if one.get("archived"):
        notes.append("archived")
    elif one["latest_status"] == "draft":
        notes.append(f"draft {one['latest_version']}")
    if one.get("customised_from") is not None:
        notes.append(f"customised from the platform's {one['customised_from']}")
    if (newer := one.get("platform_newer")) is not None:
        notes.append(f"platform_newer: {newer} (`tidings template diff --platform {name}`)")
    told = "; ".join(notes)
    return shown(f"{name}  {one['owner']}  {one['category']}  {state}{f'; {told}' if told else ''}")


@api_command(
    None,
    "list",
    text=_line,
    empty="there is no template; `tidings template push` sends one, `tidings bootstrap` publishes the platform's",
)
def list_(
    api: Api,
    *,
    archived: Annotated[bool, typer.Option("--archived", help="Those that were put away.")] = False,
) -> list[JsonObject]:
    """List the templates that can be used: your own and the platform's, and where the platform has a newer one."""
    found = every_template(api, status="archived" if archived else None)
    kept = [
        one
        for one in found
        if one.get("archived", False) is archived or (archived and not one["active_version"])
    ]
    return sorted(kept, key=lambda one: (one["key"], one["channel"], one["owner"]))


@api_command(None, "customise")
def customise(
    api: Api,
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
) -> None:
    """Copy the platform's templates into drafts of your own; `publish` puts them in force, `archive` undoes it."""
    body = without_none(semver=version, note_only=note_only or None)
    for name in names_of(names):
        channels = [name.channel] if name.channel else _channels(every_template(api, key=name.key))
        if not channels:
            raise CommandError(
                f"the platform has no template {name.key}; `tidings template list` shows those it has"
            )
        for channel in channels:
            made = api.call("customise_template", name.key, channel, body=body)
            of = f"the platform's {made['customised_from']}"
            if made["draft"] is None:
                print(f"noted  {name.key}/{channel}  {of}")
            else:
                print(f"draft  {name.key}/{channel}  {made['draft']}  from {of}")
    if not note_only:
        print(
            "`tidings template pull` writes them into a folder, `tidings template publish` puts them in force"
        )


def _channels(lines: Sequence[JsonObject]) -> list[str]:
    return sorted(line["channel"] for line in lines if line["owner"] == "platform")


@api_command(None, "archive")
def archive(api: Api, name: One, *, reason: Reason = None) -> Output:
    """Put a whole template away; the platform's of the same key counts again. `restore` brings it back."""
    (wanted,) = names_of([name])
    done = api.call("archive_template", wanted.key, wanted.one_channel(), body=without_none(reason=reason))
    return Output(done, f"archived  {wanted}")


@api_command(None, "restore")
def restore(api: Api, name: One, *, reason: Reason = None) -> Output:
    """Take an archived template back, as it was."""
    (wanted,) = names_of([name])
    seen = api.call("restore_template", wanted.key, wanted.one_channel(), body=without_none(reason=reason))
    return Output(seen, f"restored  {wanted}  {seen.get('active_version') or 'nothing'} in force")


def platform_differences(api: Api, names: Sequence[str]) -> "Iterator[Text]":
    """What differs between the platform's templates in force and the tenant's newest."""
    from rich.text import Text

    wanted = names_of(names)
    lines = every_template(api)
    theirs = {
        (one["key"], one["channel"]): one["active_version"] for one in lines if one["owner"] == "platform"
    }
    own = sorted(
        (one["key"], one["channel"])
        for one in lines
        if one["owner"] == "tenant"
        and (one["key"], one["channel"]) in theirs
        and (not wanted or any(n.key == one["key"] and n.channel in (None, one["channel"]) for n in wanted))
    )
    if not own:
        raise CommandError(
            "you have no template of your own that the platform has too; `tidings template customise` makes one"
        )
    for key, channel in own:
        mine = newest(api, key, channel, ("draft", "active"), owner="tenant")
        query = {"from": theirs[key, channel], "to": mine, "from_owner": "platform", "to_owner": "tenant"}
        seen = api.call("show_diff", key, channel, query=query)
        if seen["changes"]:
            told = f"{key}/{channel}: the platform's {seen['from_version']} → yours {mine}"
            yield Text(shown(told), "bold")
            yield from (Text(shown(text.replace("\t", "    "))) for text in str(seen["unified"]).splitlines())
