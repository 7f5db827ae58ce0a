"""A notification's story as people want to read it: where it stands, what was decided, what happened when."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.text import Text

from tidings.cli.printing import counted, money, shown
from tidings.contracts.failures import why

if TYPE_CHECKING:
    from tidings_client import Body, Explanation, GateLine, Happening, Simulation

STYLES = {
    "delivered": "bold green",
    "queued": "cyan",
    "scheduled": "cyan",
    "dispatched": "blue",
    "failed": "bold red",
    "bounced": "bold red",
    "suppressed": "yellow",
    "expired": "yellow",
    "cancelled": "yellow",
    "superseded": "yellow",
}
_MARKS = {
    "pass": ("✓", "green"),
    "stop": ("✗", "bold red"),
    "defer": ("…", "yellow"),
    "not_asked": ("-", "dim"),
}
_WOULD = {
    "send": ("It would be sent.", "bold green"),
    "defer": ("It would wait.", "bold yellow"),
    "stop": ("It would not be sent.", "bold red"),
}
_FAILURES = frozenset(
    {"failed_temp", "failed_perm", "rejected_by_provider", "rejected_by_recipient", "bounced", "unknown"}
)
#: A vendor's code as a rule has a digit; what has none is a word of ours, and says what it means.
_CODE = re.compile(r"[A-Za-z0-9._/:-]*[0-9][A-Za-z0-9._/:-]*")
#: Items of a digest that are named.
_NAMED_ITEMS = 10
#: Said elsewhere on the same page.
_KNOWN = frozenset({"notification_id", "recipient_id"})


def explanation_lines(story: "Explanation", *, verbose: bool = False) -> list[Text]:
    """The whole story, line by line; gates that were passed are counted, unless all are wanted."""
    zone = _zone(story)
    lines = [*_head(story, zone), Text()]
    if story.summary:
        lines += [Text(shown(story.summary)), Text()]
    lines += _stands_for(story.raw.get("digest") or {})
    if story.decision:
        lines += [*(_decision(story.decision) if verbose else _folded(story.decision)), Text()]
    lines += _ladder(story.policy or {})
    if story.timeline:
        beside = f"; in brackets the recipient's time, {zone.key}" if zone else ""
        lines += [Text(f"Timeline (UTC{beside})", "bold"), *_timeline(story.timeline, zone)]
        lines += _codes(story.timeline)
    return lines


def _stands_for(digest: Mapping[str, Any]) -> list[Text]:
    """What a digest took the place of; of other messages nothing."""
    items = digest.get("items") or []
    if not items:
        return []
    named = ", ".join(items[:_NAMED_ITEMS])
    count = f"{len(items)} or more" if digest.get("more_items") else counted(len(items), "message")
    more = ", …" if len(items) > _NAMED_ITEMS or digest.get("more_items") else ""
    return [Text(shown(f"A digest, in place of {count}: {named}{more}")), Text()]


def simulation_lines(found: "Simulation") -> list[Text]:
    """What would happen, line by line."""
    said, style = _WOULD.get(found.would, (found.would, "bold"))
    lines = [Text(shown(found.summary) or said, style)]
    lines += [Text("This was a rehearsal: nothing was written or sent.", "dim"), Text()]
    if found.decision:
        lines += _decision(found.decision)
    if found.message is not None:
        lines += [Text(), *_message(found.message)]
    return [*lines, *(Text(shown(note), "dim") for note in found.notes)]


def moment(at: datetime | None) -> str:
    """A moment in UTC, to the millisecond."""
    if at is None:
        return "-"
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _zone(story: "Explanation") -> ZoneInfo | None:
    """The time zone of who is written to; None where it is UTC, or not known."""
    name = ((story.preferences or {}).get("now") or {}).get("timezone")
    try:
        zone = ZoneInfo(name) if isinstance(name, str) else None
    except (ZoneInfoNotFoundError, ValueError):
        return None
    at = story.notification.created_at
    return None if zone is None or at.astimezone(zone).utcoffset() == timedelta() else zone


def _locale(story: "Explanation") -> str | None:
    """The language of the text, and the recipient's where that is another one."""
    template = story.template or {}
    used = template.get("locale") or story.notification.locale
    theirs = ((story.preferences or {}).get("now") or {}).get("locale") or template.get("locale_asked")
    return f"{used} (the recipient's: {theirs})" if used and theirs and theirs != used else used


