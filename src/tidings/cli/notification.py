"""`tidings notification`: list them, look at one, take it back, send it again."""

from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import Output, command_group
from tidings.cli.failures import CommandError
from tidings.cli.printing import json_text
from tidings.cli.resource import ResourceCommands, Row

app = command_group()

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

    from tidings.cli.search_format import next_lines, notification_lines
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


ResourceCommands(
    "notifications",
    # `tidings send`, `find` and `explain` do these.
    names={"create": "", "simulate": "", "lookup": "", "explain": ""},
    which="Its id, ntf_…",
    rows={
        "show": Row(
            about="Show a notification as it stands, as JSON; `tidings explain` tells its story.",
            text=json_text,
        ),
        "cancel": Row(text=lambda found: f"{found['id']} is {found['status']}"),
        "release": Row(
            about="Send a notification now that waits for quiet hours, a limit or its time; every other gate is asked as before.",
            text=lambda found: (
                f"{found['id']} is sent now; `tidings explain {found['id']}` tells what becomes of it"
            ),
        ),
    },
).add_to(app)
