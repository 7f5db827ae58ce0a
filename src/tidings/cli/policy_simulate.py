"""`tidings policy simulate`: what would happen to a message now, step by step, at what cost."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, JsonObject, api_command, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import shown
from tidings.cli.simulation_words import lines_of


@api_command(None, "simulate", text=lines_of)
def simulate(
    api: Api,
    to: Annotated[str, typer.Argument(metavar="TO", help="rcp_…, a mail address or a number.")],
    template: Annotated[str, typer.Argument(metavar="TEMPLATE", help="A template's key.")],
    *,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", help="A draft in a file. [default: the policy in force]", dir_okay=False
        ),
    ] = None,
    var: Annotated[
        list[str] | None, typer.Option("--var", help="NAME=TEXT or NAME:=JSON; may be repeated.")
    ] = None,
    variables: Annotated[
        Path | None, typer.Option("--variables", help="A JSON file with variables; - for stdin.")
    ] = None,
    use_case: Annotated[
        str | None, typer.Option("--use-case", help="Default: the draft's, or the category's.")
    ] = None,
    priority: Annotated[str | None, typer.Option(help="critical, high, normal or low.")] = None,
) -> JsonObject:
    """Say what would happen to a message now, step by step; nothing is written or sent."""
    import msgspec

    from tidings.cli.policy_words import read_file
    from tidings.cli.typed_message import recipient_of, variables_of

    if not to.startswith("rcp_") and "@" not in to and not to.startswith("+"):
        raise CommandError(
            f"{shown(to)} is no recipient's id (rcp_…), mail address or number such as +93700123456"
        )
    draft = read_file(policy) if policy is not None else None
    wish: dict[str, Any] = {
        "recipient": msgspec.to_builtins(recipient_of(to, channel="auto", name=None)),
        "template": template,
        "variables": variables_of(var or [], variables),
        "use_case": use_case or (draft or {}).get("use_case"),
        "priority": priority,
        "policy": draft,
    }
    return api.call("simulate_policy", body=without_none(**wish))
