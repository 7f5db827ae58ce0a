"""`tidings send`: a notification from the keyboard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import Output

if TYPE_CHECKING:
    from tidings_client import Accepted


@api_command(None, "send")
def send(
    api: Api,
    to: Annotated[str, typer.Argument(help="A recipient's id (rcp_…), a mail address or a number.")],
    *,
    template: Annotated[str, typer.Option("--template", "-t", help="The template's key.")],
    var: Annotated[
        list[str] | None,
        typer.Option(help="NAME=TEXT, or NAME:=JSON for numbers, lists and objects; may be repeated."),
    ] = None,
    variables: Annotated[
        Path | None, typer.Option(help="A file with a JSON object; - for standard input.")
    ] = None,
    channel: Annotated[
        str, typer.Option(help="email, sms, …; auto lets the tenant's ladder choose.")
    ] = "auto",
    name: Annotated[str | None, typer.Option(help="The person's name, where TO is an address.")] = None,
    locale: Annotated[
        str | None, typer.Option(help="A language such as fa-AF; default: the person's.")
    ] = None,
    category: Annotated[str | None, typer.Option(help="Default: the template's.")] = None,
    use_case: Annotated[
        str | None,
        typer.Option(
            help="otp, txn, marketing, alert or conversational: which policy; default: the category's."
        ),
    ] = None,
    priority: Annotated[str | None, typer.Option(help="critical, high, normal or low.")] = None,
    schedule: Annotated[
        str | None, typer.Option(help="When to send: 2026-12-01T09:00+04:30, or in how long: 10m, 2h, 1d.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it is no longer worth sending; as --schedule.")
    ] = None,
    attach: Annotated[
        list[Path] | None, typer.Option(help="A file that goes along; may be repeated.")
    ] = None,
    correlation_id: Annotated[str | None, typer.Option(help="Your own word for it; found by later.")] = None,
    idempotency_key: Annotated[
        str | None, typer.Option(help="Sending again with the same key does nothing new.")
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="Say what would happen; send nothing.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait and show what became of it.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds that --wait waits at most.", min=0)] = 30.0,
) -> Output:
    """Send a notification; with --wait the exit code is 0 only if it was delivered."""
    import msgspec

    from tidings.cli.explanation_format import explanation_lines, simulation_lines
    from tidings.cli.message_options import attachment, hinted, moment_of, recipient_of, variables_of

    recipient = recipient_of(to, channel=channel, name=name)
    more: dict[str, Any] = {
        "channel": channel,
        "variables": variables_of(var or [], variables),
        "locale": locale,
        "category": category,
        "use_case": use_case,
        "priority": priority,
        "scheduled_for": moment_of(schedule, "--schedule"),
        "expires_at": moment_of(expires, "--expires"),
        "correlation_id": correlation_id,
        "attachments": tuple(attachment(file) for file in attach or []),
    }
    with hinted(var or []):
        if simulate:
            found = api.tidings.simulate(recipient, template, **more)
            return Output(msgspec.to_builtins(found), simulation_lines(found))
        accepted = api.tidings.send(recipient, template, idempotency_key=idempotency_key, **more)
        if not wait:
            hint = f"`tidings explain {accepted.id}` tells what becomes of it"
            return Output(msgspec.to_builtins(accepted), [_line(accepted), hint])
        if not api.as_json:
            print(_line(accepted))
        done = api.tidings.wait_until_done(accepted.id, timeout=timeout)
        story = api.tidings.explain(accepted.id)
        api.exit_code = int(done.status != "delivered")
        return Output(story.raw, explanation_lines(story))


def _line(accepted: "Accepted") -> str:
    again = " (it was accepted before)" if accepted.duplicate else ""
    return f"{accepted.id}  {accepted.status}  for {accepted.recipient_id}{again}"
