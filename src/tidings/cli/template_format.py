"""What is said at the keyboard about templates: findings, outcomes, differences."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from rich.text import Text

from tidings.cli.command import JsonObject
from tidings.cli.printing import diff_lines, shown

_STYLES = {"error": "bold red", "warning": "yellow"}
_OUTCOMES = {"created": "green", "replaced": "green", "unchanged": "dim"}


def report_lines(report: JsonObject) -> Iterator[Text]:
    """A line for each template, then what was found."""
    for one in report.get("templates", ()):
        outcome = one["outcome"]
        word = f"would be {outcome}" if report["dry_run"] and outcome != "unchanged" else outcome
        name = f"{shown(one['key'])}/{shown(one['channel'])}"
        style = _OUTCOMES.get(outcome, "")
        yield Text.assemble((f"{shown(word):18}", style), f"  {name}  {shown(one['semver'])}")
    yield from finding_lines(report.get("findings", ()))


def finding_lines(findings: Iterable[JsonObject]) -> Iterator[Text]:
    """As compilers say it, so that editors can go there: file:line:column."""
    for found in sorted(findings, key=lambda f: (f["file"], f.get("line") or 0, f.get("column") or 0)):
        parts = (found["file"] or "the zip", found.get("line"), found.get("column"))
        how = f"; {found['how']}" if found.get("how") else ""
        yield Text.assemble(
            (shown(":".join(str(part) for part in parts if part)), "bold"),
            ": ",
            (f"{shown(found['severity'])}: ", _STYLES.get(found["severity"], "")),
            shown(f"{found['what']}{how}"),
        )


def differences(server: Mapping[str, bytes], here: Mapping[str, bytes]) -> Iterator[Text]:
    """Unified differences of all files: what a push would change."""
    for path in sorted({*server, *here}):
        before, after = _lines(path, server.get(path)), _lines(path, here.get(path))
        names = (
            f"server/{path}" if path in server else "/dev/null",
            f"here/{path}" if path in here else "/dev/null",
        )
        yield from diff_lines(before, after, names)


def _lines(path: str, raw: bytes | None) -> list[str]:
    if raw is None:
        return []
    if "/assets/" in path:
        return [f"{len(raw)} bytes, sha256 {hashlib.sha256(raw).hexdigest()}"]
    text = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    if path.endswith(("/template.json", "/strings.json")):
        # Spaces and the order of names mean nothing here.
        with suppress(ValueError):
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False, sort_keys=True)
    return text.removesuffix("\n").split("\n")
