"""`tidings adapter`: vendor accounts, made and switched off; whether they work, what they cost, how they share a channel."""

import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, get_args

import typer

from tidings.cli.account_format import (
    adapter_line,
    adapter_lines,
    check_lines,
    kind_lines,
    kinds_lines,
    weights_lines,
)
from tidings.cli.api_command import Api, api_command
from tidings.cli.circuit import Account, find_account
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

Amount = Annotated[str | None, typer.Option(help="In the currency, such as 0.0075.")]


@api_command(app, "kinds", platform=True)
def kinds(
    api: Api,
    name: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="One of them, in full: twilio, ses, …")
    ] = None,
) -> Output:
    """Show all kinds of vendors that there are adapters for, or what accounts of one need."""
    found = api.list_all("list_adapter_kinds")
    if name is None:
        return Output(found, kinds_lines(found))
    one = next((kind for kind in found if kind["name"] == name), None)
    if one is None:
        known = ", ".join(kind["name"] for kind in found)
        raise CommandError(f"there is no adapter {shown(name)!r}; there is {known}")
    return Output(one, kind_lines(one))


@api_command(app, "disable", platform=True, text=adapter_lines)
def disable(api: Api, account: Account) -> JsonObject:
    """Switch an account off: nothing new goes through it, and callbacks about what went before still count."""
    return _changed(api, account, {"active": False})


@api_command(app, "enable", platform=True, text=adapter_lines)
def enable(api: Api, account: Account) -> JsonObject:
    """Switch an account on again; what waited for it goes out within seconds."""
    return _changed(api, account, {"active": True})


@api_command(app, "price", platform=True, text=adapter_lines)
def price(
    api: Api,
    account: Account,
    *,
    currency: Annotated[str | None, typer.Option(help="USD, EUR, … [default: as it is]")] = None,
    base: Amount = None,
    per_segment: Amount = None,
    per_minute: Amount = None,
    prefix: Annotated[
        list[str] | None,
        typer.Option(
            "--prefix",
            help="Another price for numbers that begin so: +93:per_segment=0.09,base=0; may be repeated. "
            "+93: alone takes it away.",
        ),
    ] = None,
    none: Annotated[bool, typer.Option("--none", help="It has no price any more.")] = False,
) -> JsonObject:
    """Say what messages through an account cost; what is not named stays as it is."""
    named = {"base_micros": base, "per_segment_micros": per_segment, "per_minute_micros": per_minute}
    found = find_account(api, account)
    prices = None if none else _priced(found["prices"], currency, named, prefix or [])
    return _put(api, found, prices=prices)


@api_command(app, "limit", platform=True, text=adapter_lines)
def limit(
    api: Api,
    account: Account,
    *,
    per_second: Annotated[int | None, typer.Option(help="Messages a second; 0 for no limit.")] = None,
    per_day: Annotated[int | None, typer.Option(help="Messages a day (UTC); 0 for no limit.")] = None,
) -> JsonObject:
    """Say how many messages an account takes; what is not named stays as it is."""
    limits = without_none(per_second=per_second, per_day=per_day)
    return _put(api, find_account(api, account), **{name: many or None for name, many in limits.items()})


@api_command(app, "share", platform=True)
def share(
    api: Api,
    channel: Annotated[str, typer.Argument(help="email, sms, whatsapp, …")],
    points: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VENDOR=POINTS]…", help="100 in all; nothing: show how it is shared."),
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="No weights: vendors are called in order.")] = False,
) -> Output:
    """Show or say how vendors share a channel; homes of single countries stay as they are."""
    from tidings.contracts.tenants import Channel

    if channel not in get_args(Channel):
        raise CommandError(f"CHANNEL must be one of {', '.join(get_args(Channel))}, not {shown(channel)}")
    home = _points(points or [])
    known = next((one for one in api.list_all("list_weights") if one["channel"] == channel), None)
    if home or none:
        own = known if known and (api.platform or known["owner"] == "tenant") else None
        body = {"home": home, "by_prefix": {} if none or own is None else own["by_prefix"]}
        known = api.call("put_weights", channel, body=body, if_match=own["version"] if own else None)
        for vendor in [] if api.platform else _left_out(api, channel, home):
            # Beside the answer: what reads JSON reads on.
            print(
                f"tidings: {vendor} gets nothing yet, because {channel} is not set up with it; "
                f"`tidings channel set {channel} --fallback {vendor}` does that",
                file=sys.stderr,
            )
    if known is None or not known["home"]:
        return Output(known, f"vendors of {channel} have no weights: they are called in their order")
    return Output(known, weights_lines(known))


