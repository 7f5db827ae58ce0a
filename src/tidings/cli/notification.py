"""`tidings notification`: list them, look at one, take it back, send it again."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, JsonObject, Output, api_command
from tidings.cli.failures import CommandError
from tidings.cli.resource import add_resource

app = typer.Typer(
    help="List notifications, look at one, cancel it, send it again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Notification = Annotated[str, typer.Argument(metavar="NOTIFICATION", help="Its id, ntf_…")]


@api_command(app, "list")
def list_(
    api: Api,
    *,
    status: Annotated[str | None, typer.Option(help="Only these: queued, delivered, failed, …")] = None,
    channel: Annotated[str | None, typer.Option(help="Only those for this channel.")] = None,
    category: Annotated[str | None, typer.Option(help="Only those of this category.")] = None,
    recipient: Annotated[str | None, typer.Option(help="Only those for this person, rcp_…")] = None,
    template: Annotated[str | None, typer.Option(help="Only those with this template.")] = None,
    correlation_id: Annotated[str | None, typer.Option(help="Only those with your own number.")] = None,
    metadata: Annotated[
        str | None, typer.Option(help="NAME=VALUE, of a name that the tenant declared searchable.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many at most.", min=1, max=200)] = 20,
) -> Output:
    """List notifications, the newest first."""
    import msgspec

    from tidings.cli.found_words import next_lines, notification_lines
    from tidings_client.calls import Filter

    wanted: Filter = {
        "status": status,
        "channel": channel,
        "category": category,
        "recipient": recipient,
        "template": template,
        "correlation_id": correlation_id,
    }
    if metadata is not None:
        name, mark, value = metadata.partition("=")
        if not mark or not name or not value:
            raise CommandError(f"--metadata must be NAME=VALUE such as order_number=A-77, not {metadata!r}")
        wanted["metadata"] = {name: value}
    found = api.tidings.page(limit=limit, **wanted)
    answer = msgspec.to_builtins(found)
    if found.items:
        next_ = next_lines([f"tidings explain {found.items[0].id}"])
        return Output(answer, [*notification_lines(found.items), *next_])
    if found.next_cursor:
        return Output(answer, "none among the newest; narrow it with --recipient or --correlation-id")
    return Output(answer, "there is no such notification; `tidings find` looks by address or order number")


@api_command(app, "show")
def show(api: Api, notification: Notification) -> Output:
    """Show a notification as it stands, as JSON; `tidings explain` tells its story."""
    import json

    found = api.call("show_notification", notification)
    return Output(found, json.dumps(found, indent=2, ensure_ascii=False))


@api_command(app, "cancel")
def cancel(api: Api, notification: Notification) -> Output:
    """Take a notification back while it is queued or scheduled."""
    found = api.call("cancel_notification", notification)
    return Output(found, f"{found['id']} is {found['status']}")


def _released(found: JsonObject) -> str:
    return f"{found['id']} is sent now; `tidings explain {found['id']}` tells what becomes of it"


@api_command(app, "release", text=_released)
def release(api: Api, notification: Notification) -> JsonObject:
    """Send a notification now that waits for quiet hours, a limit or its time; every other gate is asked as before."""
    return api.call("release_notification", notification)


@api_command(app, "resend")
def resend(
    api: Api,
    notification: Notification,
    *,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Sending again with the same key does nothing new.")
    ] = None,
) -> Output:
    """Send a notification once more to the same recipient: a new one, from the words of the old one."""
    made = api.call("resend_notification", notification, key=idempotency_key)
    first = f"{made['id']}  {made['status']}  for {made['recipient_id']}, instead of {notification}"
    return Output(made, [first, f"`tidings explain {made['id']}` tells what becomes of it"])


add_resource(
    app,
    "notifications",
    # `tidings send`, `find` and `explain` do these.
    names={"create": "", "simulate": "", "lookup": "", "explain": ""},
)