def _head(story: "Explanation", zone: ZoneInfo | None) -> list[Text]:
    one = story.notification
    template = "" if one.template is None else f"{one.template.key} {one.template.version or ''}".strip()
    channel = one.final_channel or one.channel
    words = [channel, template, _locale(story), one.category, one.priority, "test" if one.is_test else None]
    first = Text.assemble(
        (one.id, "bold"),
        "  ",
        (one.status, STYLES.get(one.status, "bold")),
        "  ",
        shown(" · ".join(word for word in words if word)),
    )
    there = f" ({one.created_at.astimezone(zone):%H:%M:%S} in {zone.key})" if zone else ""
    lines = [first, Text(f"for {one.recipient_id}, accepted {moment(one.created_at)} UTC{there}", "dim")]
    if one.reason:
        lines.append(Text(shown(f"reason: {one.reason}"), "dim"))
    return lines


def _decision(lines: "Sequence[GateLine]") -> list[Text]:
    """What every gate said, those of a step under its number."""
    told = [Text("Decision", "bold")]
    width = max(len(line.gate) for line in lines)
    step: int | None = None
    for line in lines:
        if line.step is not None and line.step != step:
            step = line.step
            told.append(Text(f"  step {step}", "dim"))
        told.append(_gate(line, width, deeper=line.step is not None))
    return told


def _folded(lines: "Sequence[GateLine]") -> list[Text]:
    """What stopped it or put it off, and what was passed in spite of something; the rest is counted."""
    told = [Text("Decision", "bold")]
    parts: dict[int | None, list[GateLine]] = {}
    for line in lines:
        parts.setdefault(line.step, []).append(line)
    worth = [line for line in lines if not _plain_pass(line)]
    width = max((len(line.gate) for line in worth), default=0)
    for step, part in parts.items():
        deeper = step is not None
        if deeper:
            told.append(Text(f"  step {step}", "dim"))
        passed = Counter(line.gate for line in part if _plain_pass(line))
        if passed:
            rounds = max(passed.values())
            often = f", {rounds} times" if rounds > 1 else ""
            told.append(
                Text.assemble(
                    "    " if deeper else "  ",
                    ("✓", "green"),
                    f" {counted(len(passed), 'gate')} passed{often}",
                )
            )
        told += [_gate(line, width, deeper=deeper) for line in part if not _plain_pass(line)]
    return told


def _plain_pass(line: "GateLine") -> bool:
    return line.verdict == "pass" and line.reason is None


def _gate(line: "GateLine", width: int, *, deeper: bool) -> Text:
    mark, style = _MARKS.get(line.verdict, ("?", "bold"))
    until = f"until {moment(line.until)} UTC" if line.until else ""
    told = line.explanation or ", ".join(word for word in (line.reason, until) if word)
    margin = "    " if deeper else "  "
    return Text.assemble(margin, (mark, style), f" {shown(line.gate):{width}}  ", (shown(told), "dim"))


def _ladder(policy: Mapping[str, Any]) -> list[Text]:
    """The steps, their clocks, why they stand so, and what it cost; nothing where there is one way only."""
    routes = policy.get("routes") or []
    if len(routes) < 2 and policy.get("id") is None:
        return []
    named = (
        f"{policy['id']} version {policy.get('version')}"
        if policy.get("id")
        else "no policy for its use case"
    )
    about = [named, str(policy.get("strategy") or "").lower()]
    if policy.get("order"):
        about.append(f"{policy['order']} order")
    lines = [Text.assemble(("Ladder ", "bold"), (shown(f"({', '.join(about)})"), "dim"))]
    lines += [Text(f"  {route.get('step')} {shown(_step(route))}") for route in routes]
    costs = policy.get("costs") or {}
    if costs.get("spent_micros") or costs.get("cap_micros"):
        lines.append(Text(shown(f"  cost {_costs(costs)}"), "dim"))
    return [*lines, Text()]