def _changed(api: Api, account: str, changes: JsonObject) -> JsonObject:
    found = find_account(api, account)
    return api.call("patch_adapter", found["id"], body=changes, if_match=found["version"])


def _put(api: Api, found: JsonObject, **changes: object) -> JsonObject:
    terms = {name: found[name] for name in ("prices", "per_second", "per_day")}
    return api.call("put_adapter", found["id"], body={**terms, **changes}, if_match=found["version"])


def _points(given: list[str]) -> dict[str, int]:
    """`http_a=70` and so on."""
    found: dict[str, int] = {}
    for one in given:
        vendor, _, many = one.partition("=")
        if not vendor or not many.isdecimal():
            raise CommandError("points must have the form VENDOR=POINTS, such as http_acme=70")
        found[vendor] = int(many)
    return found


def _priced(
    known: Mapping[str, Any] | None,
    currency: str | None,
    named: Mapping[str, str | None],
    prefixes: list[str],
) -> dict[str, Any]:
    """The prices after what was named; the rest as it was."""
    prices: dict[str, Any] = dict(known or {})
    if currency is not None:
        prices["currency"] = currency
    if "currency" not in prices:
        raise CommandError("name the currency of the prices, such as --currency USD")
    for name, text in named.items():
        if text is not None:
            prices[name] = _micros(text, f"--{name.removesuffix('_micros').replace('_', '-')}")
    by_prefix = dict(prices.get("by_prefix", {}))
    for one in prefixes:
        prefix, colon, rest = one.partition(":")
        if not colon:
            raise CommandError("--prefix must have the form +93:per_segment=0.09")
        if rest:
            by_prefix[prefix] = dict(_apart(rest))
        else:
            by_prefix.pop(prefix, None)
    prices["by_prefix"] = by_prefix
    return prices


def _apart(text: str) -> Iterator[tuple[str, int]]:
    for part in text.split(","):
        name, _, amount = part.partition("=")
        if name not in ("base", "per_segment", "per_minute"):
            raise CommandError("--prefix takes base, per_segment and per_minute: +93:per_segment=0.09,base=0")
        yield f"{name}_micros", _micros(amount, f"{name} of --prefix")


def _micros(text: str, what: str) -> int:
    try:
        micros = Decimal(text) * 1_000_000
    except InvalidOperation:
        raise CommandError(f"{what} must be an amount such as 0.0075, not {shown(text)!r}") from None
    if not micros.is_finite() or micros < 0 or micros != micros.to_integral_value():
        raise CommandError(
            f"{what} must be an amount of 0 or more with at most six decimals, not {shown(text)!r}"
        )
    return int(micros)


def _left_out(api: Api, channel: str, home: dict[str, int]) -> list[str]:
    """Vendors with points that the tenant's channel does not know; none where its channels can't be seen."""
    from tidings_client import ProblemError

    try:
        found = api.call("show_channel", channel)
    except ProblemError:
        return []
    known = (found.get("vendor"), found.get("fallback_vendor"))
    return [name for name, many in home.items() if many and name not in known]


def _added(account: JsonObject) -> list[str]:
    more = " --platform" if account["owner"] == "platform" else ""
    check = f"`tidings adapter check {account['vendor']}{more}` looks whether it works, and sends nothing"
    return [*adapter_lines(account), f"  next: {check}"]


ResourceCommands(
    "adapters",
    names={"create": "add", "put": "price"},
    which="adcfg_…, or the vendor's name.",
    line=adapter_line,
    lines=adapter_lines,
    look_up=find_account,
    empty="there is no vendor account; `tidings channel set` sets one up, and "
    "`tidings adapter add VENDOR --secret-ref … --platform` makes one of the platform",
    options={"active": ""},
    rows={
        "create": Row(
            about="Make an account with a vendor: the tenant's own, or with --platform one that all tenants may send through.",
            arguments=["vendor"],
            help={"per_second": "Messages a second.", "per_day": "Messages a day (UTC)."},
            text=_added,
        ),
        "change": Row(
            about="Change where an account's settings are, or its handle; `price` and `limit` change the rest."
        ),
        "check": Row(
            about="Look step by step whether an account works; nothing is sent. Ends with 1 where something failed.",
            help={"sender": "Of that message.", "channel": "Of that message."},
            merge=lambda _, typed: {"dry_call": bool(typed), **typed},
            text=check_lines,
            failed=lambda found: not found["ok"],
        ),
    },
).add_to(app)
