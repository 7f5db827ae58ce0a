"""`tidings inbound-route`: which webhook is told what people write, and what was told."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json, moment_of
from tidings.cli.printing import counted, print_json, shown, to_the_second

if TYPE_CHECKING:
    from tidings_client import Tidings

app = typer.Typer(
    help="Inbound routes: which webhook gets what people write.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Which = Annotated[
    str, typer.Argument(metavar="ROUTE", help="route_…, or the number that is written to, or '*'.")
]
Webhook = Annotated[str, typer.Option("--webhook", help="The address that is called, https://…")]
SecretRef = Annotated[
    str,
    typer.Option("--secret-ref", help="Where the secret that signs is: sealed://…, file://… or vault://…"),
]


@app.command("list")
def list_(
    *,
    removed: Annotated[bool, typer.Option("--removed", help="Those whose grace is over too.")] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show all routes, one line each."""
    with client(url, key, tenant, data_dir) as tidings:
        found = _all(tidings, removed=removed)
    if as_json:
        print_json(found)
        return
    for route in found:
        print(_line(route))
    if not found:
        print("there is none; what people write is kept in conversations, and no webhook is called")


@app.command("show")
def show(
    which: Which,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show one."""
    with client(url, key, tenant, data_dir) as tidings:
        _show(_found(tidings, which), as_json=as_json)


@app.command("add")
def add(
    inbound: Annotated[
        str, typer.Argument(metavar="NUMBER", help="Short code, number, handle, or '*' for all others.")
    ],
    *,
    webhook: Webhook,
    secret_ref: SecretRef,
    platform: Annotated[
        bool,
        typer.Option(
            "--platform", help="Also over accounts that all tenants share; with a key of the platform."
        ),
    ] = False,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Tell a webhook what people write to a number."""
    from tidings_client import inbound_routes

    wish: dict[str, Any] = {"inbound": inbound, "webhook_url": webhook, "secret_ref": secret_ref}
    if platform:
        wish["platform"] = True
    with client(url, key, tenant, data_dir, platform=platform) as tidings:
        made = tidings.call(inbound_routes.create(wish))
    _show(made, as_json=as_json)
    if not as_json:
        if not made["platform"]:
            print("  it takes what comes over your own accounts, and answers in your own conversations;")
            print("  what others write to the number over shared accounts is yours if an operator says so")
        print(f"  next: `tidings inbound-route test {shown(made['inbound'])}` calls the webhook once")


@app.command("change")
def change(
    which: Which,
    *,
    webhook: Annotated[
        str | None, typer.Option("--webhook", help="The address that is called, https://…")
    ] = None,
    secret_ref: Annotated[str | None, typer.Option("--secret-ref", help="Where the secret is.")] = None,
    platform: Annotated[
        bool | None,
        typer.Option(
            "--platform/--no-platform",
            help="Give the tenant the number over accounts that all share, or take it back; with a key of the platform.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Call another address, or sign with another secret; what waits goes there too."""
    from tidings_client import inbound_routes

    if webhook is None and secret_ref is None and platform is None:
        raise CommandError("say what is to change: --webhook, --secret-ref, or --platform")
    with client(url, key, tenant, data_dir, platform=platform is not None) as tidings:
        known = _found(tidings, which)
        wish: dict[str, Any] = {
            "webhook_url": webhook or known["webhook_url"],
            "secret_ref": secret_ref or known["secret_ref"],
        }
        if platform is not None:
            wish["platform"] = platform
        _show(tidings.call(inbound_routes.put(known["id"], wish, version=known["version"])), as_json=as_json)


@app.command("remove")
def remove(
    which: Which,
    *,
    grace_seconds: Annotated[
        int | None,
        typer.Option(
            "--grace-seconds", help="How long it goes on working. [default: a day]", min=0, max=2_592_000
        ),
    ] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Remove one; it goes on working, and can be restored, until its grace is over."""
    from tidings_client import inbound_routes

    with client(url, key, tenant, data_dir) as tidings:
        known = _found(tidings, which)
        done = tidings.call(
            inbound_routes.remove(known["id"], grace_seconds=grace_seconds, version=known["version"])
        )
    if done["active"]:
        until = to_the_second(done["grace_period_ends_at"])
        again = f"`tidings inbound-route restore {done['inbound']}` brings it back"
        print(shown(f"{done['id']} works until {until}; {again}"))
    else:
        print(shown(f"{done['id']} is removed, and {done['inbound']} is free"))


@app.command("restore")
def restore(
    which: Which,
    *,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Bring a removed one back, as long as its grace lasts."""
    from tidings_client import inbound_routes

    with client(url, key, tenant, data_dir) as tidings:
        _show(tidings.call(inbound_routes.restore(_found(tidings, which)["id"])), as_json=as_json)


@app.command("test")
def try_out(
    which: Which,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Call the webhook once with a signed message that nobody wrote. The exit code is 1 if it does not take it."""
    from tidings_client import inbound_routes

    with client(url, key, tenant, data_dir) as tidings:
        done = tidings.call(inbound_routes.try_out(_found(tidings, which)["id"]))
    if done["delivered"]:
        print(f"the webhook answered {done['status']}: it takes what people write")
    elif done["status"] is not None:
        print(f"the webhook answered {done['status']}, and any 2xx would be a yes")
    else:
        print(shown(f"the webhook was not reached: {_why(done['reason'])}"))
    if not done["delivered"]:
        raise SystemExit(1)


@app.command("deliveries")
def deliveries(
    *,
    status: Annotated[str | None, typer.Option("--status", help="pending, delivered or dead.")] = None,
    route: Annotated[
        str | None, typer.Option("--route", help="Only of this route: route_…, its number, or '*'.")
    ] = None,
    lines: Annotated[int, typer.Option("-n", "--lines", help="How many at most.", min=1, max=1000)] = 20,
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show webhook calls, made or pending, the newest first, one line each."""
    from tidings_client import inbound_routes

    found: list[dict[str, Any]] = []
    cursor: str | None = None
    with client(url, key, tenant, data_dir) as tidings:
        which = None if route is None else _found(tidings, route)["id"]
        while True:
            page = tidings.call(
                inbound_routes.deliveries(
                    status=status, route=which, limit=min(lines - len(found), 200), cursor=cursor
                )
            )
            found += page["items"]
            cursor = page.get("next_cursor")
            if cursor is None or len(found) >= lines:
                break
    if as_json:
        print_json(found)
        return
    for delivery in found:
        print(_delivery_line(delivery))
    if not found:
        print("there is none")


@app.command("redeliver")
def redeliver(
    delivery_ids: Annotated[
        list[str] | None, typer.Argument(metavar="DELIVERY…", help="ibd_…", show_default=False)
    ] = None,
    *,
    route: Annotated[
        str | None, typer.Option("--route", help="All dead ones of this route: route_…, its number, or '*'.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All dead ones.")] = False,
    since: Annotated[
        str | None,
        typer.Option("--since", help="With --route or --all: only those since 2026-11-15T12:00:00Z."),
    ] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Tell the webhook once more, at once and then for a day."""
    from tidings_client import inbound_routes

    if [bool(delivery_ids), route is not None, everything].count(True) != 1 or (since and delivery_ids):
        raise CommandError(
            "name the deliveries by their ids, or else all dead ones with --route ROUTE or --all [--since …], one of the three"
        )
    moment = moment_of(since, "--since")
    with client(url, key, tenant, data_dir) as tidings:
        for delivery_id in delivery_ids or ():
            print(_delivery_line(tidings.call(inbound_routes.redeliver(delivery_id))))
        if not delivery_ids:
            which = None if route is None else _found(tidings, route)["id"]
            count = _redeliver_dead(tidings, which, moment.isoformat() if moment else None)
            if not count:
                print(
                    "there is none to deliver again; `tidings inbound-route deliveries --status dead` "
                    "shows what was given up, and why"
                )
            print(f"redelivered: {count}")


def _redeliver_dead(tidings: "Tidings", route: str | None, since: str | None) -> int:
    """All of them, however often it has to be ordered."""
    from tidings_client import inbound_routes

    count = 0
    while True:
        done = tidings.call(inbound_routes.redeliver_dead(route=route, since=since))
        count += int(done["redelivered"])
        if not done["more"]:
            return count


#: Why a webhook was not told, for somebody who can do something about it.
_REASONS = {
    "address": "it leads to an address inside our own network, where webhooks may not lead",
    "connection": "no connection could be made; look whether the name is right and the server runs",
    "timeout": "it did not answer in time",
    "tls": "its certificate is not one that we trust",
    "secret_not_found": "the secret that signs is not there; look at --secret-ref",
    "secret_store": "the secret store that has the signing secret can't be reached just now",
    "unanswered": "it ended the connection without an answer",
    "route_gone": "its route was removed",
    "erased": "the person was erased",
    "gone": "it says that it is gone for good",
}


def _why(reason: str | None) -> str:
    return _REASONS.get(reason or "", reason or "nobody knows why")


def _all(tidings: "Tidings", *, inbound: str | None = None, removed: bool = False) -> list[dict[str, Any]]:
    from tidings_client import inbound_routes

    found: list[dict[str, Any]] = []
    cursor: str | None = None
    while True:
        page = tidings.call(inbound_routes.page(inbound=inbound, removed=removed, cursor=cursor))
        found += page["items"]
        cursor = page.get("next_cursor")
        if cursor is None:
            return found


def _found(tidings: "Tidings", which: str) -> dict[str, Any]:
    """By its id, or the one of a number."""
    from tidings_client import inbound_routes

    if which.startswith("route_"):
        return tidings.call(inbound_routes.show(which))
    found = _all(tidings, inbound=which)
    if not found:
        raise CommandError(
            f"there is no route for {shown(which)}; `tidings inbound-route list` shows those there are"
        )
    return found[0]


def _show(route: dict[str, Any], *, as_json: bool) -> None:
    print_json(route) if as_json else print(_line(route))


def _line(route: dict[str, Any]) -> str:
    marks = "  (shared accounts too)" if route["platform"] else ""
    if not route["active"]:
        marks += "  (removed)"
    elif route["grace_period_ends_at"]:
        marks += f"  (removed, works until {to_the_second(route['grace_period_ends_at'])})"
    return shown(
        f"{route['id']}  {route['inbound']:<18} v{route['version']:<4} {route['webhook_url']}{marks}"
    )


def _delivery_line(delivery: dict[str, Any]) -> str:
    answered = "" if delivery["last_status"] is None else f"  answered {delivery['last_status']}"
    said_more = delivery["last_reason"] and delivery["last_reason"] != "answered"
    why = f"  {_why(delivery['last_reason'])}" if said_more else ""
    when = delivery["next_attempt_at"]
    soon = f"  again {to_the_second(when)}" if when else ""
    return shown(
        f"{delivery['id']}  {delivery['status']:<10} {counted(delivery['attempts'], 'attempt')}"
        f"  {delivery['message_id']}{answered}{why}{soon}"
    )
