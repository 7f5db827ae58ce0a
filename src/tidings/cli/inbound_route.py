"""`tidings inbound-route`: which webhook is called with what people write, and what became of the calls."""

from collections.abc import Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.options import Lines, moment_of
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

#: Why a webhook was not reached, in words that help an operator.
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
    return _REASONS.get(reason or "", reason or "the reason is not known")


def _line(route: JsonObject) -> str:
    marks = "  (shared accounts too)" if route["platform"] else ""
    if not route["active"]:
        marks += "  (removed)"
    elif route["grace_period_ends_at"]:
        marks += f"  (removed, works until {to_the_second(route['grace_period_ends_at'])})"
    return shown(
        f"{route['id']}  {route['inbound']:<18} v{route['version']:<4} {route['webhook_url']}{marks}"
    )


def _added(route: JsonObject) -> Iterator[str]:
    yield _line(route)
    if not route["platform"]:
        yield "  it takes what comes over your own accounts, and answers in your own conversations;"
        yield "  what others write to the number over shared accounts is yours if an operator says so"
    yield f"  next: `tidings inbound-route test {shown(route['inbound'])}` calls the webhook once"


def _removed(route: JsonObject) -> str:
    if not route["active"]:
        return shown(f"{route['id']} is removed, and {route['inbound']} is free")
    until = to_the_second(route["grace_period_ends_at"])
    again = f"`tidings inbound-route restore {route['inbound']}` brings it back"
    return shown(f"{route['id']} works until {until}; {again}")


def _tried(done: JsonObject) -> str:
    if done["delivered"]:
        return f"the webhook answered {done['status']}: it takes what people write"
    if done["status"] is not None:
        return f"the webhook answered {done['status']}, and any 2xx would be a yes"
    return shown(f"the webhook was not reached: {_why(done['reason'])}")


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


def _changed(known: JsonObject, changes: JsonObject) -> JsonObject:
    return {"webhook_url": known["webhook_url"], "secret_ref": known["secret_ref"], **changes}


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


@api_command(app, "deliveries", text=_delivery_line)
def deliveries(
    api: Api,
    *,
    status: Annotated[str | None, typer.Option(help="pending, delivered or dead.")] = None,
    route: Annotated[
        str | None, typer.Option(help="Only of this route: route_…, its number, or '*'.")
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
        str | None, typer.Option(help="All dead ones of this route: route_…, its number, or '*'.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All dead ones.")] = False,
    since: Annotated[
        str | None, typer.Option(help="With --route or --all: only those since 2026-11-15T12:00:00Z.")
    ] = None,
) -> Output:
    """Call the webhook once more, at once and then for a day."""
    if [bool(delivery_ids), route is not None, everything].count(True) != 1 or (since and delivery_ids):
        raise CommandError(
            "name the deliveries by their ids, or else all dead ones with --route ROUTE or --all [--since …], one of the three"
        )
    moment = moment_of(since, "--since")
    if delivery_ids:
        done = [api.call("redeliver_inbound", one) for one in delivery_ids]
        return Output(done, [_delivery_line(one) for one in done])
    which = None if route is None else _found(api, route)["id"]
    wanted = without_none(route=which, since=moment and moment.isoformat())
    count, more = 0, True
    while more:
        some = api.call("redeliver_dead", body=wanted)
        count, more = count + int(some["redelivered"]), some["more"]
    none = (
        "there is none to deliver again; `tidings inbound-route deliveries --status dead` "
        "shows what was given up, and why"
    )
    return Output({"redelivered": count}, [*([] if count else [none]), f"redelivered: {count}"])


ResourceCommands(
    "inbound-routes",
    names={
        "create": "add",
        "put": "change",
        "delete": "remove",
        "redeliver-deliveries": "redeliver",
        "redeliver-delivery": "redeliver",
    },
    line=_line,
    lines=_line,
    empty="there is none; what people write is kept in conversations, and no webhook is called",
    which="route_…, or the number that is written to, or '*'.",
    look_up=_found,
    options={"webhook_url": "--webhook", "platform": "--platform/--no-platform"},
    help={
        "webhook_url": "The address that is called, https://…",
        "secret_ref": "Where the secret that signs is: sealed://…, file://… or vault://…",
    },
    rows={
        "list": Row(lines=None),
        "create": Row(
            about="Call a webhook with what people write to a number.",
            arguments=["inbound"],
            help={"platform": "Also over accounts that all tenants share; with a key of the platform."},
            text=_added,
        ),
        "put": Row(
            about="Call another address, or sign with another secret; what waits goes there too.",
            help={
                "platform": "Give the tenant the number over accounts that all share, or take it back; "
                "with a key of the platform.",
            },
            without=["inbound"],
            merge=_changed,
        ),
        "delete": Row(text=_removed),
        "test": Row(
            about="Call the webhook once with a signed message that nobody wrote. The exit code is 1 if it does not take it.",
            text=_tried,
            failed=lambda done: not done["delivered"],
        ),
    },
).add_to(app)
