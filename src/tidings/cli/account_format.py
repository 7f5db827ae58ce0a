"""Formats vendor accounts with their kinds, checks, circuits and weights."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.cli.printing import counted, money, shown

_OFF = "nothing new goes through it; `tidings adapter enable` switches it on"
_MARKS = {"ok": "ok     ", "failed": "FAILED ", "skipped": "skipped"}


def circuit_line(circuit: Mapping[str, Any]) -> str:
    """One circuit on one line."""
    counts = circuit["last_minute"]
    parts = [f"{circuit['state']:<9}", f"{circuit['vendor']:<20}", circuit["account_id"], circuit["owner"]]
    if counts and counts["calls"]:
        parts.append(
            f"last minute: {counted(counts['calls'], 'call')}, {counts['failed']} failed, {counts['slow']} slow"
        )
    if circuit["held"]:
        until = circuit["held"]["until"]
        why = circuit["held"]["reason"]
        parts.append(f"held by hand{f' until {until}' if until else ''}{f': {shown(why)}' if why else ''}")
    elif circuit["state"] != "CLOSED":
        until = f"; tried again from {circuit['until']} on" if circuit["until"] else ""
        parts.append(f"because {shown(circuit['reason'])}{until}")
    return "  ".join(parts)


def adapter_line(adapter: Mapping[str, Any]) -> str:
    """One account on one line."""
    prices = adapter["prices"]
    price = _price(prices, prices["currency"]) or f"0 {prices['currency']}" if prices else "no price"
    return "  ".join(
        [
            f"{adapter['vendor']:<20}",
            adapter["id"],
            f"{adapter['owner']:<8}",
            f"{adapter['circuit'] if adapter.get('active', True) else 'OFF':<9}",
            price,
        ]
    )


def adapter_lines(adapter: Mapping[str, Any]) -> list[str]:
    """One account in full."""
    lines = [
        f"{adapter['vendor']} ({adapter['id']}, of the {adapter['owner']})",
        f"  adapter       {adapter['adapter']}: {', '.join(adapter['channels'])}",
        f"  can           {_can_do(adapter['capabilities'])}",
        f"  circuit       {adapter['circuit']}",
        *([] if adapter.get("active", True) else [f"  switched off  {_OFF}"]),
        f"  a second      {adapter['per_second'] or 'no limit'}",
        f"  a day         {adapter['per_day'] or 'no limit'}",
    ]
    told = [line for line in (adapter.get("hook"), adapter.get("hook_advice")) if line]
    lines += [f"  {name:<13} {shown(line)}" for name, line in zip(("callbacks", ""), told, strict=False)]
    prices = adapter["prices"]
    if not prices:
        lines.append("  price         not known")
    else:
        everywhere = _price(prices, prices["currency"]) or f"0 {prices['currency']}"
        lines.append(f"  price         {everywhere}")
        for prefix, apart in sorted(prices.get("by_prefix", {}).items()):
            lines.append(f"    {prefix:<11} {_price(apart, prices['currency']) or 'as for all'}")
    for weight in adapter["weights"]:
        now = "".join(f", {prefix or 'elsewhere'} now {many}" for prefix, many in weight["now"].items())
        lines.append(f"  weight        {weight['channel']}: {weight['home']} of 100{now}")
    return lines


def kinds_lines(kinds: Sequence[Mapping[str, Any]]) -> list[str]:
    """All kinds, one line each, name by name and title by title."""
    name, title = (max((len(shown(one[part])) for one in kinds), default=0) for part in ("name", "title"))
    return [
        f"{shown(one['name']):<{name}}  {shown(one['title']):<{title}}  {', '.join(one['channels'])}"
        for one in kinds
    ]


def kind_lines(kind: Mapping[str, Any]) -> list[str]:
    """One kind in full: what it can do, and what its accounts need."""
    codes = counted(kind["statuses"], "code")
    name = shown(kind["name"])
    lines = [
        f"{name}: {shown(kind['title'])}",
        f"  channels      {', '.join(kind['channels'])}",
        f"  can           {_can_do(kind['capabilities'])}",
        f"  priced by     {', '.join(kind['prices'])}",
        f"  needs         {', '.join(kind['required_fields'])}",
        f"  secrets       {', '.join(kind['credential_fields'])}",
    ]
    if kind["proof"]:
        lines.append(f"  callbacks     proven by {shown(kind['proof'])}")
    elif not kind["callbacks"]:
        lines.append("  callbacks     none")
    lines.append(f"  status map    {codes} with a meaning (`tidings status-map list --adapter {name}`)")
    channel = kind["channels"][0]
    lines.append(
        f"  set up with   `tidings channel set {channel} --vendor {name} --account {name}=file://{name}.json`"
    )
    return lines


def _can_do(capabilities: Mapping[str, bool | None]) -> str:
    """What it can do, and what it can do if its settings say so."""
    always = ", ".join(name for name, is_so in capabilities.items() if is_so)
    sometimes = ", ".join(name for name, is_so in capabilities.items() if is_so is None)
    if not sometimes:
        return always or "send"
    return (
        f"{always}; {sometimes} if its settings say so" if always else f"{sometimes} if its settings say so"
    )


def check_lines(check: Mapping[str, Any]) -> list[str]:
    """A look, one step a line, with what to do below it."""
    lines = [f"{check['vendor']} ({check['account_id']})"]
    for step in check["steps"]:
        code = f" [{shown(step['code'])}]" if step["code"] else ""
        lines.append(
            f"  {_MARKS.get(step['result'], step['result'])}  {step['name']:<12} {shown(step['words'])}{code}"
        )
        if step["next"]:
            lines.append(f"                         → {shown(step['next'])}")
    lines.append("it works" if check["ok"] else "it does not work as it is")
    return lines


def weights_lines(weights: Mapping[str, Any]) -> list[str]:
    """How a channel is shared."""
    lines = [f"{weights['channel']} (of the {weights['owner']}): {_points(weights['home'])}"]
    lines += [f"  {prefix:<6} {_points(points)}" for prefix, points in sorted(weights["by_prefix"].items())]
    lines += [
        f"  {moved['prefix'] or 'all':<6} now {_points(moved['points'])}, moved at {moved['moved_at']}"
        for moved in weights["moved"]
    ]
    return lines


def _price(prices: Mapping[str, Any], currency: str) -> str:
    names = (
        ("base_micros", "a message"),
        ("per_segment_micros", "a segment"),
        ("per_minute_micros", "a minute"),
    )
    parts = [
        f"{money(prices[name], currency)} {words}" for name, words in names if prices.get(name) is not None
    ]
    return ", ".join(parts)


def _points(points: Mapping[str, int]) -> str:
    return ", ".join(f"{vendor} {many}" for vendor, many in points.items())
