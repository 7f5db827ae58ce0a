"""`tidings adapter`: vendor accounts, made and switched off; whether they work, what they cost, how they share a channel."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.circuit import Account, Platform, find
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json
from tidings.cli.printing import print_json, shown

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="Vendor accounts: make one, switch it off; whether they work, what they cost, how they share a channel.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

SecretRef = Annotated[
    str,
    typer.Option(
        "--secret-ref",
        help="Where its settings and credentials are: sealed://smtp (`tidings secret set smtp`), file://smtp.json in the secrets folder, vault://…",
    ),
]
Handle = Annotated[
    str | None,
    typer.Option(
        help="Its number or handle with the vendor, where it has one; of the platform's account the sender of who names none."
    ),
]
Amount = Annotated[str | None, typer.Option(help="In the currency, such as 0.0075.")]


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
    """Show all vendor accounts, one line each; also those that are switched off."""
    from tidings.cli.traffic_words import adapter_line
    from tidings_client import traffic

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(traffic.adapters(platform=platform))["items"]
    if as_json:
        print_json(found)
        return
    for adapter in found:
        print(adapter_line(adapter))
    if not found:
        print(
            "there is no vendor account of the platform; `tidings adapter add VENDOR --secret-ref … --platform` makes one"
            if platform
            else "there is no vendor account; `tidings channel set` sets one up"
        )


@app.command("show")
def show(
    account: Account,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one vendor account: what it can do, its prices, limits, circuit and weights."""
    from tidings.cli.traffic_words import adapter_lines

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = find(tidings, account, platform=platform)
    print_json(found) if as_json else print("\n".join(adapter_lines(found)))


