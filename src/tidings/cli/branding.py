"""`tidings branding`: how a tenant looks in mails and on pages."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, api_command, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="Branding: name, logo, colour and footer of mails and pages.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
_EMPTY = "An empty text takes it away."


def _lines(found: JsonObject) -> Iterator[str]:
    said = found.get("branding") or {}
    for field, value in said.items():
        yield shown(f"{field}  {value}")
    if not said:
        yield "nothing is set; mails and pages have the platform's look and the tenant's name"
    if found.get("theme_etag"):
        yield shown(f"theme_etag  {found['theme_etag']}")


@api_command(app, "show", text=_lines)
def show(api: Api) -> JsonObject:
    """Show how you look."""
    return api.call("show_branding")


@api_command(app, "set", text=_lines)
def set_(
    api: Api,
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
) -> JsonObject:
    """Change how you look; what is not named stays."""
    changes = without_none(
        name=name, logo_url=logo, primary_colour=colour, footer=footer, support_url=support
    )
    if not changes:
        raise CommandError(
            "say what is different, such as --colour '#1a2b3c' or --footer 'Saffron House, Kabul'"
        )
    there = api.call("show_branding")
    kept = {field: value for field, value in {**there["branding"], **changes}.items() if value}
    return api.call("put_branding", body=kept, if_match=there["version"])


add_resource(app, "branding", names={"put": "set"})
