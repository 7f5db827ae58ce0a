"""`tidings channel`: the sender of a tenant on a channel, and its vendors; set up, tested, checked, rotated."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

_MARKS = {"pass": "ok  ", "warn": "warn", "fail": "FAIL", "unknown": "?   "}


def _accounts(given: Sequence[str]) -> dict[str, dict[str, str]]:
    """`VENDOR=REFERENCE`, by vendor."""
    found: dict[str, dict[str, str]] = {}
    for text in given:
        vendor, equals, reference = text.partition("=")
        if not equals or not vendor or "://" not in reference:
            # What was typed is not repeated: people type the secret where the reference belongs.
            raise CommandError("--account must have the form VENDOR=REFERENCE, such as smtp=sealed://smtp")
        found[vendor] = {"secret_ref": reference}
    return found


def _merged(
    known: Mapping[str, Any] | None,
    *,
    vendor: str | None,
    fallback: str | None,
    sender: Mapping[str, str | None],
    disable: bool | None,
) -> dict[str, Any]:
    """The whole channel: what is known of it, with what was said now."""
    before = known or {}
    chosen = vendor or before.get("vendor")
    if chosen is None:
        raise CommandError("this channel is not set up yet: name its vendor with --vendor")
    wish: dict[str, Any] = {
        "vendor": chosen,
        "fallback_vendor": None if fallback == "-" else fallback or before.get("fallback_vendor"),
        "sender": {**before.get("sender", {}), **{n: v for n, v in sender.items() if v is not None}},
        "branding": before.get("branding"),
        "rate_limit": before.get("rate_limit", {}),
    }
    if disable is not None or before.get("status") == "disabled":
        wish["status"] = "active" if disable is False else "disabled"
    return wish


def line_of(channel: Mapping[str, Any]) -> str:
    """A channel in one line."""
    vendors = " then ".join(v for v in (channel["vendor"], channel.get("fallback_vendor")) if v)
    return shown(f"{channel['channel']:<9} {channel['status']:<9} {vendors:<19} {_sender(channel['sender'])}")


def _health(channel: Mapping[str, Any]) -> Iterator[str]:
    """Its vendors that take no messages now."""
    for vendor, one in channel.get("health", {}).items():
        until = f", is tried again from {one['until']}" if one.get("until") else ""
        yield shown(f"  {vendor} takes no messages since {one['since']}: {one['reason']}{until}")


def _lines(channel: Mapping[str, Any]) -> Iterator[str]:
    """A channel with its accounts and credentials."""
    yield line_of(channel)
    yield from _health(channel)
    for account in channel.get("accounts", ()):
        owner = "the platform's" if account["owner"] == "platform" else "your own"
        off = "" if account.get("active", True) else ", switched off: `tidings adapter enable` switches it on"
        yield shown(f"  {account['vendor']}: {owner} account{off}")
    for credential in channel.get("credentials", ()):
        until = credential.get("revoked_at") or credential.get("rotated_at") or ""
        yield shown(
            f"  {credential['id']}  {credential['vendor']:<8}  {credential['status']:<10}  "
            f"{credential['secret_ref']}  {until}"
        ).rstrip()


def _test_line(found: Mapping[str, Any]) -> str:
    """What the vendor said."""
    said = {
        "accepted": "has taken it",
        "refused": "refuses it",
        "try_later": "did not take it now",
        "unlearned": "may have taken it; its answer was not learned",
    }[found["result"]]
    name = found.get("provider_message_id")
    more = f" as {name}" if name else ""
    why = f": {found['reason']}" if found.get("reason") else ""
    code = f" ({found['code']})" if found.get("code") else ""
    return shown(f"{found['vendor']} {said}{more}{why}{code}")


def _dns_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """Each check with what to do about it."""
    yield shown(f"{found['domain']}: {found['status']}")
    for check in found["checks"]:
        yield shown(f"{_MARKS.get(check['status'], '?   ')}  {check['check'].upper():<6}{check['what']}")
        if check.get("found"):
            yield shown(f"            {check['name']}: {check['found'][:160]}")
        if check.get("how"):
            yield shown(f"            → {check['how']}")


def _rotation_lines(done: Mapping[str, Any]) -> Iterator[str]:
    """What is in use now, and when the old one may go."""
    asked = {
        "accepted": "the vendor takes it",
        "not_asked": "the vendor could not be asked without sending",
        "skipped": "the vendor was not asked",
    }
    yield shown(f"{done['vendor']}: the new credential is in use; {asked.get(done['check']['result'], '')}")
    yield from list(_lines(done["channel"]))[1:]
    if any(c["status"] == "superseded" for c in done["channel"]["credentials"]):
        yield "delete the superseded one at the vendor when `tidings channel show` calls it revoked"


def _sender(sender: Mapping[str, Any]) -> str:
    address = sender.get("from_address") or sender.get("sender_id") or ""
    name = sender.get("from_name")
    return f"{name} <{address}>" if name else str(address)


def _listed(channel: JsonObject) -> Iterator[str]:
    yield line_of(channel)
    yield from _health(channel)


@api_command(app, "set")
def set_(
    api: Api,
    channel: Annotated[str, typer.Argument(help="email, sms, whatsapp, …")],
    *,
    vendor: Annotated[str | None, typer.Option(help="The adapter: smtp, http, …")] = None,
    fallback: Annotated[
        str | None, typer.Option(help="The adapter for when the first fails; - for none.")
    ] = None,
    from_address: Annotated[
        str | None, typer.Option("--from", help="The mail address that messages come from.")
    ] = None,
    from_name: Annotated[str | None, typer.Option(help="What people see beside it.")] = None,
    reply_to: Annotated[str | None, typer.Option(help="Where answers go.")] = None,
    dkim_selector: Annotated[str | None, typer.Option(help="The selector that mail is signed with.")] = None,
    sender_id: Annotated[str | None, typer.Option(help="The number or name that telephones show.")] = None,
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
    accounts = _accounts(account or [])
    sender = {
        "from_address": from_address,
        "from_name": from_name,
        "reply_to": reply_to,
        "dkim_selector": dkim_selector,
        "sender_id": sender_id,
    }
    known = api.find("show_channel", channel)
    wish = _merged(known, vendor=vendor, fallback=fallback, sender=sender, disable=disable)
    version = known["version"] if known else None
    done = api.call("put_channel", channel, body={**wish, "accounts": accounts}, if_match=version)
    looks = [
        f"  next: `tidings adapter check {one}` looks whether the account works, and sends nothing"
        for one in accounts
    ]
    return Output(done, [*_lines(done), *looks])


@api_command(app, "dns", text=_dns_lines)
def dns(api: Api) -> JsonObject:
    """Check SPF, DKIM, DMARC and MX of the mail sender's domain; the exit code is 1 if one of them fails."""
    found = api.call("check_dns", "email")
    api.exit_code = int(found["status"] == "fail")
    return found


ResourceCommands(
    "channels",
    names={"put": "set"},
    which="email, sms, whatsapp, …",
    line=_listed,
    lines=_lines,
    empty="no channel is set up; `tidings channel set email --vendor smtp --from hello@…` sets one up",
    rows={
        "test": Row(
            about="Send one message through the channel; the exit code is 0 only if the vendor took it.",
            arguments=["to"],
            text=_test_line,
            failed=lambda found: found["result"] != "accepted",
        ),
        "rotate": Row(
            about="Put a new credential in the place of the one in use; no send in between fails.",
            arguments=["secret_ref"],
            text=_rotation_lines,
        ),
    },
).add_to(app)
