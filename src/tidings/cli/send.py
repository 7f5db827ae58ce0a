"""`tidings send`: a notification from the keyboard."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidings.cli.calling import Key, Tenant, Url, client
from tidings.cli.options import DataDir, Json

if TYPE_CHECKING:
    from tidings_client import Accepted, Simulation, Tidings


def send(
    to: Annotated[
        str, typer.Argument(metavar="TO", help="A recipient's id (rcp_…), a mail address or a number.")
    ],
    *,
    template: Annotated[str, typer.Option("--template", "-t", help="The template's key.")],
    var: Annotated[
        list[str] | None,
        typer.Option(
            "--var", help="NAME=TEXT, or NAME:=JSON for numbers, lists and objects; may be repeated."
        ),
    ] = None,
    variables: Annotated[
        Path | None, typer.Option("--variables", help="A file with a JSON object; - for standard input.")
    ] = None,
    channel: Annotated[
        str, typer.Option(help="email, sms, …; auto lets the tenant's ladder choose.")
    ] = "auto",
    name: Annotated[
        str | None, typer.Option("--name", help="The person's name, where TO is an address.")
    ] = None,
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
        list[Path] | None, typer.Option("--attach", help="A file that goes along; may be repeated.")
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
    as_json: Json = False,
    url: Url = None,
    key: Key = None,
    tenant: Tenant = None,
    data_dir: DataDir = None,
) -> None:
    """Send a notification; with --wait the exit code is 0 only if it was delivered."""
    from tidings.cli.typed_message import attachment, hinted, moment_of, recipient_of, variables_of

    whom = recipient_of(to, channel=channel, name=name)
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
    with client(url, key, tenant, data_dir) as tidings, hinted(var or []):
        if simulate:
            _show_simulation(tidings.simulate(whom, template, **more), as_json=as_json)
            return
        accepted = tidings.send(whom, template, idempotency_key=idempotency_key, **more)
        if not wait:
            _show_accepted(accepted, as_json=as_json)
            return
        if not as_json:
            _show_accepted(accepted, as_json=False, hint=False)
        _show_end(tidings, accepted, timeout, as_json=as_json)


def _show_accepted(accepted: "Accepted", *, as_json: bool, hint: bool = True) -> None:
    if as_json:
        _print_json(accepted)
        return
    again = " (it was accepted before)" if accepted.duplicate else ""
    print(f"{accepted.id}  {accepted.status}  for {accepted.recipient_id}{again}")
    if hint:
        print(f"`tidings explain {accepted.id}` tells what becomes of it")


def _show_simulation(found: "Simulation", *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
        return
    from tidings.cli.printing import print_lines
    from tidings.cli.story import tell_simulation

    print_lines(tell_simulation(found))


def _show_end(tidings: "Tidings", accepted: "Accepted", timeout: float, *, as_json: bool) -> None:
    import json

    from tidings.cli.printing import print_lines
    from tidings.cli.story import tell

    done = tidings.wait_until_done(accepted.id, timeout=timeout)
    story = tidings.explain(accepted.id)
    if as_json:
        print(json.dumps(story.raw, indent=2, ensure_ascii=False))
    else:
        print_lines(tell(story))
    if done.status != "delivered":
        raise SystemExit(1)


def _print_json(value: object) -> None:
    import json

    import msgspec

    print(json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False))
