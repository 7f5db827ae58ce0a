"""`tidings suppression`: one address that must not be written to; lists go with `tidings suppressions`."""

from typing import Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

app = typer.Typer(
    help="One address that must not be written to: find, add, release.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="A mail address, or a number (+93…).")]
Channel = Annotated[
    str | None, typer.Option(help="email, sms, …; default: email for a mail address, sms for a number.")
]


@app.command("find")
def find(
    address: Address,
    *,
    channel: Channel = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show what holds an address back, and what did."""
    from tidings_client import suppressions

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(suppressions.find(channel_of(address, channel), address))["items"]
    _show(found, as_json=as_json)


@app.command("add")
def add(
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
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Suppress an address: nothing is sent to it on that channel any more."""
    from tidings_client import suppressions

    with client(url, key, tenant, data_dir) as tidings:
        made = tidings.call(
            suppressions.add(channel_of(address, channel), address, reason=reason, notes=notes)
        )
    _show([made], as_json=as_json)


@app.command("release")
def release(
    target: Annotated[
        str, typer.Argument(metavar="SUPPRESSION|ADDRESS", help="Its id, sup_…, or the address.")
    ],
    *,
    reason: Annotated[str, typer.Option("--reason", help="Why; it is audited.")],
    channel: Channel = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Let an address be written to again."""
    from tidings_client import suppressions

    with client(url, key, tenant, data_dir) as tidings:
        if target.startswith("sup_"):
            wanted = [target]
        else:
            named = channel_of(target, channel)
            found = tidings.call(suppressions.find(named, target))["items"]
            held = [one for one in found if not one.get("released_at") and not one.get("mail_domain")]
            wanted = [one["id"] for one in held if channel is None or one["channel"] == channel]
            if not wanted:
                domain = next((o["id"] for o in found if o.get("mail_domain") and not o["released_at"]), None)
                whole = f"; its whole domain is held back by {domain}" if domain else ""
                raise CommandError(f"nothing holds this address back on {named}{whole}")
        for one in wanted:
            tidings.call(suppressions.release(one, reason=reason))
            print(f"{one} is released")


def channel_of(address: str, channel: str | None) -> str:
    """What kind of address it is, as it was said or as it shows."""
    if channel is not None:
        return channel
    if "@" in address:
        return "email"
    if address.lstrip().startswith("+"):
        return "sms"
    raise CommandError("say with --channel what kind of address this is: email, sms, telegram, …")


def _show(found: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        from tidings.cli.printing import print_json

        print_json(found)
        return
    from tidings.cli.found_words import next_lines, suppression_lines
    from tidings.cli.printing import print_lines

    if not found:
        print("nothing holds this address back, and nothing did")
        return
    in_force = [one for one in found if not one.get("released_at")]
    commands = [f"tidings suppression release {in_force[0]['id']} --reason …"] if in_force else []
    print_lines([*suppression_lines(found), *next_lines(commands)])
