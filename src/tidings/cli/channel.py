"""`tidings channel`: how a tenant appears on a channel and through whom; set up, tested, checked, rotated."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command
from tidings.cli.channel_words import (
    accounts_of,
    health_of,
    line_of,
    lines_of,
    merged,
    told_of_dns,
    told_of_rotation,
    told_of_test,
)
from tidings.cli.failures import CommandError
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="Channels: who sends on them and through whom; set up, test, check and rotate them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Channel = Annotated[str, typer.Argument(metavar="CHANNEL", help="email, sms, whatsapp, …")]
Vendor = Annotated[
    str | None, typer.Option("--vendor", help="One of the channel's two. [default: the first]")
]


def _listed(channel: JsonObject) -> Iterator[str]:
    yield line_of(channel)
    yield from health_of(channel)


@api_command(
    app,
    "list",
    text=_listed,
    empty="no channel is set up; `tidings channel set email --vendor smtp --from hello@…` sets one up",
)
def list_(api: Api) -> list[JsonObject]:
    """Show all channels that are set up, one line each."""
    return api.list_all("list_channels")


@api_command(app, "show", text=lines_of)
def show(api: Api, channel: Channel) -> JsonObject:
    """Show one channel with its accounts and credentials."""
    return api.call("show_channel", channel)


@api_command(app, "set")
def set_(
    api: Api,
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
) -> Output:
    """Set a channel up, or change what is named; the rest stays as it is."""
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
    known = api.find("show_channel", channel)
    wish = merged(known, vendor=vendor, fallback=fallback, sender=sender, disable=disable)
    version = known["version"] if known else None
    done = api.call("put_channel", channel, body={**wish, "accounts": accounts}, if_match=version)
    looks = [
        f"  next: `tidings adapter check {one}` looks whether the account works, and sends nothing"
        for one in accounts
    ]
    return Output(done, [*lines_of(done), *looks])


@api_command(app, "test", text=told_of_test)
def try_out(
    api: Api,
    channel: Channel,
    to: Annotated[str, typer.Argument(metavar="TO", help="A mail address, a number.")],
    *,
    vendor: Vendor = None,
) -> JsonObject:
    """Send one message through the channel; the exit code is 0 only if the vendor took it."""
    found = api.call("test_channel", channel, body={"to": to, "vendor": vendor})
    api.exit_code = int(found["result"] != "accepted")
    return found


@api_command(app, "dns", text=told_of_dns)
def dns(api: Api) -> JsonObject:
    """Check SPF, DKIM, DMARC and MX of the mail sender's domain; the exit code is 1 if one of them fails."""
    found = api.call("check_dns", "email")
    api.exit_code = int(found["status"] == "fail")
    return found


@api_command(app, "rotate", text=told_of_rotation)
def rotate(
    api: Api,
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
) -> JsonObject:
    """Put a new credential in the place of the one in use; no send in between fails."""
    body = {"secret_ref": reference, "vendor": vendor, "check": check}
    return api.call("rotate_credential", channel, body=body)


add_resource(app, "channels", names={"put": "set"})
