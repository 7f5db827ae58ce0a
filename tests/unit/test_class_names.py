"""A public class name stands in one package only, so that a search finds the one thing it means."""

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "tidings"


def test_a_public_class_name_stands_in_one_package() -> None:
    packages: dict[str, set[str]] = defaultdict(set)
    for file in SOURCE.rglob("*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                packages[node.name].add(str(file.parent.relative_to(SOURCE)))
    shared = {name: sorted(found) for name, found in packages.items() if len(found) > 1}

    assert shared == {}
