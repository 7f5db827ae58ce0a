"""`tidings channel`: how a tenant appears on a channel and through whom; set up, tested, checked, rotated."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="Channels: who sends on them and through whom; set up, test, check and rotate them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Channel = Annotated[str, typer.Argument(metavar="CHANNEL", help="email, sms, whatsapp, …")]
Vendor = Annotated[
    str | None, typer.Option("--vendor", help="One of the channel's two. [default: the first]")
]


@app.command("list")
def list_(
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show all channels that are set up, one line each."""
    from tidings.cli.channel_words import health_of, line_of
    from tidings_client import channels

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(channels.list_all())["items"]
    if as_json:
        print_json(found)
        return
    for channel in found:
        print(line_of(channel))
        for line in health_of(channel):
            print(line)
    if not found:
        print("no channel is set up; `tidings channel set email --vendor smtp --from hello@…` sets one up")


@app.command("show")
def show(
    channel: Channel,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one channel with its accounts and credentials."""
    from tidings.cli.channel_words import lines_of
    from tidings_client import channels

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(channels.show(channel))
    print_json(found) if as_json else print("\n".join(lines_of(found)))


@app.command("set")
def set_(
    channel: Channel,
    *,
    vendor: Annotated[str | None, typer.Option("--vendor", help="The adapter: smtp, http, …")] = None,
    fallback: Annotated[
        str | None, typer.Option("--fallback", help="The adapter for when the first fails; - for none.")
    ] = None,
    from_address: Annotated[
        str | None, typer.Option("--from", help="The mail address that messages come from.")
    ] = None,
    from_name: Annotated[str | None, typer.Option("--from-name", help="What people see beside it.")] = None,
    reply_to: Annotated[str | None, typer.Option("--reply-to", help="Where answers go.")] = None,
    dkim_selector: Annotated[
        str | None, typer.Option("--dkim-selector", help="The selector that mail is signed with.")
    ] = None,
    sender_id: Annotated[
        str | None, typer.Option("--sender-id", help="The number or name that telephones show.")
    ] = None,
    account: Annotated[
        list[str] | None,
        typer.Option(
            "--account",
            help="VENDOR=REFERENCE: your own account, such as smtp=sealed://smtp; may be repeated.",
        ),
    ] = None,
    disable: Annotated[
        bool | None, typer.Option("--disable/--enable", help="Whether anything is sent over it.")
    ] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Set a channel up, or change what is named; the rest stays as it is."""
    from tidings.cli.channel_words import accounts_of, lines_of, merged
    from tidings_client import channels

    if from_address is not None and channel != "email":
        raise CommandError(
            f"--from is the address that mail comes from; what telephones show on {channel} is --sender-id {from_address}"
        )
    accounts = accounts_of(account or [])
    sender = {
        "from_address": from_address,
        "from_name": from_name,
        "reply_to": reply_to,
        "dkim_selector": dkim_selector,
        "sender_id": sender_id,
    }
    with client(url, key, tenant, data_dir) as tidings:
        known = _known(tidings, channel)
        wish = merged(known, vendor=vendor, fallback=fallback, sender=sender, disable=disable)
        version = known["version"] if known else None
        done = tidings.call(channels.put(channel, {**wish, "accounts": accounts}, version=version))
    if as_json:
        print_json(done)
        return
    print("\n".join(lines_of(done)))
    for name in accounts:
        print(f"  next: `tidings adapter check {name}` looks whether the account works, and sends nothing")


@app.command("test")
def try_out(
    channel: Channel,
    to: Annotated[str, typer.Argument(metavar="TO", help="A mail address, a number.")],
    *,
    vendor: Vendor = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Send one message through the channel; the exit code is 0 only if the vendor took it."""
    from tidings.cli.channel_words import told_of_test
    from tidings_client import channels

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(channels.try_out(channel, to, vendor=vendor))
    print_json(found) if as_json else print(told_of_test(found))
    if found["result"] != "accepted":
        raise SystemExit(1)


@app.command("dns")
def dns(
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Check SPF, DKIM, DMARC and MX of the mail sender's domain; the exit code is 1 if one of them fails."""
    from tidings.cli.channel_words import told_of_dns
    from tidings_client import channels

    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.call(channels.dns())
    print_json(found) if as_json else print("\n".join(told_of_dns(found)))
    if found["status"] == "fail":
        raise SystemExit(1)


@app.command("rotate")
def rotate(
    channel: Channel,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="REFERENCE", help="sealed://…, file://… or vault://…: where the new secret is."
        ),
    ],
    *,
    vendor: Vendor = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Ask the vendor first whether it takes it.")
    ] = True,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Put a new credential in the place of the one in use; no send in between fails."""
    from tidings.cli.channel_words import told_of_rotation
    from tidings_client import channels

    with client(url, key, tenant, data_dir) as tidings:
        done = tidings.call(channels.rotate(channel, reference, vendor=vendor, check=check))
    print_json(done) if as_json else print("\n".join(told_of_rotation(done)))


def _known(tidings: "Tidings", channel: str) -> dict[str, Any] | None:
    from tidings_client import NotFoundError, channels

    try:
        return tidings.call(channels.show(channel))
    except NotFoundError:
        return None
