"""`tidings category`: what kinds of messages there are, and how they appear on pages."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, api_command, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="Categories: list them, make your own, name, order, hide and retire them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[str, typer.Argument(metavar="CATEGORY", help="reminder")]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name", metavar="LANGUAGE=NAME", help="What people read: en='Stays and bookings'. Several."
    ),
]
UseCase = Annotated[
    str | None, typer.Option("--use-case", help="otp, txn, marketing, alert or conversational.")
]
Kept = Annotated[str | None, typer.Option("--retention", help="regulated, standard or marketing.")]
Priority = Annotated[str | None, typer.Option("--priority", help="critical, high, normal or low.")]
Expiry = Annotated[
    int | None,
    typer.Option("--expires-after", metavar="SECONDS", help="After which it is not sent any more."),
]
Position = Annotated[
    int | None, typer.Option("--position", help="Where it stands on pages; the lowest first.")
]
Consent = Annotated[
    bool | None, typer.Option("--needs-consent/--no-consent", help="Denied until it is given.")
]
Unsubscribe = Annotated[
    bool | None, typer.Option("--can-unsubscribe/--no-unsubscribe", help="Whether people can say no.")
]
Quiet = Annotated[bool | None, typer.Option("--breaks-quiet-hours/--keeps-quiet-hours")]
Digest = Annotated[bool | None, typer.Option("--may-digest/--no-digest")]
Tracking = Annotated[bool | None, typer.Option("--tracking/--no-tracking", help="Opens and clicks.")]


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


@api_command(
    app, "list", platform=True, text=_line, empty="there is none; `tidings category create` makes one"
)
def list_(api: Api) -> list[JsonObject]:
    """List the categories that can be used, in the order of pages."""
    return api.list_all("list_categories")


@api_command(app, "show", platform=True, text=_lines)
def show(api: Api, category: Which) -> JsonObject:
    """Show one category with its policy and its names."""
    return api.call("show_category", category)


@api_command(app, "create", platform=True, text=_lines)
def create(
    api: Api,
    category: Which,
    *,
    use_case: Annotated[
        str, typer.Option("--use-case", help="otp, txn, marketing, alert or conversational.")
    ],
    names: Names = None,
    retention: Kept = None,
    priority: Priority = None,
    expires_after: Expiry = None,
    position: Position = None,
    needs_consent: Consent = None,
    can_unsubscribe: Unsubscribe = None,
    breaks_quiet_hours: Quiet = None,
    may_digest: Digest = None,
    tracking: Tracking = None,
) -> JsonObject:
    """Make a category of your own, or with --platform one for all tenants."""
    facts = without_none(
        category=category,
        use_case=use_case,
        names=_names(names),
        retention_class=retention,
        priority=priority,
        expires_after_seconds=expires_after,
        position=position,
        needs_consent=needs_consent,
        can_unsubscribe=can_unsubscribe,
        breaks_quiet_hours=breaks_quiet_hours,
        may_digest=may_digest,
        tracking_allowed=tracking,
    )
    return api.call("create_category", body=facts)


@api_command(app, "change", platform=True, text=_lines)
def change(
    api: Api,
    category: Which,
    *,
    use_case: UseCase = None,
    names: Names = None,
    retention: Kept = None,
    priority: Priority = None,
    expires_after: Expiry = None,
    position: Position = None,
    needs_consent: Consent = None,
    can_unsubscribe: Unsubscribe = None,
    breaks_quiet_hours: Quiet = None,
    may_digest: Digest = None,
    tracking: Tracking = None,
    retired: Annotated[
        bool | None, typer.Option("--retired/--in-use", help="Whether new templates may use it.")
    ] = None,
) -> JsonObject:
    """Change a category of your own; of the platform's its names and its place on your pages."""
    changes = without_none(
        use_case=use_case,
        names=_names(names),
        retention_class=retention,
        priority=priority,
        expires_after_seconds=expires_after,
        position=position,
        needs_consent=needs_consent,
        can_unsubscribe=can_unsubscribe,
        breaks_quiet_hours=breaks_quiet_hours,
        may_digest=may_digest,
        tracking_allowed=tracking,
        retired=retired,
    )
    if not changes:
        raise CommandError("say what is different, such as --name en='Stays' or --position 10")
    return _change(api, category, changes)


@api_command(app, "hide", text=_lines)
def hide(
    api: Api,
    category: Which,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
) -> JsonObject:
    """Leave a category out of your preference page; links in its messages still unsubscribe from it."""
    return _change(api, category, {"hidden": not undo})


def _change(api: Api, category: str, changes: JsonObject) -> JsonObject:
    version = api.call("show_category", category)["version"]
    return api.call("change_category", category, body=changes, if_match=version)


def _names(words: list[str] | None) -> dict[str, str] | None:
    if not words:
        return None
    found = {}
    for word in words:
        language, equals, name = word.partition("=")
        if not equals or not language or not name:
            raise CommandError(f"{word!r} must be a language and a name: en='Stays and bookings'")
        found[language.strip()] = name.strip()
    return found


add_resource(app, "categories")
