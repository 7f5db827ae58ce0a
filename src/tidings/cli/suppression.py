"""`tidings suppression`: addresses that must not be written to; one at a time, and in lists."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.import_file import IMPORT
from tidings.cli.operation_command import save
from tidings.cli.resource import ResourceCommands

if TYPE_CHECKING:
    from rich.text import Text

app = command_group()

Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="A mail address, or a number (+93…).")]
Channel = Annotated[
    str | None, typer.Option(help="email, sms, …; default: email for a mail address, sms for a number.")
]


@api_command(app, "find", empty="nothing holds this address back, and nothing did")
def find(api: Api, address: Address, *, channel: Channel = None) -> Output | list[JsonObject]:
    """Show what holds an address back, and what did."""
    found = _lookup(api, channel_of(address, channel), address)
    return Output(found, _lines(found)) if found else found


@api_command(app, "add")
def add(
    api: Api,
    address: Address,
    *,
    channel: Channel = None,
    reason: Annotated[
        str,
        typer.Option(
            help="manual, complaint, hard_bounce, …; another word is answered with those there are."
        ),
    ] = "manual",
    notes: Annotated[str | None, typer.Option(help="For people; nothing personal.")] = None,
) -> Output:
    """Suppress an address: nothing is sent to it on that channel any more."""
    body = without_none(channel=channel_of(address, channel), address=address, reason=reason, notes=notes)
    made = [api.call("add_suppression", body=body)]
    return Output(made, _lines(made))


@api_command(app, "release")
def release(
    api: Api,
    target: Annotated[
        str, typer.Argument(metavar="SUPPRESSION|ADDRESS", help="Its id, sup_…, or the address.")
    ],
    *,
    reason: Annotated[str, typer.Option(help="Why; it is audited.")],
    channel: Channel = None,
) -> Output:
    """Let an address be written to again."""
    wanted = [target] if target.startswith("sup_") else _in_force(api, target, channel)
    for one in wanted:
        api.call("release_suppression", one, query={"reason": reason})
    return Output(wanted, [f"{one} is released" for one in wanted])


@api_command(app, "stats")
def stats(api: Api) -> Output:
    """How many are in force, by channel and reason; to compare with what another service counted."""
    found = api.call("suppression_stats")
    lines = [
        f"{channel:10} {reason:16} {count:>12,}"
        for channel, counts in found["by_channel"].items()
        for reason, count in counts["by_reason"].items()
    ]
    return Output(found, [*lines, f"{'all':10} {'':16} {found['total']:>12,}"])


@api_command(app, "export")
def export(
    api: Api,
    file: Annotated[Path, typer.Argument(help="Where to write the CSV.", dir_okay=False)],
    *,
    channel: Annotated[str | None, typer.Option(help="Only this one.")] = None,
    reason: Annotated[str | None, typer.Option(help="Only these.")] = None,
    released: Annotated[bool, typer.Option("--released", help="Those too that are released.")] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="With the addresses; it is audited.")] = False,
) -> Output | None:
    """Write all suppressions to a file; with --reveal it can be imported again."""
    query = {"channel": channel, "reason": reason, "released": released, "reveal": reveal}
    return save(api.download("export_suppressions", query=query), file)


def channel_of(address: str, channel: str | None) -> str:
    """What kind of address it is, as it was said or as it shows."""
    if channel is not None:
        return channel
    if "@" in address:
        return "email"
    if address.lstrip().startswith("+"):
        return "sms"
    raise CommandError("say with --channel what kind of address this is: email, sms, telegram, …")


def _lookup(api: Api, channel: str, address: str) -> list[JsonObject]:
    found: list[JsonObject] = api.call("look_up_suppressions", body={"channel": channel, "address": address})[
        "items"
    ]
    return found


def _in_force(api: Api, address: str, channel: str | None) -> list[str]:
    named = channel_of(address, channel)
    found = [one for one in _lookup(api, named, address) if not one.get("released_at")]
    held = [one for one in found if not one.get("mail_domain")]
    wanted = [one["id"] for one in held if channel is None or one["channel"] == channel]
    if not wanted:
        domain = next((one["id"] for one in found if one.get("mail_domain")), None)
        whole = f"; its whole domain is held back by {domain}" if domain else ""
        raise CommandError(f"nothing holds this address back on {named}{whole}")
    return wanted


def _lines(found: list[JsonObject]) -> "list[Text]":
    from tidings.cli.search_format import next_lines, suppression_lines

    in_force = [one for one in found if not one.get("released_at")]
    commands = [f"tidings suppression release {in_force[0]['id']} --reason …"] if in_force else []
    return [*suppression_lines(found), *next_lines(commands)]


ResourceCommands(
    "suppressions",
    names={"create": "add", "lookup": "find", "delete": "release"},
    options={"emit_events": "--events/--no-events"},
    rows={
        "import": replace(
            IMPORT,
            about="Suppress all addresses in a list, as SendGrid, Mailgun, Postmark or SES exports it, or any other CSV "
            "or JSON lines.",
        )
    },
    columns=("id", "channel", "reason", "occurred_at", "expires_at"),
    empty="no address is held back; `tidings suppression add` holds one back",
).add_to(app)
