"""`tidings branding`: how a tenant looks in mails and on pages."""

from collections.abc import Iterator

from tidings.cli.command import JsonObject
from tidings.cli.printing import shown
from tidings.cli.resource import ResourceCommands, Row


def _lines(found: JsonObject) -> Iterator[str]:
    said = found.get("branding") or {}
    for field, value in said.items():
        yield shown(f"{field}  {value}")
    if not said:
        yield "nothing is set; mails and pages have the platform's look and the tenant's name"
    if found.get("theme_etag"):
        yield shown(f"theme_etag  {found['theme_etag']}")


def _merged(there: JsonObject, changes: JsonObject) -> JsonObject:
    return {field: value for field, value in {**there["branding"], **changes}.items() if value}


app = ResourceCommands(
    "branding",
    names={"put": "set"},
    lines=_lines,
    options={"logo_url": "--logo", "primary_colour": "--colour", "support_url": "--support"},
    rows={
        "put": Row(
            about="Change how you look; what is not named stays, and an empty text takes away.",
            help={
                "name": "As people know you.",
                "primary_colour": "Such as #1a2b3c.",
                "support_url": "An https address where people get help.",
            },
            example="--colour '#1a2b3c' or --footer 'Saffron House, Kabul'",
            merge=_merged,
        )
    },
).app()
