"""`tidings circuit`: which vendor accounts let messages through; hold one open or closed by hand."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="Circuits: which vendor accounts let messages through; hold one open or closed by hand.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Account = Annotated[str, typer.Argument(metavar="ACCOUNT", help="adcfg_…, or the vendor's name.")]
Platform = Annotated[
    bool, typer.Option("--platform", help="Accounts of the platform, with a key of the platform.")
]
Reason = Annotated[str, typer.Option("--reason", help="Why; it is audited.")]
For = Annotated[
    str | None,
    typer.Option("--for", help="For how long: 30s, 15m, 2h, 1d. [default: until `circuit auto`]"),
]


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
    """Show the circuits of all vendor accounts, one line each."""
    from tidings.cli.traffic_words import circuit_line
    from tidings_client import traffic

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(traffic.circuits(platform=platform))["items"]
    if as_json:
        print_json(found)
        return
    for circuit in found:
        print(circuit_line(circuit))
    if not found:
        print("there is no vendor account")


@app.command("open")
def open_(
    account: Account,
    *,
    reason: Reason,
    how_long: For = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let nothing through an account, whatever is counted."""
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        done = _hold(tidings, account, "OPEN", reason=reason, how_long=how_long, platform=platform)
    _show(done, as_json=as_json)


@app.command("close")
def close(
    account: Account,
    *,
    reason: Reason,
    how_long: For = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let all through an account, whatever is counted."""
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        done = _hold(tidings, account, "CLOSED", reason=reason, how_long=how_long, platform=platform)
    _show(done, as_json=as_json)


@app.command("auto")
def auto(
    account: Account,
    *,
    reason: Reason,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let a circuit follow the counts again."""
    from tidings_client import traffic

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = find(tidings, account, platform=platform)
        done = tidings.call(traffic.let_go(found["id"], reason=reason, platform=platform))
    _show(done, as_json=as_json)


def find(tidings: "Tidings", account: str, *, platform: bool) -> dict[str, Any]:
    """The account by its id or its vendor; a tenant's own before the platform's."""
    from tidings_client import traffic

    items = tidings.call(traffic.adapters(platform=platform))["items"]
    for item in items:
        if account in (item["id"], item["vendor"]):
            return dict(item)
    known = ", ".join(sorted({item["vendor"] for item in items})) or "none"
    raise CommandError(f"there is no vendor account {account!r}; there is {known}")


def _hold(
    tidings: "Tidings", account: str, state: str, *, reason: str, how_long: str | None, platform: bool
) -> dict[str, Any]:
    from tidings.cli.traffic_words import moment_after
    from tidings_client import traffic

    until = moment_after(how_long) if how_long else None
    found = find(tidings, account, platform=platform)
    return tidings.call(traffic.hold(found["id"], state, reason=reason, until=until, platform=platform))


def _show(circuit: dict[str, Any], *, as_json: bool) -> None:
    from tidings.cli.traffic_words import circuit_line

    print_json(circuit) if as_json else print(circuit_line(circuit))
