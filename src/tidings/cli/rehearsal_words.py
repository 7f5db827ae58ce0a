"""A rehearsal in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidings.cli.printing import shown


def lines_of(found: Mapping[str, Any]) -> Iterator[str]:
    """What would happen, step by step."""
    yield shown(f"{_by(found)}: {_would(found)}")
    for step in found["steps"]:
        yield shown(f"  {step['step']}. {step['channel']}: {_step(step, found.get('currency'))}")
    end = found["if_nothing_answers"]
    if end.get("result"):
        said = end.get("reason") or end.get("evidence")
        why = f" ({said})" if said else ""
        yield shown(f"  if nothing answers: {end['result']}{why} {end['at']}")
    if found.get("currency"):
        cap = found.get("cost_cap_micros")
        of = "no cap" if cap is None else f"the cap is {_money(cap, found['currency'])}"
        yield shown(f"  at most {_money(found['worst_case_micros'], found['currency'])}; {of}")
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
    if found["would"] == "send":
        return "it would go out now"
    if found["would"] == "defer":
        return f"it would wait until {found['until']} ({found['reason']})"
    return f"it would not be sent ({found['reason']})"


def _step(step: Mapping[str, Any], currency: str | None) -> str:
    cost = step.get("cost_micros")
    price = f", {_money(cost, currency)} a call" if cost else ""
    chance = f", arrives with a chance of {step['chance']:.2f}" if step.get("chance") is not None else ""
    if step["would"] == "skip":
        return f"skipped ({step['reason']})"
    if step["would"] == "not_reached":
        return f"not reached{price}{chance}"
    return f"{step['vendor']} from {step['begins_at']} to {step['ends_at']}{price}{chance}"


def _money(micros: int, currency: str | None) -> str:
    return f"{micros / 1_000_000:g} {currency or ''}".rstrip()
