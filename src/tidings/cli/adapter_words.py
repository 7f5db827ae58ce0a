"""Kinds of vendors, and looks at accounts, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.cli.printing import counted, shown

_MARKS = {"ok": "ok     ", "failed": "FAILED ", "skipped": "skipped"}


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
        f"  can           {can_do(kind['capabilities'])}",
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


def can_do(capabilities: Mapping[str, bool | None]) -> str:
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
