"""What is said at the keyboard about templates: findings, outcomes, differences."""

import difflib
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from rich.text import Text

from tidings.cli.printing import shown

if TYPE_CHECKING:
    from tidings_client.templates import Finding, ImportReport

_STYLES = {"error": "bold red", "warning": "yellow"}
_OUTCOMES = {"created": "green", "replaced": "green", "unchanged": "dim"}


def tell_report(report: "ImportReport") -> Iterator[Text]:
    """A line for each template, then what was found."""
    for one in report.templates:
        word = f"would be {one.outcome}" if report.dry_run and one.outcome != "unchanged" else one.outcome
        style = _OUTCOMES.get(one.outcome, "")
        yield Text.assemble(
            (f"{shown(word):18}", style), f"  {shown(one.key)}/{shown(one.channel)}  {shown(one.semver)}"
        )
    yield from tell_findings(report.findings)


def tell_findings(findings: "Iterable[Finding]") -> Iterator[Text]:
    """As compilers say it, so that editors can go there: file:line:column."""
    for found in sorted(findings, key=lambda f: (f.file, f.line or 0, f.column or 0)):
        where = ":".join(str(part) for part in (found.file or "the zip", found.line, found.column) if part)
        how = f"; {found.how}" if found.how else ""
        yield Text.assemble(
            (shown(where), "bold"),
            ": ",
            (f"{shown(found.severity)}: ", _STYLES.get(found.severity, "")),
            shown(f"{found.what}{how}"),
        )


def differences(server: Mapping[str, bytes], here: Mapping[str, bytes]) -> Iterator[Text]:
    """Unified differences of all files: what a push would change."""
    for path in sorted({*server, *here}):
        before, after = _lines(path, server.get(path)), _lines(path, here.get(path))
        for line in difflib.unified_diff(
            before,
            after,
            f"server/{path}" if path in server else "/dev/null",
            f"here/{path}" if path in here else "/dev/null",
            lineterm="",
        ):
            yield Text(shown(line.replace("\t", "    ")), style=_style(line))


def _style(line: str) -> str:
    if line.startswith(("---", "+++")):
        return "bold"
    return {"@": "cyan", "+": "green", "-": "red"}.get(line[:1], "")


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
