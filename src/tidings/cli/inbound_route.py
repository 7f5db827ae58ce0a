"""`tidings inbound-route`: which webhook is told what people write, and what was told."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command, without_none
from tidings.cli.failures import CommandError
from tidings.cli.options import Lines, moment_of
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import add_resource

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


def _line(route: JsonObject) -> str:
    marks = "  (shared accounts too)" if route["platform"] else ""
    if not route["active"]:
        marks += "  (removed)"
    elif route["grace_period_ends_at"]:
        marks += f"  (removed, works until {to_the_second(route['grace_period_ends_at'])})"
    return shown(
        f"{route['id']}  {route['inbound']:<18} v{route['version']:<4} {route['webhook_url']}{marks}"
    )


def _delivery_line(delivery: JsonObject) -> str:
    answered = "" if delivery["last_status"] is None else f"  answered {delivery['last_status']}"
    said_more = delivery["last_reason"] and delivery["last_reason"] != "answered"
    why = f"  {_why(delivery['last_reason'])}" if said_more else ""
    when = delivery["next_attempt_at"]
    soon = f"  again {to_the_second(when)}" if when else ""
    return shown(
        f"{delivery['id']}  {delivery['status']:<10} {counted(delivery['attempts'], 'attempt')}"
        f"  {delivery['message_id']}{answered}{why}{soon}"
    )


@api_command(
    app,
    "list",
    text=_line,
    empty="there is none; what people write is kept in conversations, and no webhook is called",
)
def list_(
    api: Api,
    *,
    removed: Annotated[bool, typer.Option("--removed", help="Those whose grace is over too.")] = False,
) -> list[JsonObject]:
    """Show all routes, one line each."""
    return api.list_all("list_inbound_routes", removed=removed or None)


@api_command(app, "show", text=_line)
def show(api: Api, which: Which) -> JsonObject:
    """Show one."""
    return _found(api, which)


@api_command(app, "add")
def add(
    api: Api,
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
) -> Output:
    """Tell a webhook what people write to a number."""
    api.platform_key = platform
    body = without_none(
        inbound=inbound, webhook_url=webhook, secret_ref=secret_ref, platform=platform or None
    )
    made = api.call("create_inbound_route", body=body)
    lines = [_line(made)]
    if not made["platform"]:
        lines += [
            "  it takes what comes over your own accounts, and answers in your own conversations;",
            "  what others write to the number over shared accounts is yours if an operator says so",
        ]
    lines.append(f"  next: `tidings inbound-route test {shown(made['inbound'])}` calls the webhook once")
    return Output(made, lines)


@api_command(app, "change", text=_line)
def change(
    api: Api,
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
) -> JsonObject:
    """Call another address, or sign with another secret; what waits goes there too."""
    if webhook is None and secret_ref is None and platform is None:
        raise CommandError("say what is to change: --webhook, --secret-ref, or --platform")
    api.platform_key = platform is not None
    known = _found(api, which)
    body = {
        "webhook_url": webhook or known["webhook_url"],
        "secret_ref": secret_ref or known["secret_ref"],
        **without_none(platform=platform),
    }
    return api.call("put_inbound_route", known["id"], body=body, if_match=known["version"])


@api_command(app, "remove")
def remove(
    api: Api,
    which: Which,
    *,
    grace_seconds: Annotated[
        int | None,
        typer.Option(
            "--grace-seconds", help="How long it goes on working. [default: a day]", min=0, max=2_592_000
        ),
    ] = None,
) -> Output:
    """Remove one; it goes on working, and can be restored, until its grace is over."""
    known = _found(api, which)
    query = {"grace_seconds": grace_seconds}
    done = api.call("remove_inbound_route", known["id"], query=query, if_match=known["version"])
    if not done["active"]:
        return Output(done, shown(f"{done['id']} is removed, and {done['inbound']} is free"))
    until = to_the_second(done["grace_period_ends_at"])
    again = f"`tidings inbound-route restore {done['inbound']}` brings it back"
    return Output(done, shown(f"{done['id']} works until {until}; {again}"))


@api_command(app, "restore", text=_line)
def restore(api: Api, which: Which) -> JsonObject:
    """Bring a removed one back, as long as its grace lasts."""
    return api.call("restore_inbound_route", _found(api, which)["id"])


def _tried(done: JsonObject) -> str:
    if done["delivered"]:
        return f"the webhook answered {done['status']}: it takes what people write"
    if done["status"] is not None:
        return f"the webhook answered {done['status']}, and any 2xx would be a yes"
    return shown(f"the webhook was not reached: {_why(done['reason'])}")


@api_command(app, "test", text=_tried)
def try_out(api: Api, which: Which) -> JsonObject:
    """Call the webhook once with a signed message that nobody wrote. The exit code is 1 if it does not take it."""
    done = api.call("try_inbound_route", _found(api, which)["id"])
    api.exit_code = int(not done["delivered"])
    return done


@api_command(app, "deliveries", text=_delivery_line)
def deliveries(
    api: Api,
    *,
    status: Annotated[str | None, typer.Option("--status", help="pending, delivered or dead.")] = None,
    route: Annotated[
        str | None, typer.Option("--route", help="Only of this route: route_…, its number, or '*'.")
    ] = None,
    lines: Lines = 20,
) -> list[JsonObject]:
    """Show webhook calls, made or pending, the newest first, one line each."""
    which = None if route is None else _found(api, route)["id"]
    return api.list_all("list_inbound_deliveries", most=lines, status=status, route=which)


@api_command(app, "redeliver")
def redeliver(
    api: Api,
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
) -> Output:
    """Tell the webhook once more, at once and then for a day."""
    if [bool(delivery_ids), route is not None, everything].count(True) != 1 or (since and delivery_ids):
        raise CommandError(
            "name the deliveries by their ids, or else all dead ones with --route ROUTE or --all [--since …], one of the three"
        )
    moment = moment_of(since, "--since")
    if delivery_ids:
        done = [api.call("redeliver_inbound", one) for one in delivery_ids]
        return Output(done, [_delivery_line(one) for one in done])
    which = None if route is None else _found(api, route)["id"]
    count = _redeliver_dead(api, without_none(route=which, since=moment and moment.isoformat()))
    none = (
        "there is none to deliver again; `tidings inbound-route deliveries --status dead` "
        "shows what was given up, and why"
    )
    return Output({"redelivered": count}, [*([] if count else [none]), f"redelivered: {count}"])


def _redeliver_dead(api: Api, wanted: JsonObject) -> int:
    """All of them, however often it has to be ordered."""
    count = 0
    while True:
        done = api.call("redeliver_dead", body=wanted)
        count += int(done["redelivered"])
        if not done["more"]:
            return count


def _found(api: Api, which: str) -> JsonObject:
    """By its id, or the one of a number."""
    if which.startswith("route_"):
        return api.call("show_inbound_route", which)
    found = api.list_all("list_inbound_routes", inbound=which)
    if not found:
        raise CommandError(
            f"there is no route for {shown(which)}; `tidings inbound-route list` shows those there are"
        )
    return found[0]


add_resource(
    app,
    "inbound-routes",
    names={
        "create": "add",
        "put": "change",
        "delete": "remove",
        "redeliver-deliveries": "redeliver",
        "redeliver-delivery": "redeliver",
    },
)
