"""`tidings webhook`: which of one's own services are told of which events, and what became of that."""

from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, Output, command_group, without_none
from tidings.cli.failures import CommandError
from tidings.cli.options import moment_of
from tidings.cli.printing import counted, shown, to_the_second
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

#: Why an endpoint did not take a call, in words that help.
_REASONS = {
    "address": "it leads to an address inside our own network, where webhooks may not lead",
    "connection": "no connection could be made; look whether the name is right and the server runs",
    "timeout": "it did not answer in time",
    "tls": "no TLS connection that both sides trust could be made",
    "token": "the token server gave no access token",
    "unanswered": "it ended the connection without an answer",
    "gone": "it says that it is gone for good",
    "too_large": "the transformation leads to more than a body may have",
    "discarded": "it was discarded when the webhook was resumed",
    "unreadable": "what was to be told can't be read any more",
}
_DETAILS = (
    "condition",
    "ordered",
    "max_in_flight",
    "max_per_minute",
    "timeout_seconds",
    "disable_after",
    "header_names",
    "transform",
    "api_version",
    "customer",
    "previous_secret_until",
    "consecutive_failures",
    "last_success_at",
    "last_failure_at",
    "resting_until",
    "version",
)


def _line(webhook: JsonObject) -> str:
    why = f" ({webhook['disabled_reason']})" if webhook["disabled_reason"] else ""
    test = "  (test)" if webhook["is_test"] else ""
    failing = webhook["consecutive_failures"]
    fails = f"  {counted(failing, 'failure')} in a row" if failing else ""
    return shown(
        f"{webhook['id']}  {webhook['status']}{why:<8}  {webhook['url']}  {', '.join(webhook['events'])}{fails}{test}"
    )


def _lines(webhook: JsonObject) -> Iterator[str]:
    yield _line(webhook)
    yield from (shown(f"  {name:<21} {webhook[name]}") for name in _DETAILS if webhook.get(name))
    oauth2, tls = webhook["credentials"]["oauth2"], webhook["credentials"]["tls"]
    if oauth2:
        yield shown(f"  {'oauth2':<21} {oauth2['client_id']} at {oauth2['token_url']}")
    if tls:
        yield f"  {'client certificate':<21} {'shown' if tls['client_certificate'] else 'none'}"
    if webhook["status"] == "disabled":
        yield f"  next: mend the receiver, then `tidings webhook recover {webhook['id']} --since {webhook['disabled_at']}`"


def _made(webhook: JsonObject) -> Iterator[str]:
    yield _line(webhook)
    if webhook["secret"] is None:
        yield "  the answer to the first request had the secret; rotate it if that was lost"
    else:
        yield f"  secret: {webhook['secret']}"
        yield "  keep it somewhere safe: it is not shown again"
    yield f"  next: `tidings webhook test {webhook['id']}` calls it once"


def _portal(link: JsonObject) -> Iterator[str]:
    yield link["url"]
    whose = f"all webhooks of {link['customer']}" if link["customer"] else link["webhook_id"]
    what = "shows and changes" if link["may_change"] else "shows"
    yield shown(f"  {what} {whose}, until {to_the_second(link['expires_at'])}")
    yield "  whoever has it needs no other login; it is not shown again"


def _tried(done: JsonObject) -> str:
    if done["delivered"]:
        return f"the webhook answered {done['status']}: it takes what happens"
    if done["status"] is not None:
        return f"the webhook answered {done['status']}, and any 2xx would be a yes"
    return f"the webhook was not reached: {_why(done['reason'])}"


def _why(reason: str | None) -> str:
    return shown(_REASONS.get(reason or "", reason or "the reason is not known"))


def _delivery_line(delivery: JsonObject) -> str:
    answered = "" if delivery["last_status"] is None else f"  answered {delivery['last_status']}"
    said_more = delivery["last_reason"] and delivery["last_reason"] != "answered"
    why = f"  {_why(delivery['last_reason'])}" if said_more and delivery["status"] != "delivered" else ""
    when = delivery["next_attempt_at"] if delivery["status"] == "queued" else None
    soon = f"  again {to_the_second(when)}" if when else ""
    return shown(
        f"{delivery['id']}  {delivery['status']:<9}  {counted(delivery['attempts'], 'attempt')}  "
        f"{delivery['event_type']}  {delivery['event_id']}{answered}{why}{soon}"
    )


def _delivery(delivery: JsonObject) -> Iterator[str]:
    yield _delivery_line(delivery)
    for call in delivery["calls"]:
        what = call["status"] if call["status"] is not None else _why(call["reason"])
        yield shown(f"  {to_the_second(call['at'])}  {what}  {call['milliseconds']} ms")


