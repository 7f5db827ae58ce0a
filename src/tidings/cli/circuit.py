"""`tidings circuit`: which vendor accounts let messages through; hold one open or closed by hand."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidings.cli.account_format import circuit_line
from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, command_group
from tidings.cli.failures import CommandError
from tidings.cli.options import duration_of
from tidings.cli.resource import ResourceCommands

app = command_group()

Account = Annotated[str, typer.Argument(help="adcfg_…, or the vendor's name.")]
Reason = Annotated[str, typer.Option(help="Why; it is audited.")]
For = Annotated[
    str | None,
    typer.Option("--for", help="For how long: 30s, 15m, 2h, 1d. [default: until `circuit auto`]"),
]


@api_command(app, "open", platform=True, text=circuit_line)
def open_(api: Api, account: Account, *, reason: Reason, how_long: For = None) -> JsonObject:
    """Let nothing through an account, whatever is counted."""
    return _hold(api, account, "OPEN", reason, how_long)


@api_command(app, "close", platform=True, text=circuit_line)
def close(api: Api, account: Account, *, reason: Reason, how_long: For = None) -> JsonObject:
    """Let all through an account, whatever is counted."""
    return _hold(api, account, "CLOSED", reason, how_long)


@api_command(app, "auto", platform=True, text=circuit_line)
def auto(api: Api, account: Account, *, reason: Reason) -> JsonObject:
    """Let a circuit follow the counts again."""
    return api.call("let_circuit_go", find_account(api, account)["id"], query={"reason": reason})


def find_account(api: Api, account: str) -> JsonObject:
    """The account by its id or its vendor; a tenant's own before the platform's."""
    items = api.list_all("list_adapters")
    for item in items:
        if account in (item["id"], item["vendor"]):
            return item
    known = ", ".join(sorted({item["vendor"] for item in items})) or "none"
    raise CommandError(f"there is no vendor account {account!r}; there is {known}")


def _hold(api: Api, account: str, state: str, reason: str, how_long: str | None) -> JsonObject:
    length = duration_of(how_long or "")
    if how_long and not length:
        raise CommandError("--for must be a length such as 30s, 15m, 2h or 1d")
    until = (datetime.now(UTC) + length).isoformat() if length else None
    body = {"state": state, "reason": reason, "until": until}
    return api.call("hold_circuit", find_account(api, account)["id"], body=body)


ResourceCommands(
    "circuits",
    names={"override": "open", "delete-override": "auto"},
    line=circuit_line,
    empty="there is no vendor account",
).add_to(app)
