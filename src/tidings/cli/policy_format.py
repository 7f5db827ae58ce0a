"""Policies in words: what commands about them read from files, and what they print."""

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidings.cli.failures import CommandError
from tidings.cli.printing import counted, diff_lines, money, shown

if TYPE_CHECKING:
    from rich.text import Text

#: What the server adds to a policy; the rest is what a file says.
_OF_THE_SERVER = (
    "id",
    "version",
    "created_at",
    "updated_at",
    "deleted_at",
    "grace_period_ends_at",
    "warnings",
)


def read_file(path: Path) -> dict[str, Any]:
    """A policy from a JSON or TOML file. What `tidings policy show --json` prints may be read again."""
    try:
        text = path.read_text(encoding="utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, UnicodeError) as error:
        raise CommandError(f"{path} can't be read: {error}") from None
    except ValueError as error:
        kind = "TOML" if path.suffix == ".toml" else "JSON (name the file .toml if it is TOML)"
        raise CommandError(f"{path} is not valid {kind}: {error}") from None
    if not isinstance(found, dict):
        raise CommandError(f"{path} must hold one policy, with use_case and ladder")
    return wish_of(found)


def wish_of(policy: Mapping[str, Any]) -> dict[str, Any]:
    """A policy as a file would say it."""
    return {name: value for name, value in policy.items() if name not in _OF_THE_SERVER}


def line_of(policy: Mapping[str, Any]) -> str:
    """A policy in one line."""
    steps = " > ".join(_way(step) for step in policy["ladder"])
    gone = "  (deleted)" if policy.get("deleted_at") else ""
    return shown(
        f"{policy['use_case']:<15}{policy['strategy']:<11} v{policy['version']:<4} {policy['id']}  {steps}{gone}"
    )


def lines_of(policy: Mapping[str, Any]) -> Iterator[str]:
    """A policy with its steps."""
    yield line_of(policy)
    if policy.get("description"):
        yield shown(f"  {policy['description']}")
    for place, step in enumerate(policy["ladder"], 1):
        yield shown(f"  {place}. {_way(step)}: {', '.join(_step_words(step))}")
    yield shown(f"  {', '.join(_whole_words(policy))}")
    if policy.get("deleted_at"):
        yield shown(
            f"  deleted {policy['deleted_at']}; can be restored until {policy['grace_period_ends_at']}"
        )
    for warning in policy.get("warnings", ()):
        yield shown(f"  warning: {warning['field']} {warning['text']}")


def version_line_of(kept: Mapping[str, Any]) -> str:
    """A version in one line."""
    policy = kept["policy"]
    what = "deleted" if policy.get("deleted_at") else " > ".join(_way(step) for step in policy["ladder"])
    return shown(f"v{kept['version']:<4} {kept['changed_at']}  {kept['changed_by']}  {what}")


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], *, names: tuple[str, str]
) -> "Iterator[Text]":
    """What differs between two policies, line by line."""
    return diff_lines(_lines(before), _lines(after), names)


def _lines(policy: Mapping[str, Any]) -> list[str]:
    return json.dumps(_whole(policy), indent=2, ensure_ascii=False, sort_keys=True).split("\n")


def _whole(policy: Mapping[str, Any]) -> dict[str, Any]:
    """With the defaults that a file may leave out, so that only what means something else differs."""
    steps = [{"retry_budget": 2, "success": "delivered", **_named(step)} for step in policy.get("ladder", ())]
    defaults: dict[str, Any] = {
        "strategy": "SEQUENTIAL",
        "order": "fixed",
        "cost_cap_currency": "USD",
        "session_ttl_seconds": 86_400,
        "value_of_a_second": 1_000 if policy.get("use_case") in {"otp", "alert"} else 100,
    }
    found = {**defaults, **_named(wish_of(policy)), "ladder": steps}
    return {name: value for name, value in found.items() if value != []}


def _named(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None and value != {}}


def _way(step: Mapping[str, Any]) -> str:
    return f"{step['channel']}/{step['vendor']}" if step.get("vendor") else str(step["channel"])


def _step_words(step: Mapping[str, Any]) -> Iterator[str]:
    yield f"until {step.get('success', 'delivered')}"
    yield f"{step['deadline_seconds']} s"
    yield counted(step.get("retry_budget", 2), "retry")
    if step.get("call_seconds") is not None:
        yield f"{step['call_seconds']:g} s a call"
    conditions = step.get("conditions") or {}
    if conditions.get("priorities"):
        yield f"for {'/'.join(conditions['priorities'])}"
    if conditions.get("prefixes"):
        yield f"to {' '.join(conditions['prefixes'])}"
    if hours := conditions.get("hours"):
        yield f"from {hours['start']} to {hours['end']} ({hours['timezone']})"
    if conditions.get("reachable"):
        yield {"known_yes": "if known to be reachable"}.get(
            conditions["reachable"], "unless known to be unreachable"
        )
    if conditions.get("online") is not None:
        yield "if their inbox is open" if conditions["online"] else "if their inbox is not open"
    if conditions.get("min_score") is not None:
        yield f"if the learned chance is {conditions['min_score']:g} or better"


def _whole_words(policy: Mapping[str, Any]) -> Iterator[str]:
    patience = policy.get("value_of_a_second")
    waits = policy["order"] == "learned" and patience is not None
    yield f"order {policy['order']}" + (f" ({patience} micros a second of waiting)" if waits else "")
    cap = policy.get("cost_cap_micros")
    yield "no cost cap" if cap is None else f"at most {money(cap, policy['cost_cap_currency'])}"
    if policy.get("stop_keywords"):
        yield f"STOP words {' '.join(policy['stop_keywords'])}"
