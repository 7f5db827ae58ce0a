"""Says what is wrong with a decoded body: every field, by its path, with what it has to be instead.

The decoder stops at the first mistake. When it has found one, this walks the same data by the same type
once more and collects them all, so that the sender corrects a request in one go.
"""

import difflib
import enum
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import structs

from tidings.kernel.refusals import FieldError

#: A reader needs no more than this; a hostile body must not cost more either.
MOST_ERRORS = 25

#: A class variable of a struct: what to write instead of a name that many try first.
REMEDIES = "remedies"

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
    "datetime": "a time such as 2026-11-15T12:00:00Z",
    "date": "a date such as 2026-11-15",
    "time": "a time of day such as 22:00",
}
_AT = re.compile(r" - at `(?P<path>[^`]*)`\Z", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<name>[^`]*)`")
_UNKNOWN = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`", re.DOTALL)
_EXPECTED = re.compile(
    r"Expected `(?P<want>[^`]+)`(?P<bound> [^,]*)?(?:, got `(?P<got>[^`]+)`)?\Z", re.DOTALL
)
_LENGTH = re.compile(r"of length (?P<how>>=|<=|==) (?P<n>\d+)")
_BOUND = re.compile(r"(?P<how>>=|<=|>|<) (?P<n>[-\d.e+]+)")
_HOW = {">=": "at least", "<=": "at most", ">": "more than", "<": "less than", "==": "exactly"}


def humanise(message: str) -> str:
    """The decoder's message as the rest of a sentence that begins with the field."""
    message = _AT.sub("", message)
    if _MISSING.search(message):
        return "is required"
    if _UNKNOWN.search(message):
        return "is not a known field; leave it out"
    if message.startswith("Invalid enum value"):
        return "is not one of the known words"
    if "matching regex" in message:
        return "does not have the right form"
    if message.startswith(("Invalid RFC3339", "Invalid date", "Invalid time")):
        return "must be a time such as 2026-11-15T12:00:00Z"
    if "out of range" in message:
        return "is too large a number"
    expected = _EXPECTED.match(message)
    if expected is None:
        return message[:1].lower() + message[1:200] if message else "is not acceptable"
    wanted = " or ".join(_KINDS.get(kind.strip(), kind.strip()) for kind in expected["want"].split("|"))
    return f"must be {wanted}{_bounds(expected['bound'] or '', expected['want'])}"


def _bounds(text: str, kind: str) -> str:
    if length := _LENGTH.search(text):
        unit = "item" if kind == "array" else "character"
        return f" of {_HOW[length['how']]} {length['n']} {unit}{'' if length['n'] == '1' else 's'}"
    if bound := _BOUND.search(text):
        return f" of {_HOW[bound['how']]} {bound['n']}"
    return ""


def explain(
    data: Any, wanted: Any, first: msgspec.ValidationError, *, strict: bool = True
) -> list[FieldError]:
    """All that is wrong with `data` as a `wanted`; `first` is what the decoder stopped at."""
    found: list[FieldError] = []
    for error in _walk(data, wanted, "", strict=strict):
        if error not in found:
            found.append(error)
        if len(found) == MOST_ERRORS:
            break
    return found or [_of_message(str(first), "")]


def _walk(value: Any, wanted: Any, path: str, *, strict: bool) -> Iterator[FieldError]:
    kind = _unwrap(wanted, value)
    if _is_struct(kind) and isinstance(value, dict):
        yield from _walk_struct(value, kind, path, strict=strict)
        return
    items = get_args(kind)[:1] if get_origin(kind) in (list, tuple, set, frozenset) else ()
    if items and isinstance(value, list):
        # No more than will be told: a thousand wrong items cost no more than some.
        each = (
            e for i, item in enumerate(value) for e in _walk(item, items[0], f"{path}[{i}]", strict=strict)
        )
        wrong = list(islice(each, MOST_ERRORS))
        if wrong:
            yield from wrong
            return
    if get_origin(kind) in (dict, Mapping) and isinstance(value, dict):
        wrong = list(islice(_walk_mapping(value, kind, path, strict=strict), MOST_ERRORS))
        if wrong:
            yield from wrong
            return
    yield from _check(value, wanted, path, strict=strict)


def _walk_mapping(value: dict[str, Any], kind: Any, path: str, *, strict: bool) -> Iterator[FieldError]:
    keys, values = get_args(kind)
    known = _choices(keys)
    for key, item in value.items():
        where = _join(path, printable(str(key)))
        if known and key not in known:
            yield FieldError(where, f"is not a known name; use {', '.join(known)}")
            continue
        named = list(_check(key, keys, where, strict=strict)) if plain_type(keys) is str else ()
        # What belongs to a name that can't be one is not looked at.
        yield from named or _walk(item, values, where, strict=strict)


def _walk_struct(value: dict[str, Any], kind: Any, path: str, *, strict: bool) -> Iterator[FieldError]:
    config = kind.__struct_config__
    fields = {f.encode_name: f for f in structs.fields(kind)}
    wrong = False
    for name, field in fields.items():
        if name in value:
            for error in _walk(value[name], field.type, _join(path, name), strict=strict):
                wrong = True
                yield error
        elif field.required:
            wrong = True
            yield FieldError(_join(path, name), "is required")
    if config.forbid_unknown_fields:
        for name in value:
            if name not in fields and name != config.tag_field:
                wrong = True
                known = getattr(kind, REMEDIES, {}).get(name.lower())
                remedy = f"is not a known field; {known}" if known else _unknown_remedy(name, list(fields))
                yield FieldError(_join(path, printable(name)), remedy)
    if not wrong:
        # Each field is fine by itself; what is wrong is the whole (a rule between fields, or its tag).
        yield from _check(value, kind, path, strict=strict)


def _check(value: Any, wanted: Any, path: str, *, strict: bool) -> Iterator[FieldError]:
    try:
        msgspec.convert(value, wanted, strict=strict)
    except msgspec.ValidationError as error:
        choices = _choices(_unwrap(wanted, value))
        if choices:
            yield FieldError(path, f"must be one of {', '.join(choices)}")
        else:
            found = _of_message(str(error), path)
            pattern = _pattern(wanted) if found.remedy == "does not have the right form" else None
            yield FieldError(found.field, pattern) if pattern else found


def _of_message(message: str, path: str) -> FieldError:
    at = _AT.search(message)
    inner = _dotted(at["path"]) if at else ""
    for named in (_MISSING, _UNKNOWN):
        if match := named.search(message):
            inner = _join(inner, printable(match["name"]))
    where = path + inner if inner.startswith("[") else _join(path, inner)
    return FieldError(where, humanise(message))


def _dotted(path: str) -> str:
    return path.removeprefix("$").removeprefix(".").replace("[...]", "[]")


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def printable(name: str) -> str:
    """A name that a caller made up, as it may be repeated."""
    return "".join(c if c.isprintable() else "?" for c in name[:80])


def _unknown_remedy(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:80], known, n=1)
    return "is not a known field; " + (f"did you mean {near[0]}?" if near else "leave it out")


def plain_type(wanted: Any) -> Any:
    """The type without what is annotated to it."""
    while get_origin(wanted) is Annotated:
        wanted = get_args(wanted)[0]
    return wanted


def _is_struct(kind: Any) -> bool:
    return isinstance(get_origin(kind) or kind, type) and issubclass(get_origin(kind) or kind, msgspec.Struct)


def _unwrap(wanted: Any, value: Any) -> Any:
    """The one type inside Annotated and Optional; a union of several structs by the value's tag."""
    wanted = plain_type(wanted)
    if get_origin(wanted) not in (Union, UnionType):
        return wanted
    several = [part for part in get_args(wanted) if part not in (NoneType, msgspec.UnsetType)]
    if len(several) == 1:
        return _unwrap(several[0], value)
    objects = [plain_type(part) for part in several if _is_struct(plain_type(part))]
    if isinstance(value, dict) and len(objects) == 1:
        return objects[0]
    for part in several:
        config = getattr(part, "__struct_config__", None)
        if config and isinstance(value, dict) and value.get(config.tag_field) == config.tag:
            return part
    return wanted


def _choices(kind: Any) -> list[str]:
    if get_origin(kind) in (Union, UnionType):
        parts = [part for part in get_args(kind) if part not in (NoneType, msgspec.UnsetType)]
        each = [_choices(plain_type(part)) for part in parts]
        return [word for words in each for word in words] if all(each) else []
    if get_origin(kind) is Literal:
        return [str(word) for word in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return [str(word.value) for word in kind]
    return []


def _pattern(wanted: Any) -> str | None:
    """The remedy that a type gives itself: `Meta(pattern=…, description="must be …")`."""
    parts = [wanted, *(get_args(wanted) if get_origin(wanted) in (Union, UnionType) else ())]
    for part in parts:
        for meta in getattr(part, "__metadata__", ()):
            if isinstance(meta, msgspec.Meta) and meta.pattern and meta.description:
                return meta.description
    return None
