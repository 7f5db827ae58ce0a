"""Which columns the product writes: read from the SQL of `src/`, statement by statement."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_SOURCE: Final = Path(__file__).parents[2] / "src" / "tidings"
#: What makes tables: their definitions are no writing, but what they insert, and what their triggers write, is.
_MIGRATIONS: Final = _SOURCE / "migrations"

_TABLE: Final = r"(?:ONLY\s+)?(?:[\w{}:.]+\.)?(?P<table>[a-z_]+)"
_INSERT: Final = re.compile(
    rf"\bINSERT\s+INTO\s+{_TABLE}(?:\s+AS\s+\w+)?\s*\((?P<columns>[^()]*)\)", re.IGNORECASE
)
_UPDATE: Final = re.compile(
    rf"\bUPDATE\s+{_TABLE}(?:\s+AS\s+\w+)?\s+SET\s+(?P<assigned>.*?)(?=;|\bWHERE\b|\bRETURNING\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ON_CONFLICT: Final = re.compile(
    rf"\bINSERT\s+INTO\s+{_TABLE}\b[^;]*?\bDO\s+UPDATE\s+SET\s+(?P<assigned>.*?)(?=;|\bWHERE\b|\bRETURNING\b|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_ASSIGNED: Final = re.compile(r"(?:^|,|\(|\bSET\b)\s*\(?\s*\"?([a-z_]+)\"?\s*=", re.IGNORECASE)
_COMMENT: Final = re.compile(r"--[^\n]*")
#: What several statements of a file share.
_PART: Final = re.compile(r"^-- part: (\w+)\s*\n(.*?)(?=^-- (?:part|name): )", re.MULTILINE | re.DOTALL)


def written_columns() -> set[tuple[str, str]]:
    """(table, column) for each that some statement writes; tables without their schema, which some statements fill in."""
    found: set[tuple[str, str]] = set()
    for text in _statements():
        for match in _INSERT.finditer(text):
            names = (name.strip().strip('"') for name in match["columns"].split(","))
            found |= {(match["table"], name) for name in names}
        for pattern in (_UPDATE, _ON_CONFLICT):
            for match in pattern.finditer(text):
                found |= {(match["table"], name) for name in _ASSIGNED.findall(match["assigned"])}
    return found


def _statements() -> Iterator[str]:
    for path in sorted(_SOURCE.rglob("*.sql")):
        if path.name != "schema.sql" and "down" not in path.parts:
            yield _COMMENT.sub("", _with_parts(path.read_text(encoding="utf-8")))
    for path in sorted(_SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if "INSERT INTO" in text or "UPDATE " in text:
            # Strings that are broken over lines are one statement.
            yield re.sub(r"\"\s*\n\s*f?\"", "", text)


def _with_parts(text: str) -> str:
    for name, part in _PART.findall(text):
        text = text.replace(f"{{{name}}}", part.strip())
    return text
