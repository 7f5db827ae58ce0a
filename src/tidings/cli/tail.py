"""`tidings tail`: what happens to notifications, as it happens."""

import time
from typing import TYPE_CHECKING, Annotated

import typer

from tidings.cli.api_command import Api, api_command

if TYPE_CHECKING:
    from tidings_client import Notification

_EVERY_SECONDS = 0.5


@api_command(None, "tail")
def tail(
    api: Api,
    *,
    status: Annotated[str | None, typer.Option(help="Only these: queued, delivered, failed, …")] = None,
    channel: Annotated[str | None, typer.Option(help="Only those for this channel.")] = None,
    category: Annotated[str | None, typer.Option(help="Only those of this category.")] = None,
    recipient: Annotated[str | None, typer.Option(help="Only those for this person, rcp_…")] = None,
    template: Annotated[str | None, typer.Option(help="Only those with this template.")] = None,
    lines: Annotated[int, typer.Option("-n", "--lines", help="How many to begin with.", min=0, max=200)] = 10,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Go on until Ctrl-C, or show what is there and end.")
    ] = True,
) -> None:
    """Show notifications as they are accepted and as they move on; a line for each change of status."""
    import sys

    from tidings.cli.notification_poller import NotificationPoller
    from tidings_client import NotReachedError, UnavailableError
    from tidings_client.calls import Filter

    wanted: Filter = {
        "status": status,
        "channel": channel,
        "category": category,
        "recipient": recipient,
        "template": template,
    }
    away = False
    poller = NotificationPoller(api.tidings, wanted)
    try:
        for one in poller.begin(lines):
            _show(one, as_json=api.as_json)
        while follow:
            time.sleep(_EVERY_SECONDS)
            try:
                for one in poller.poll():
                    _show(one, as_json=api.as_json)
                away = False
            except (NotReachedError, UnavailableError) as error:
                if not away:
                    print(f"tidings: {error}; trying again …", file=sys.stderr)
                away = True
    except BrokenPipeError:
        # The reader of the pipe has ended, as in `tidings tail | head`.
        sys.stderr.close()


def _show(one: "Notification", *, as_json: bool) -> None:
    if as_json:
        import msgspec

        print(msgspec.json.encode(one).decode(), flush=True)
        return
    from tidings.cli.explanation_format import moment
    from tidings.cli.printing import print_lines
    from tidings.cli.search_format import notification_line

    at = moment(one.updated_at or one.created_at)
    print_lines([notification_line(one, at, f"{one.recipient_id}  {one.id}")])
