"""The OpenAPI document that the API must keep, and how today's differs from it.

`python -m tests.support.released_openapi` makes today's document the released one; the corrections and renamed schemas
of `tests/unit/test_released_openapi.py` are then taken out.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tidings import settings
from tidings.bootstrap import System

FILE = Path(__file__).with_name("released_openapi.json")
_REF = "#/components/schemas/"
#: Lists whose order means nothing.
_SETS = {"required", "enum", "type", "anyOf", "oneOf", "x-codes"}
#: Extensions that say who may call, how much may be sent and which problems come back: callers depend on them.
_KEPT_EXTENSIONS = {"x-scope", "x-test-keys", "x-max-body-bytes", "x-codes"}


@cache
def today() -> dict[str, Any]:
    """Make the document of the application; it needs no database."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = settings.load({"TIDINGS_DATA_DIR": folder})
        document = System(chosen, runtime_url="postgresql://unused@127.0.0.1:1/unused").app.openapi
        return dict(json.loads(json.dumps(document)))


def released() -> dict[str, Any]:
    """Read the document that was released."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def differences(
    before: Mapping[str, Any], after: Mapping[str, Any], renamed: Mapping[str, str]
) -> dict[str, str]:
    """Name every place of the released document that reads otherwise today: JSON pointer → the two values.

    New paths and schemas, and extensions (`x-…`) but for those of `_KEPT_EXTENSIONS`, are additions which no caller of the
    released API can notice.
    """
    old, new = dict(_leaves(_with_schema_names(before, renamed))), dict(_leaves(after))
    kept = ["/paths/" + _escape(path) + "/" for path in before["paths"]]
    kept += [
        "/components/schemas/" + renamed.get(name, name) + "/" for name in before["components"]["schemas"]
    ]
    places = [*old, *(place for place in new if place not in old and place.startswith(tuple(kept)))]
    return {
        place: f"{old.get(place, 'nothing')} → {new.get(place, 'nothing')}"
        for place in places
        if old.get(place) != new.get(place)
    }


def _leaves(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, list) and all(
        isinstance(one, dict) and {"in", "name"} <= one.keys() for one in value
    ):
        value = {f"{one['in']} {one['name']}": one for one in value}
    if place == "/tags":
        # Another group is an addition.
        value = {one["name"]: one for one in value}
    if isinstance(value, dict):
        for key, inner in value.items():
            if not key.startswith("x-") or key in _KEPT_EXTENSIONS:
                yield from _leaves(inner, f"{place}/{_escape(key)}")
    elif isinstance(value, list):
        items = [json.dumps(dict(_leaves(one)), sort_keys=True, ensure_ascii=False) for one in value]
        yield place, str(sorted(items) if place.rsplit("/", 1)[-1] in _SETS else items)
    else:
        yield place, json.dumps(value, ensure_ascii=False)


def _with_schema_names(document: Mapping[str, Any], renamed: Mapping[str, str]) -> Any:
    text = json.dumps(document)
    for old, new in renamed.items():
        text = text.replace(f'"{_REF}{old}"', f'"{_REF}{new}"')
    changed = json.loads(text)
    schemas = changed["components"]["schemas"]
    for old, new in renamed.items():
        if "title" in schemas.get(old, {}):
            schemas[old]["title"] = new
    changed["components"]["schemas"] = {renamed.get(name, name): one for name, one in schemas.items()}
    return changed


def _escape(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _write() -> None:
    FILE.write_text(_lines(today(), depth=2) + "\n", encoding="utf-8")


def _lines(value: Any, *, depth: int) -> str:
    """Write every operation and every schema on a line of its own, so that a difference can be read."""
    if depth < 0 or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    items = (f"{json.dumps(key)}:{_lines(inner, depth=depth - 1)}" for key, inner in sorted(value.items()))
    return "{\n" + ",\n".join(items) + "\n}"


if __name__ == "__main__":
    _write()
