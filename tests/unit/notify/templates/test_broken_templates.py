"""Templates as a copy-writer breaks them: each fault is told in plain words, in its file, at its line and column.

The templates lie in `broken/`, one file for each kind of mistake; preview refuses what publishing refuses.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.rendering import Rendering
from tests.support.versions import draft_version, validated
from tidings.contracts.templates import TemplateFinding
from tidings.notify.templates.model import BodyFormat, Source

CASES: dict[str, dict[str, Any]] = {
    f"{file.stem}: {case['name']}": case
    for file in sorted((Path(__file__).parent / "broken").glob("*.toml"))
    for case in tomllib.loads(file.read_text(encoding="utf-8"))["case"]
}
NAMES = ("name", "n", "at", "url", "total", "items", "people", "a", "b", "when")
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "properties": {name: {} for name in NAMES}
    | {"people": {"type": "array", "items": {"type": "object", "properties": {"name": {}, "n": {}}}}},
}
SAMPLE = {
    "name": "Ada",
    "n": 3,
    "at": "2026-03-01T09:30:00Z",
    "url": "https://example.com/",
    "total": {"amount_micros": 1_500_000, "currency": "USD"},
    "items": ["tea", "rice"],
    "people": [{"name": "Ada", "n": 1}],
    "a": "x",
    "b": True,
    "when": "2026-03-01",
}
#: Words of parsers and compilers.
JARGON = (
    "Parse error",
    "Expecting",
    "INVALID",
    "SEXPR",
    "OPEN_",
    "CLOSE",
    "ID",
    "Statement",
    "token",
    "EOF",
    "stream",
)


def errors_of(rendering: Rendering, case: dict[str, Any]) -> tuple[TemplateFinding, ...]:
    format_ = BodyFormat(case.get("format", "html"))
    source = Source(format=format_, body=case["body"], subject=case.get("subject", "s"))
    version = draft_version(
        {"en": source},
        samples={"usual": SAMPLE | case.get("sample", {})},
        schema=SCHEMA,
        partials=case.get("partials"),
        strings={"en": case["strings"]} if "strings" in case else None,
        layout="frame" if "layout" in case else None,
    )
    layouts = {"frame": case["layout"]} if "layout" in case else {}
    return validated(rendering, version, channel=case.get("channel", "email"), layouts=layouts).errors


@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_told_in_plain_words_at_its_place(rendering: Rendering, name: str) -> None:
    case = CASES[name]
    errors = errors_of(rendering, case)

    assert errors, "nothing was found"
    first = min(errors, key=lambda e: (e.line or 0, e.column or 0))
    file = first.file.removeprefix(f"templates/welcome/{case.get('channel', 'email')}/")
    assert (file, first.line, first.column) == (
        case["file"],
        case.get("line"),
        case.get("column"),
    ), first
    assert (first.what, first.how) == (case["what"], case["how"])
    assert not any(word in f"{e.what} {e.how}" for e in errors for word in JARGON)


def test_there_are_enough_of_them() -> None:
    assert len(CASES) >= 44
