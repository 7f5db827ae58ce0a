"""`tidings category`: what kinds of messages there are, and how they appear on pages."""

from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json, shown

app = typer.Typer(
    help="Categories: list them, make your own, name, order, hide and retire them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[str, typer.Argument(metavar="CATEGORY", help="reminder")]
Platform = Annotated[bool, typer.Option("--platform", help="The platform's own, with the platform's key.")]
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


@app.command("list")
def list_(
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """List the categories that can be used, in the order of pages."""
    from tidings_client import categories

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(categories.list_all(platform=platform))["items"]
    if as_json:
        print_json(found)
        return
    for one in found:
        print(_line(one))


@app.command("show")
def show(
    category: Which,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one category with its policy and its names."""
    from tidings_client import categories

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(categories.show(category, platform=platform))
    print_json(found) if as_json else _tell(found)


@app.command("create")
def create(
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
    platform: Platform = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Make a category of your own, or with --platform one for all tenants."""
    from tidings_client import categories

    facts = _given(
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
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        made = tidings.call(categories.create({"category": category, **facts}, platform=platform))
    _tell(made)


@app.command("change")
def change(
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
    platform: Platform = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Change a category of your own; of the platform's its names and its place on your pages."""
    changes = _given(
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
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        _tell(_change(tidings, category, changes, platform=platform))


@app.command("hide")
def hide(
    category: Which,
    *,
    undo: Annotated[bool, typer.Option("--undo", help="Show it again.")] = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Leave a category out of your preference page; links in its messages still unsubscribe from it."""
    with client(url, key, tenant, data_dir) as tidings:
        _tell(_change(tidings, category, {"hidden": not undo}))


def _change(
    tidings: Any, category: str, changes: dict[str, Any], *, platform: bool = False
) -> dict[str, Any]:
    from tidings_client import categories

    version = int(tidings.call(categories.show(category, platform=platform))["version"])
    changed: dict[str, Any] = tidings.call(
        categories.change(category, changes, version=version, platform=platform)
    )
    return changed


def _given(**facts: Any) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if value is not None}


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


def _line(one: dict[str, Any]) -> str:
    notes = [word for word in ("needs_consent", "can_unsubscribe", "hidden", "retired") if one.get(word)]
    names = ", ".join(f"{tag}={name}" for tag, name in sorted(one.get("names", {}).items()))
    told = "  ".join([*(note.replace("_", " ") for note in notes), *([names] if names else [])])
    return shown(f"{one['category']}  {one['owner']}  {one['use_case']}  {told}").rstrip()


def _tell(one: dict[str, Any]) -> None:
    print(_line(one))
    for name in (
        "retention_class",
        "priority",
        "expires_after_seconds",
        "breaks_quiet_hours",
        "may_digest",
        "tracking_allowed",
        "position",
    ):
        print(shown(f"  {name}  {one.get(name)}"))
    for warning in one.get("warnings") or ():
        print(shown(f"  warning: {warning}"))
