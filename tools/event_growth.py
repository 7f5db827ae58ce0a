"""Compares the schemas of events with those of the last release: `vN` only grows; what would break a reader is `vN+1`."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

_REMEDY: Final = "declare the next version beside it and publish both (docs/events.md)"
#: A bound that may not become tighter: whether the new one is within the old.
_BOUNDS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "minLength": lambda old, new: new <= old,
    "minItems": lambda old, new: new <= old,
    "minimum": lambda old, new: new <= old,
    "exclusiveMinimum": lambda old, new: new <= old,
    "maxLength": lambda old, new: new >= old,
    "maxItems": lambda old, new: new >= old,
    "maximum": lambda old, new: new >= old,
    "exclusiveMaximum": lambda old, new: new >= old,
}


def breaking_changes(
    before: Mapping[str, Mapping[str, Any]], after: Mapping[str, Mapping[str, Any]]
) -> list[str]:
    """A sentence for each place that a reader or sender of the released events would stumble over."""
    found: list[str] = []
    for subject, old in before.items():
        if subject not in after:
            found.append(f"{subject}: is not declared any more; {_REMEDY}")
            continue
        found += [
            f"{subject}: {said}; {_REMEDY}" for said in _object(_whole(old), _whole(after[subject]), "data")
        ]
    return found


def _whole(schema: Mapping[str, Any]) -> Any:
    """The schema without references; those of events never lead back to themselves."""
    defs = schema.get("$defs", {})

    def follow(part: Any) -> Any:
        if isinstance(part, Mapping):
            if "$ref" in part:
                return follow(defs[part["$ref"].rpartition("/")[2]])
            return {name: follow(value) for name, value in part.items() if name != "$defs"}
        return [follow(one) for one in part] if isinstance(part, list) else part

    return follow(schema)


def _object(old: Mapping[str, Any], new: Mapping[str, Any], place: str) -> Iterator[str]:
    was, is_ = set(old.get("required", ())), set(new.get("required", ()))
    for name, schema in old.get("properties", {}).items():
        there = f"{place}.{name}"
        if name not in new.get("properties", {}):
            yield f"{there} was removed"
            continue
        if name in was and name not in is_:
            yield f"{there} was always there, and may be missing now"
        yield from _value(schema, new["properties"][name], there)
    for name in sorted(is_ - was):
        if name in old.get("properties", {}):
            yield f"{place}.{name} may be left out no more"
        else:
            yield f"{place}.{name} is new and required; give it a default"


def _value(old: Mapping[str, Any], new: Mapping[str, Any], place: str) -> Iterator[str]:
    olds = {_kind(one): one for one in _options(old)}
    news = {_kind(one): one for one in _options(new)}
    if olds.keys() != news.keys():
        yield f"{place} was {_words(olds)} and is {_words(news)}"
        return
    for kind in sorted(olds):
        yield from _narrowed(olds[kind], news[kind], place)
        if kind == "object":
            yield from _object(olds[kind], news[kind], place)
        for inner, where in (("additionalProperties", f"{place}.*"), ("items", f"{place}[]")):
            if isinstance(olds[kind].get(inner), Mapping):
                yield from _value(olds[kind][inner], news[kind].get(inner, {}), where)


def _narrowed(old: Mapping[str, Any], new: Mapping[str, Any], place: str) -> Iterator[str]:
    if "enum" in new and "enum" not in old:
        yield f"{place} is narrowed to some words"
    elif lost := [str(word) for word in old.get("enum", ()) if "enum" in new and word not in new["enum"]]:
        yield f"{place} no longer knows {_words(lost)}"
    for bound, fits in _BOUNDS.items():
        if bound in new and (bound not in old or not fits(old[bound], new[bound])):
            yield f"{place} is narrowed by {bound} {new[bound]}"
    for form in ("pattern", "format", "const"):
        if form in new and old.get(form) != new[form]:
            yield f"{place} is narrowed by another {form}"


def _options(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    several = schema.get("anyOf") or schema.get("oneOf")
    return [option for one in several for option in _options(one)] if several else [schema]


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema and "type" not in schema:
        return "integer" if all(isinstance(word, int) for word in schema["enum"]) else "string"
    return str(schema.get("type", "anything"))


def _words(words: Iterable[str]) -> str:
    return " or ".join(sorted(words)) or "nothing"