@api_command(app, "redeliver")
def redeliver(
    api: Api,
    webhook_id: Annotated[str, typer.Argument(metavar="WEBHOOK", help="whs_…")],
    delivery_ids: Annotated[
        list[str] | None, typer.Argument(metavar="DELIVERY…", help="whd_…", show_default=False)
    ] = None,
    *,
    status: Annotated[str | None, typer.Option(help="delivered, dlq or any. [default: dlq]")] = None,
    event_type: Annotated[list[str] | None, typer.Option(help="Only of this type; may be repeated.")] = None,
    since: Annotated[str | None, typer.Option(help="Only since 2026-11-15T12:00:00Z.")] = None,
    until: Annotated[str | None, typer.Option(help="Only before that.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")] = False,
) -> Output:
    """Tell deliveries once more: those named, or all that fit; all that were given up, where nothing is said."""
    if status == "delivered" and since is None and not delivery_ids:
        raise CommandError("say with --since from when on: all that was ever delivered would be told again")
    wanted = without_none(
        delivery_ids=delivery_ids or None,
        status=status,
        event_types=event_type or None,
        since=_moment(since, "--since"),
        until=_moment(until, "--until"),
        dry_run=dry_run or None,
    )
    return _all(lambda: api.call("redeliver_webhook", webhook_id, body=wanted), dry_run=dry_run)


@api_command(app, "recover")
def recover(
    api: Api,
    webhook_id: Annotated[str, typer.Argument(metavar="WEBHOOK", help="whs_…")],
    *,
    since: Annotated[str, typer.Option(help="When it went away: 2026-11-15T12:00:00Z.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say how many there are.")] = False,
) -> Output:
    """Tell a webhook all that it has missed since then, each event once; one that was disabled is called again."""
    wanted = without_none(since=_moment(since, "--since"), dry_run=dry_run or None)
    return _all(lambda: api.call("recover_webhook", webhook_id, body=wanted), dry_run=dry_run)


def _moment(text: str | None, option: str) -> str | None:
    moment = moment_of(text, option)
    return None if moment is None else moment.isoformat()


def _all(order: Callable[[], JsonObject], *, dry_run: bool) -> Output:
    """Order it again while there is more."""
    some = order()
    count = int(some["redelivered"])
    while some["more"] and not dry_run:
        some = order()
        count += int(some["redelivered"])
    told = "would be told once more" if dry_run else "are told once more"
    more = "more than " if dry_run and some["more"] else ""
    lines = [f"{more}{count} {told}; {some['waiting']} wait anyway"]
    return Output({"redelivered": count, "waiting": some["waiting"], "more": some["more"]}, lines)


ResourceCommands(
    "webhooks",
    line=_line,
    lines=_lines,
    names={"redeliver": "", "recover": ""},
    empty="there is no webhook; `tidings webhook create --webhook https://… --event notification.delivered.v1` makes one",
    which="whs_…",
    help={
        "url": "The address that is called, https://…",
        "events": "A type of event, such as notification.delivered.v1 or notification.*.v1; may be repeated.",
        "condition": "Which of them: data.category = 'billing'.",
        "name": "What you call it.",
        "secret": "A secret of your own, whsec_…; one is made where it is left out.",
        "ordered": "Events of one key one after the other.",
        "headers": "A further header, X-Source=tidings; may be repeated.",
        "credentials": "A client certificate or an OAuth 2 client, as JSON.",
        "customer": "Whose endpoint it is, as you call that customer.",
        "lifetime_seconds": "For so long the link works. [default: 3600]",
        "may_change": "Whether whoever opens the link may change things, or only look.",
        "event_types": "What can be chosen there, such as notification.*.v1; may be repeated.",
        "locale": "The language of the pages. [default: what the browser asks for]",
        "embed_origins": "A site that may show the pages in a frame, https://app.example.com; may be repeated.",
        "transform": """A body of your own, as JSON: '{"text": "$.data.status"}'.""",
    },
    options={
        "url": "--webhook",
        "events": "--event",
        "headers": "--header",
        "ordered": "--ordered/--unordered",
        "discard_waiting": "--discard-waiting",
        "may_change": "--may-change/--read-only",
        "event_types": "--event",
        "embed_origins": "--embed-origin",
    },
    rows={
        "create": Row(text=_made),
        "rotate-secret": Row(text=_made),
        "pause": Row(text=_lines),
        "resume": Row(text=_lines),
        "change": Row(text=_lines),
        "test": Row(text=_tried, failed=lambda done: not done["delivered"]),
        "deliveries": Row(text=_delivery_line, lines=20),
        "delivery": Row(text=_delivery),
        "portal": Row(
            about="Make a link to the portal, to be handed to the customer whose endpoint this is.",
            text=_portal,
        ),
        "close-portal": Row(
            about="End all portal links that were made for a webhook.",
            done="its portal links lead nowhere any more",
        ),
        "delete": Row(done="{webhook_id} is told nothing more"),
    },
).add_to(app)
