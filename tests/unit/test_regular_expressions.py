"""Regular expressions mean the same on every Python that we say we run on."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tidings"
_POSSESSIVE_GROUP = re.compile(r"\)[*+?]\+|\(\?>")


def _texts(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "(?" in node.value:
            yield node.value


def test_no_group_is_possessive_or_atomic() -> None:
    """Python before 3.11.5 forgets what it has matched in one with choices inside; Debian 12 has 3.11.2."""
    found = {
        f"{file.relative_to(SOURCE)}: {text}"
        for file in SOURCE.rglob("*.py")
        for text in _texts(file)
        if _POSSESSIVE_GROUP.search(text)
    }

    assert found == set()
