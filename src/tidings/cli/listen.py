"""`tidings listen`: a tenant's events come to a developer's machine, as signed webhooks or as text; nothing is set up on the server."""

import sys
from contextlib import nullcontext
from typing import Annotated

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.failures import CommandError


@api_command(None, "listen")
def listen(
    api: Api,
    *,
    forward_to: Annotated[
        str | None,
        typer.Option(
            "--forward-to", help="Your server: http://localhost:3000/hooks. [default: print the bodies]"
        ),
    ] = None,
    event: Annotated[
        list[str] | None,
        typer.Option(
            "--event",
            help="A type: notification.delivered.v1, notification.*.v1 (one word), notification.> (the rest); may be repeated. [default: all]",
        ),
    ] = None,
    condition: Annotated[str | None, typer.Option(help="Which of them: data.category = 'billing'.")] = None,
    webhook: Annotated[
        str | None,
        typer.Option("--webhook", help="Take types, condition and transformation of this webhook, whs_…"),
    ] = None,
    header: Annotated[
        list[str] | None,
        typer.Option("--header", help="A further header, X-Source=tidings; may be repeated."),
    ] = None,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="Begin with the oldest event that is kept: seven days.")
    ] = False,
    since: Annotated[str | None, typer.Option(help="Begin then: 2026-11-15T12:00:00Z.")] = None,
    after: Annotated[
        str | None, typer.Option(help="Begin behind a cursor that was printed at the end.")
    ] = None,
    resend: Annotated[str | None, typer.Option("--resend", help="Only this event, evt_…, once more.")] = None,
    show_bodies: Annotated[bool, typer.Option("--print", help="Show the bodies as well.")] = False,
    follow: Annotated[
        bool, typer.Option("--follow/--no-follow", help="Go on until Ctrl-C, or end with the last event.")
    ] = True,
) -> None:
    """Forward events to your own machine as signed webhooks, without a public address; or print them."""
    from tidings.cli.listen_feed import ListenFeed, filter_of
    from tidings.cli.listen_format import ListenPrinter, say
    from tidings.cli.listen_forwarding import LocalForwarder, checked_address, kept_secret, printed
    from tidings.cli.options import moment_of
    from tidings.kernel import logs
    from tidings.settings import load

    # What becomes of a call is printed here, and once.
    logs.configure(level="warning")

    if sum((from_beginning, since is not None, after is not None, resend is not None)) > 1:
        raise CommandError("choose one of --from-beginning, --since, --after and --resend")
    if webhook is not None and (event or condition):
        raise CommandError("a webhook has its own types and condition; leave out --event and --condition")
    headers = _headers(header or [])
    wanted, transform = filter_of(api, event, condition, webhook)
    begins = moment_of(since, "--since")
    if after is None:
        after = "now" if follow and not (from_beginning or since or resend) else "beginning"
    feed = ListenFeed(api, after, wanted, follow=follow and resend is None)
    shows = ListenPrinter(as_json=api.as_json, bodies=show_bodies or forward_to is None)
    forwarder = None
    if forward_to is not None:
        secret = kept_secret(load(TIDINGS_DATA_DIR=api.data_dir).data_dir)
        forwarder = LocalForwarder(
            url=checked_address(forward_to),
            secret=secret,
            headers=headers,
            transform=transform,
            say=say,
        )
        say(f"forwarding to {forwarder.url}; verify with the secret {secret}")
    try:
        with forwarder or nullcontext():
            for one in feed.events():
                if resend is not None and one.id != resend:
                    continue
                if begins is not None and one.time < begins:
                    continue
                shows.show(printed(one, transform) if forwarder is None else forwarder.forward(one))
                if resend is not None:
                    break
    except KeyboardInterrupt:
        print(file=sys.stderr)
    except BrokenPipeError:
        # The reader of the pipe has ended, as in `tidings listen | head`.
        sys.stderr.close()
        return
    if resend is not None and not shows.count:
        raise CommandError(
            f"there is no event {resend} that fits and is kept; events are kept for seven days"
        )
    say(shows.summary(forwards=forwarder is not None))
    if follow and resend is None and (place := feed.place()) != "now":
        say(f"`tidings listen --after {place}` goes on from here")
    api.exit_code = int(resend is not None and not shows.count["taken"])


def _headers(given: list[str]) -> dict[str, str]:
    from tidings.notify.webhooks.faults import wrong_headers

    pairs = [text.partition("=") for text in given]
    if any(not between for _, between, _ in pairs):
        raise CommandError("--header must be NAME=VALUE, such as X-Source=tidings")
    headers = {name: value for name, _, value in pairs}
    if wrong := wrong_headers(headers):
        raise CommandError(f"--header {wrong[0].field.removeprefix('headers.')} {wrong[0].remedy}")
    return headers
