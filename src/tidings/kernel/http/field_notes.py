"""Reads the `#:` lines above the fields of a type, so that readers of the API see what its authors wrote."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

import msgspec

_NOTE = re.compile(r"(?P<text>(?:^[ \t]*#: .*\n)+)[ \t]*(?P<name>\w+):", re.MULTILINE)
_MARK = re.compile(r"^[ \t]*#: ", re.MULTILINE)


def describe_fields(components: dict[str, Any], types: Iterable[Any]) -> None:
    """Add the notes of every struct among `types` to its schema; a description that is there stays."""
    for kind in _structs(types):
        described = components.get(kind.__name__, {}).get("properties", {})
        notes = notes_of(kind) if described else {}
        for field, schema in described.items():
            text = notes.get(field)
            if text is not None:
                # Beside a reference too: JSON Schema 2020-12 allows it.
                schema.setdefault("description", text)


def notes_of(kind: type[Any]) -> dict[str, str]:
    """Field → its note; those of ancestors too."""
    found: dict[str, str] = {}
    for ancestor in reversed(kind.__mro__):
        if issubclass(ancestor, msgspec.Struct) and ancestor is not msgspec.Struct:
            for match in _NOTE.finditer(_source(ancestor)):
                found[match["name"]] = " ".join(_MARK.sub("", match["text"]).split())
    return found


def _source(kind: type[Any]) -> str:
    try:
        return inspect.getsource(kind)
    except (OSError, TypeError):  # an installation may come without its sources
        return ""


def _structs(types: Iterable[Any]) -> list[type[Any]]:
    found: dict[str, type[Any]] = {}
    pending: list[Any] = list(msgspec.inspect.multi_type_info(types))
    while pending:
        info = pending.pop()
        if isinstance(info, msgspec.inspect.StructType):
            if info.cls.__name__ in found:
                continue
            found[info.cls.__name__] = info.cls
            pending += [field.type for field in info.fields]
        for inner in ("item_type", "key_type", "value_type", "type"):
            if isinstance(part := getattr(info, inner, None), msgspec.inspect.Type):
                pending.append(part)
        for several in ("types", "item_types"):
            pending += [part for part in getattr(info, several, ()) if isinstance(part, msgspec.inspect.Type)]
    return list(found.values())
