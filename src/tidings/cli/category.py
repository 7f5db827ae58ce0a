"""`tidings category`: what kinds of messages there are, and how they appear on pages."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, command_group
from tidings.cli.printing import shown
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

_POLICY = (
    "retention_class",
    "priority",
    "expires_after_seconds",
    "breaks_quiet_hours",
    "may_digest",
    "tracking_allowed",
    "position",
)


def _line(one: JsonObject) -> str:
    notes = [word for word in ("needs_consent", "can_unsubscribe", "hidden", "retired") if one.get(word)]
    names = ", ".join(f"{tag}={name}" for tag, name in sorted(one.get("names", {}).items()))
    told = "  ".join([*(note.replace("_", " ") for note in notes), *([names] if names else [])])
    return shown(f"{one['category']}  {one['owner']}  {one['use_case']}  {told}").rstrip()


def _lines(one: JsonObject) -> Iterator[str]:
    yield _line(one)
    yield from (shown(f"  {name}  {one.get(name)}") for name in _POLICY)
    yield from (shown(f"  warning: {warning}") for warning in one.get("warnings") or ())


@api_command(app, "hide", text=_lines)
def hide(
    api: Api,
    category: Annotated[str, typer.Argument(help="Such as reminder.")],
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
) -> JsonObject:
    """Leave a category out of your preference page; links in its messages still unsubscribe from it."""
    version = api.call("show_category", category)["version"]
    return api.call("change_category", category, body={"hidden": not undo}, if_match=version)


ResourceCommands(
    "categories",
    line=_line,
    lines=_lines,
    empty="there is none; `tidings category create` makes one",
    which="Such as reminder.",
    help={
        "names": "What people read, by language: en='Stays and bookings'; may be repeated.",
        "retention_class": "How long its messages are kept.",
        "priority": "What goes out first.",
        "position": "Where it stands on pages; the lowest first.",
        "needs_consent": "Denied until the recipient has consented; it must be so for marketing.",
        "can_unsubscribe": "Whether people can say no to it at all; they must for marketing.",
        "breaks_quiet_hours": "Whether it is sent during quiet hours too.",
        "may_digest": "Whether it may be gathered into a digest.",
        "tracking_allowed": "Whether opens and clicks may be watched.",
        "retired": "Whether nothing new may use it; what uses it already goes on.",
    },
    rows={
        "create": Row(
            about="Make a category of your own, or with --platform one for all tenants.",
            arguments=["category"],
            help={"category": "Such as reminder.", "use_case": "What it is for."},
        ),
        "change": Row(
            about="Change a category of your own; of the platform's its names and its place on your pages.",
            help={
                "names": "All of them, by language: en='Stays and bookings'; '{}' takes your own names away.",
                "use_case": "What it is for.",
            },
            example="--name en='Stays' or --position 10",
        ),
    },
    options={
        "names": "--name",
        "retention_class": "--retention",
        "expires_after_seconds": "--expires-after",
        "needs_consent": "--needs-consent/--no-consent",
        "can_unsubscribe": "--can-unsubscribe/--no-unsubscribe",
        "breaks_quiet_hours": "--breaks-quiet-hours/--keeps-quiet-hours",
        "may_digest": "--may-digest/--no-digest",
        "tracking_allowed": "--tracking/--no-tracking",
        "hidden": "",
        "retired": "--retired/--in-use",
    },
).add_to(app)