@app.command("kinds")
def kinds(
    name: Annotated[
        str | None, typer.Argument(metavar="[KIND]", help="One of them, in full: twilio, ses, …")
    ] = None,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show all kinds of vendors that there are adapters for, or what accounts of one need."""
    from tidings.cli.adapter_words import kind_lines, kinds_lines
    from tidings_client import adapters

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = tidings.call(adapters.kinds(platform=platform))["items"]
    if name is None:
        print_json(found) if as_json else print("\n".join(kinds_lines(found)))
        return
    one = next((kind for kind in found if kind["name"] == name), None)
    if one is None:
        known = ", ".join(kind["name"] for kind in found)
        raise CommandError(f"there is no adapter {shown(name)!r}; there is {known}")
    print_json(one) if as_json else print("\n".join(kind_lines(one)))


@app.command("add")
def add(
    vendor: Annotated[
        str, typer.Argument(metavar="VENDOR", help="The kind, such as smtp, or one more of it: smtp_backup.")
    ],
    *,
    secret_ref: SecretRef,
    handle: Handle = None,
    per_second: Annotated[int | None, typer.Option(help="Messages a second.")] = None,
    per_day: Annotated[int | None, typer.Option(help="Messages a day (UTC).")] = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Make an account with a vendor: the tenant's own, or with --platform one that all tenants may send through."""
    from tidings.cli.traffic_words import adapter_lines
    from tidings_client import traffic

    named = {"handle": handle, "per_second": per_second, "per_day": per_day}
    wish = {"vendor": vendor, "secret_ref": secret_ref, **{k: v for k, v in named.items() if v is not None}}
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        done = tidings.call(traffic.add_adapter(wish, platform=platform))
    print_json(done) if as_json else print("\n".join(adapter_lines(done)))
    if not as_json:
        more = " --platform" if platform else ""
        print(f"  next: `tidings adapter check {vendor}{more}` looks whether it works, and sends nothing")


@app.command("change")
def change(
    account: Account,
    *,
    secret_ref: Annotated[
        str | None,
        typer.Option("--secret-ref", help="Another place of its settings; the same again: all read it now."),
    ] = None,
    handle: Handle = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Change where an account's settings are, or its handle; `price` and `limit` change the rest."""
    named = {"secret_ref": secret_ref, "handle": handle}
    wish = {name: value for name, value in named.items() if value is not None}
    if not wish:
        raise CommandError("say what is to change: --secret-ref or --handle")
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        _changed(tidings, account, wish, platform=platform, as_json=as_json)


@app.command("disable")
def disable(
    account: Account,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Switch an account off: nothing new goes through it, and callbacks about what went before still count."""
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        _changed(tidings, account, {"active": False}, platform=platform, as_json=as_json)


@app.command("enable")
def enable(
    account: Account,
    *,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Switch an account on again; what waited for it goes out within seconds."""
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        _changed(tidings, account, {"active": True}, platform=platform, as_json=as_json)


@app.command("check")
def check(
    account: Account,
    *,
    dry_call: Annotated[
        bool,
        typer.Option("--dry-call", help="Ask what the vendor would say to a message, where it can be asked."),
    ] = False,
    to: Annotated[str | None, typer.Option(help="Of that message. [default: nobody's]")] = None,
    sender: Annotated[str | None, typer.Option(help="Of that message.")] = None,
    channel: Annotated[str | None, typer.Option(help="Of that message: sms, email, …")] = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Look step by step whether an account works; nothing is sent. Ends with 1 where something failed."""
    from tidings.cli.adapter_words import check_lines
    from tidings_client import adapters

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = find(tidings, account, platform=platform)
        asked = adapters.check(
            found["id"],
            dry_call=dry_call or to is not None or sender is not None or channel is not None,
            to=to,
            sender=sender,
            channel=channel,
            platform=platform,
        )
        told = tidings.call(asked)
    print_json(told) if as_json else print("\n".join(check_lines(told)))
    if not told["ok"]:
        raise typer.Exit(1)


@app.command("price")
def price(
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
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Say what messages through an account cost; what is not named stays as it is."""
    from tidings.cli.traffic_words import adapter_lines, priced
    from tidings_client import traffic

    named = {"base_micros": base, "per_segment_micros": per_segment, "per_minute_micros": per_minute}
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = find(tidings, account, platform=platform)
        prices = None if none else priced(found["prices"], currency, named, prefix or [])
        terms = {"prices": prices, "per_second": found["per_second"], "per_day": found["per_day"]}
        done = tidings.call(
            traffic.put_adapter(found["id"], terms, version=found["version"], platform=platform)
        )
    print_json(done) if as_json else print("\n".join(adapter_lines(done)))


@app.command("limit")
def limit(
    account: Account,
    *,
    per_second: Annotated[int | None, typer.Option(help="Messages a second; 0 for no limit.")] = None,
    per_day: Annotated[int | None, typer.Option(help="Messages a day (UTC); 0 for no limit.")] = None,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Say how many messages an account takes; what is not named stays as it is."""
    from tidings.cli.traffic_words import adapter_lines
    from tidings_client import traffic

    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        found = find(tidings, account, platform=platform)
        terms = {
            "prices": found["prices"],
            "per_second": found["per_second"] if per_second is None else per_second or None,
            "per_day": found["per_day"] if per_day is None else per_day or None,
        }
        done = tidings.call(
            traffic.put_adapter(found["id"], terms, version=found["version"], platform=platform)
        )
    print_json(done) if as_json else print("\n".join(adapter_lines(done)))


@app.command("share")
def share(
    channel: Annotated[str, typer.Argument(metavar="CHANNEL", help="email, sms, whatsapp, …")],
    points: Annotated[
        list[str] | None,
        typer.Argument(metavar="[VENDOR=POINTS]…", help="100 in all; nothing: show how it is shared."),
    ] = None,
    *,
    none: Annotated[bool, typer.Option("--none", help="No weights: vendors are called in order.")] = False,
    platform: Platform = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show or say how vendors share a channel; homes of single countries stay as they are."""
    from typing import get_args

    from tidings.cli.traffic_words import points_of, weights_lines
    from tidings.contracts.tenants import Channel
    from tidings_client import traffic

    if channel not in get_args(Channel):
        raise CommandError(f"CHANNEL must be one of {', '.join(get_args(Channel))}, not {shown(channel)}")
    home = points_of(points or [])
    left_out: list[str] = []
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        known = _known(tidings.call(traffic.weights(platform=platform))["items"], channel)
        if home or none:
            own = known if known and (platform or known["owner"] == "tenant") else None
            by_prefix = {} if none or own is None else own["by_prefix"]
            known = tidings.call(
                traffic.put_weights(
                    channel,
                    {"home": home, "by_prefix": by_prefix},
                    version=own["version"] if own else None,
                    platform=platform,
                )
            )
            left_out = [] if platform else _left_out(tidings, channel, home)
    if as_json:
        print_json(known)
    elif known is None or not known["home"]:
        print(f"vendors of {channel} have no weights: they are called in their order")
    else:
        print("\n".join(weights_lines(known)))
    for vendor in left_out:
        # Beside the answer: what reads JSON reads on.
        print(
            f"tidings: {vendor} gets nothing yet, because {channel} is not set up with it; "
            f"`tidings channel set {channel} --fallback {vendor}` does that",
            file=sys.stderr,
        )


def _changed(
    tidings: "Tidings", account: str, wish: dict[str, Any], *, platform: bool, as_json: bool
) -> None:
    from tidings.cli.traffic_words import adapter_lines
    from tidings_client import traffic

    found = find(tidings, account, platform=platform)
    asked = traffic.change_adapter(found["id"], wish, version=found["version"], platform=platform)
    done = tidings.call(asked)
    print_json(done) if as_json else print("\n".join(adapter_lines(done)))


def _left_out(tidings: "Tidings", channel: str, home: dict[str, int]) -> list[str]:
    """Vendors with points that the tenant's channel does not know; none where its channels can't be seen."""
    from tidings_client import ProblemError, channels

    try:
        found = tidings.call(channels.show(channel))
    except ProblemError:
        return []
    return [
        name
        for name, many in home.items()
        if many and name not in (found.get("vendor"), found.get("fallback_vendor"))
    ]


def _known(items: list[dict[str, Any]], channel: str) -> dict[str, Any] | None:
    return next((item for item in items if item["channel"] == channel), None)