def _step(route: Mapping[str, Any]) -> str:
    words = [
        f"{route.get('channel')} through {route.get('vendor')}"
        if route.get("vendor")
        else str(route.get("channel"))
    ]
    if route.get("success"):
        words.append(_until(route))
    if route.get("deadline_seconds") is not None:
        words.append(f"{route['deadline_seconds']} s")
    if route.get("probability") is not None:
        drawn = ", drawn" if route.get("drawn") else ""
        words.append(f"arrives {route['probability']:.0%}{drawn}, index {route.get('index') or 0:.1f}")
    if route.get("barred"):
        words.append(f"not taken: {route['barred']}")
    return ", ".join(words)


def _until(route: Mapping[str, Any]) -> str:
    """What the step has to reach, as far as its vendors can say."""
    if route.get("receipts") is False and route["success"] != "accepted":
        return "until accepted (no receipts from this vendor)"
    return f"until {route['success']}"


def _costs(costs: Mapping[str, Any]) -> str:
    currency = costs.get("currency") or ""
    told = money(costs.get("spent_micros") or 0, currency)
    cap = costs.get("cap_micros")
    return told if cap is None else f"{told} of {money(cap, currency)}"


def _timeline(happenings: "Iterable[Happening]", zone: ZoneInfo | None = None) -> list[Text]:
    lines: list[Text] = []
    first: datetime | None = None
    for one in happenings:
        first = first or one.at
        after = "" if one.at == first else f"{(one.at - first).total_seconds():+.3f} s"
        lines.append(
            Text.assemble(
                f"  {moment(one.at)}{_there(one.at, zone)}  ",
                (f"{after:>12}  ", "dim"),
                (f"{shown(one.kind):12}", STYLES.get(one.kind, "bold")),
                "  ",
                _told(one.facts),
            )
        )
    return lines


def _there(at: datetime, zone: ZoneInfo | None) -> str:
    return "" if zone is None else f" ({at.astimezone(zone):%H:%M:%S})"


def _codes(happenings: "Iterable[Happening]") -> list[Text]:
    """Where one can look up what the vendors' codes mean, and give a meaning to those that have none."""
    found = dict.fromkeys(
        (str(one.facts["vendor"]), str(one.facts["reason"]), one.facts.get("meaning"))
        for one in happenings
        if one.kind in {"attempt", "receipt"}
        and one.facts.get("status") in _FAILURES
        and one.facts.get("vendor")
        and (one.facts.get("meaning") or _CODE.fullmatch(str(one.facts.get("reason") or "")))
    )
    if not found:
        return []
    known = [one for one in found if one[2] or why(one[1], vendor=one[0])]
    lines: list[Text] = []
    if known:
        lines += [Text(), Text("What these codes mean, and how to change it", "dim")]
        lines += [
            Text(shown(f"  tidings status-map show {vendor} {code}"), "dim") for vendor, code, _ in known
        ]
    if unknown := [one for one in found if one not in known]:
        lines += [Text(), Text("These codes have no meaning yet; to give them one", "dim")]
        lines += [
            Text(shown(f"  tidings status-map set {vendor} {code} --means … --reason …"), "dim")
            for vendor, code, _ in unknown
        ]
    return lines


def _told(facts: Mapping[str, Any]) -> str:
    """The sentence that belongs to it, or else its facts."""
    text = facts.get("text")
    return shown(text) if isinstance(text, str) else _facts(facts)


def _facts(facts: Mapping[str, Any]) -> str:
    known = {name: value for name, value in facts.items() if value not in (None, "", [], {})}
    return shown("  ".join(f"{name} {_plain(value)}" for name, value in known.items() if name not in _KNOWN))


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _message(body: "Body") -> list[Text]:
    about = ", ".join(word for word in (body.locale, body.direction) if word)
    lines = [Text.assemble(("Message ", "bold"), (f"({shown(about)})" if about else "", "dim"))]
    if body.subject:
        lines.append(Text(f"  {shown(body.subject)}", "bold"))
    lines += [Text(f"  {shown(line)}") for line in (body.text or "").splitlines()]
    return lines
