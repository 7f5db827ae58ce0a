"""A simulation in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidings.cli.printing import money, shown, to_the_second


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
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


def _by(found: Mapping[str, Any]) -> str:
    if found["by"] == "policy":
        return f"{found['use_case']} by {found['policy_id']} v{found['policy_version']}"
    return (
        f"{found['use_case']} by the draft"
        if found["by"] == "draft"
        else f"{found['use_case']} without a policy"
    )


def _would(found: Mapping[str, Any]) -> str:
    if found["would"] != "stop" and not any(step["would"] == "call" for step in found["steps"]):
        end = found["if_nothing_answers"]
        return f"it would reach nobody ({end.get('reason') or found['reason'] or 'no step can be taken'})"
    if found["would"] == "send":
        return "it would go out now"
    if found["would"] == "defer":
        return f"it would wait until {to_the_second(found['until'])} ({found['reason']})"
    return f"it would not be sent ({found['reason']})"


def _step(step: Mapping[str, Any]) -> str:
    cost = step.get("cost_micros")
    price = f", {money(cost, step.get('cost_currency'))} a call" if cost else ""
    chance = f", arrives with a chance of {step['chance']:.2f}" if step.get("chance") is not None else ""
    if step["would"] == "skip":
        return f"skipped ({step['reason']})"
    if step["would"] == "not_reached":
        return f"not reached{price}{chance}"
    begins, ends = to_the_second(step["begins_at"]), to_the_second(step["ends_at"])
    return f"{step['vendor']} from {begins} to {ends}{price}{chance}"
