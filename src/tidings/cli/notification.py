"""`tidings notification`: list them, look at one, take it back, send it again."""

from typing import Annotated

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.failures import CommandError
from tidings.cli.options import DataDir, Json

app = typer.Typer(
    help="List notifications, look at one, cancel it, send it again.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Notification = Annotated[str, typer.Argument(metavar="NOTIFICATION", help="Its id, ntf_…")]


@app.command("list")
def list_(
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
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """List notifications, the newest first."""
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
    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.page(limit=limit, **wanted)
    if as_json:
        import msgspec

        from tidings.cli.printing import print_json

        print_json(msgspec.to_builtins(found))
        return
    from tidings.cli.found_words import next_lines, notification_lines
    from tidings.cli.printing import print_lines

    if found.items:
        print_lines([*notification_lines(found.items), *next_lines([f"tidings explain {found.items[0].id}"])])
    elif found.next_cursor:
        print("none among the newest; narrow it with --recipient or --correlation-id")
    else:
        print("there is no such notification; `tidings find` looks by address or order number")


@app.command("show")
def show(
    notification: Notification,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Show a notification as it stands, as JSON; `tidings explain` tells its story."""
    import msgspec

    from tidings.cli.printing import print_json

    with client(url, key, tenant, data_dir) as tidings:
        print_json(msgspec.to_builtins(tidings.get(notification)))


@app.command("cancel")
def cancel(
    notification: Notification,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Take a notification back while it is queued or scheduled."""
    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.cancel(notification)
    print(f"{found.id} is {found.status}")


@app.command("release")
def release(
    notification: Notification,
    *,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Send a notification now that waits for quiet hours, a limit or its time; every other gate is asked as before."""
    with client(url, key, tenant, data_dir) as tidings:
        found = tidings.release(notification)
    print(f"{found.id} is sent now; `tidings explain {found.id}` tells what becomes of it")


@app.command("resend")
def resend(
    notification: Notification,
    *,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Sending again with the same key does nothing new.")
    ] = None,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Send a notification once more to the same recipient: a new one, from the words of the old one."""
    with client(url, key, tenant, data_dir) as tidings:
        made = tidings.resend(notification, idempotency_key=idempotency_key)
    print(f"{made.id}  {made.status}  for {made.recipient_id}, instead of {notification}")
    print(f"`tidings explain {made.id}` tells what becomes of it")
