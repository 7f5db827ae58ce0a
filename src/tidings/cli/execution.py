"""`tidings execution`: how messages go, or went, through their ladders; one line each, or one with its attempts and receipts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidings.cli.printing import money, shown
from tidings.cli.resource import ResourceCommands, Row

_STATES = {
    "not_begun": "not begun",
    "awaiting_receipt": "awaiting its receipt",
    "calling": "calling",
    "waiting": "waiting",
    "reached": "reached",
    "left": "left",
    "skipped": "skipped",
}


def _line(execution: Mapping[str, Any]) -> str:
    """An execution in one line."""
    end = execution.get("outcome") or "under way"
    channel = f" by {execution['final_channel']}" if execution.get("final_channel") else ""
    return shown(
        f"{execution['started_at']}  {execution['id']}  {execution['use_case']:<15}{end}{channel}  "
        f"{_costs(execution['costs'])}"
    ).rstrip()


def _lines(execution: Mapping[str, Any]) -> Iterator[str]:
    """An execution with all that is known of it."""
    yield _line(execution)
    yield shown(f"  {execution['notification_id']} to {execution['recipient_id']}, {_policy(execution)}")
    yield from (shown(f"  {text}") for text in _clocks(execution))
    for step in execution["ladder"]:
        yield shown(f"  {step['step']}. {_step(step)}")
        for attempt in execution["attempts"]:
            if attempt["step"] == step["step"]:
                yield from (shown(f"       {text}") for text in _attempt(attempt))
    for why in execution.get("order_reasons", ()):
        if why.get("chance") is not None:
            yield shown(
                f"  order: {why['channel']} arrives with a chance of {why['chance']:.2f}"
                f"{' (drawn)' if why['drawn'] else ''} for {money(why['cost_micros'], None)}"
            )


def _costs(costs: Mapping[str, Any]) -> str:
    """What it costs, what is held, and the cap."""
    currency = costs.get("currency")
    if currency is None:
        return ""
    told = money(costs["spent_micros"], currency)
    if costs.get("reserved_micros"):
        told += f" and {money(costs['reserved_micros'], None)} held"
    if costs.get("cap_micros") is not None:
        told += f" of {money(costs['cap_micros'], None)}"
    return told


def _policy(execution: Mapping[str, Any]) -> str:
    if execution.get("policy_id") is None:
        return f"{execution['strategy']} without a policy"
    order = f", order {execution['order']}" if execution.get("order") else ""
    return f"{execution['strategy']} by {execution['policy_id']} v{execution['policy_version']}{order}"


def _clocks(execution: Mapping[str, Any]) -> Iterator[str]:
    if execution["status"] == "over":
        evidence = f", {execution['evidence']}" if execution.get("evidence") else ""
        yield f"over {execution['ended_at']}{evidence}"
        return
    if execution.get("due_at"):
        yield f"goes on {execution['due_at']}"
    if execution.get("expires_at"):
        yield f"expires {execution['expires_at']}"


def _step(step: Mapping[str, Any]) -> str:
    vendors: Sequence[str] = step.get("vendors", ())
    through = f" through {', '.join(vendors)}" if vendors else ""
    why = f" ({step['barred']})" if step.get("barred") else ""
    next_call = f" for its next call at {step['due_at']}" if step.get("due_at") else ""
    until = f", until {step['deadline_at']}" if step.get("deadline_at") else ""
    return f"{step['channel']}{through}: {_STATES.get(step['state'], step['state'])}{next_call}{why}{until}"


def _attempt(attempt: Mapping[str, Any]) -> Iterator[str]:
    who = f" {attempt['vendor']}" if attempt.get("vendor") else ""
    why = _why(attempt.get("reason"), attempt.get("meaning"))
    cost = attempt.get("cost_micros")
    price = f", {money(cost, attempt.get('cost_currency'))}" if cost else ""
    named = f"  {attempt['id']}" if attempt.get("answer_kept") else ""
    yield f"{attempt['started_at']}{who} {attempt['status']}{why}{price}{named}"
    if told := _answer(attempt):
        yield f"  {told}"
    for heard in attempt.get("receipts", ()):
        late = " (late)" if heard.get("late") else ""
        why = _why(heard.get("code"), heard.get("reason"))
        yield f"  {heard['recorded_at']} {heard['status']}{why}{late}"


def _answer(attempt: Mapping[str, Any]) -> str:
    """What the vendor answered, and who the message came from."""
    sender = attempt.get("sender") or {}
    who = " ".join(word for word in (sender.get("name"), sender.get("value")) if word)
    status, wait = attempt.get("http_status"), attempt.get("retry_after_ms")
    told = (
        f"from {who}" if who else "",
        f"HTTP {status}" if status else "",
        f"to be left alone for {wait / 1000:g} s" if wait else "",
        attempt.get("error") or "",
    )
    return ", ".join(word for word in told if word)


def _why(*words: str | None) -> str:
    """The vendor's code, and what it means."""
    told = ", ".join(dict.fromkeys(word for word in words if word))
    return f" ({told})" if told else ""


app = ResourceCommands(
    "executions",
    which="exec_…",
    help={"attempt_id": "attempt_…, as `show` lists them."},
    line=_line,
    lines=_lines,
    rows={"list": Row(lines=20)},
).app()
