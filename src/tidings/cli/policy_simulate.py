"""`tidings policy simulate`: what would happen to a message now, step by step, at what cost."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject, without_none
from tidings.cli.failures import CommandError
from tidings.cli.printing import money, shown, to_the_second


def _lines(found: JsonObject) -> Iterator[str]:
    """What would happen, step by step."""
    yield shown(f"{_by(found)}: {_would(found)}")
    for step in found["steps"]:
        yield shown(f"  {step['step']}. {step['channel']}: {_step(step)}")
    end = found["if_nothing_answers"]
    if end.get("result"):
        said = end.get("reason") or end.get("evidence")
        why = f" ({said})" if said else ""
        yield shown(f"  if nothing answers: {end['result']}{why} {to_the_second(end['at'])}")
    if found.get("currency"):
        cap = found.get("cost_cap_micros")
        of = "no cap" if cap is None else f"the cap is {money(cap, found['currency'])}"
        yield shown(f"  at most {money(found['worst_case_micros'], found['currency'])}; {of}")
    yield from (shown(f"  warning: {one['field']} {one['text']}") for one in found.get("warnings", ()))
    yield from (shown(f"  {note}") for note in found.get("notes", ()))


def _by(found: JsonObject) -> str:
    if found["by"] == "policy":
        return f"{found['use_case']} by {found['policy_id']} v{found['policy_version']}"
    return (
        f"{found['use_case']} by the draft"
        if found["by"] == "draft"
        else f"{found['use_case']} without a policy"
    )


def _would(found: JsonObject) -> str:
    if found["would"] != "stop" and not any(step["would"] == "call" for step in found["steps"]):
        end = found["if_nothing_answers"]
        return f"it would reach nobody ({end.get('reason') or found['reason'] or 'no step can be taken'})"
    if found["would"] == "send":
        return "it would go out now"
    if found["would"] == "defer":
        return f"it would wait until {to_the_second(found['until'])} ({found['reason']})"
    return f"it would not be sent ({found['reason']})"


def _step(step: JsonObject) -> str:
    cost = step.get("cost_micros")
    price = f", {money(cost, step.get('cost_currency'))} a call" if cost else ""
    chance = f", arrives with a chance of {step['chance']:.2f}" if step.get("chance") is not None else ""
    if step["would"] == "skip":
        return f"skipped ({step['reason']})"
    if step["would"] == "not_reached":
        return f"not reached{price}{chance}"
    begins, ends = to_the_second(step["begins_at"]), to_the_second(step["ends_at"])
    return f"{step['vendor']} from {begins} to {ends}{price}{chance}"


@api_command(None, "simulate", text=_lines)
def simulate(
    api: Api,
    to: Annotated[str, typer.Argument(help="rcp_…, a mail address or a number.")],
    template: Annotated[str, typer.Argument(help="A template's key.")],
    *,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy", "-p", help="A draft in a file. [default: the policy in force]", dir_okay=False
        ),
    ] = None,
    var: Annotated[list[str] | None, typer.Option(help="NAME=TEXT or NAME:=JSON; may be repeated.")] = None,
    variables: Annotated[Path | None, typer.Option(help="A JSON file with variables; - for stdin.")] = None,
    use_case: Annotated[str | None, typer.Option(help="Default: the draft's, or the category's.")] = None,
    priority: Annotated[str | None, typer.Option(help="critical, high, normal or low.")] = None,
) -> JsonObject:
    """Say what would happen to a message now, step by step; nothing is written or sent."""
    import msgspec

    from tidings.cli.message_options import recipient_of, variables_of
    from tidings.cli.policy_format import read_file

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
