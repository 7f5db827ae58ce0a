"""`tidings branding`: how a tenant looks in mails and on pages."""

from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json, shown

app = typer.Typer(
    help="Branding: name, logo, colour and footer of mails and pages.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_EMPTY = "An empty text takes it away."


@app.command("show")
def show(
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show how you look."""
    from tidings_client import branding

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(branding.show())
    print_json(found) if as_json else _tell(found)


@app.command("set")
def set_(
    *,
    name: Annotated[str | None, typer.Option("--name", help=f"As people know you. {_EMPTY}")] = None,
    logo: Annotated[
        str | None, typer.Option("--logo", help=f"An https address of a picture. {_EMPTY}")
    ] = None,
    colour: Annotated[str | None, typer.Option("--colour", help=f"Such as #1a2b3c. {_EMPTY}")] = None,
    footer: Annotated[str | None, typer.Option("--footer", help=f"A line at the end. {_EMPTY}")] = None,
    support: Annotated[
        str | None, typer.Option("--support", help=f"An https address where people get help. {_EMPTY}")
    ] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Change how you look; what is not named stays."""
    from tidings_client import branding

    given = {
        "name": name,
        "logo_url": logo,
        "primary_colour": colour,
        "footer": footer,
        "support_url": support,
    }
    changes = {field: value for field, value in given.items() if value is not None}
    if not changes:
        raise CommandError(
            "say what is different, such as --colour '#1a2b3c' or --footer 'Saffron House, Kabul'"
        )
    with client(url, key, tenant, data_dir) as tidings:
        there = tidings.call(branding.show())
        wanted = {**there["branding"], **changes}
        kept = {field: value for field, value in wanted.items() if value}
        _tell(tidings.call(branding.put(kept, version=int(there["version"]))))


def _tell(found: dict[str, Any]) -> None:
    said = found.get("branding") or {}
    for field, value in said.items():
        print(shown(f"{field}  {value}"))
    if not said:
        print("nothing is set; mails and pages have the platform's look and the tenant's name")
    if found.get("theme_etag"):
        print(shown(f"theme_etag  {found['theme_etag']}"))
