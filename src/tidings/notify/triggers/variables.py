"""The variables of a message, from an event: paths are looked up, all else is as it stands. Pure.

`"$.data.place"` is a path, `"$$.50"` the text `$.50`; what is inside objects and lists counts too. A path that leads
nowhere leaves its variable out: whether it is needed is the template's to say. What an event says can be named many
times over: there is a budget for what paths lead to.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tidings.kernel.errors import BadValueError
from tidings.kernel.refusals import FieldError
from tidings.notify.accept.validator import MOST_VARIABLES_BYTES
from tidings.notify.triggers.paths import is_path, parse_path

#: How deep objects and lists may be nested.
_DEEPEST: Final = 8
#: It is left out.
_NOTHING: Final = object()
#: So many values the steps of all paths together lead to at most.
MOST_VALUES: Final = 100_000

_encode = msgspec.json.Encoder().encode


class VariablesTooLargeError(Exception):
    """The paths lead to more than a message may be given."""


class _Budget:
    """What is left to be found, in values and in bytes of JSON."""

    __slots__ = ("_bytes", "_values")

    def __init__(self) -> None:
        self._values = MOST_VALUES
        self._bytes = MOST_VARIABLES_BYTES

    def spend(self, values: int) -> None:
        self._values -= values
        if self._values < 0:
            raise VariablesTooLargeError

    def keep(self, found: list[Any]) -> None:
        for value in found:
            self._bytes -= len(_encode(value))
            if self._bytes < 0:
                raise VariablesTooLargeError


def variables_of(mapping: Mapping[str, Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    """What the template gets for this event; a `VariablesTooLargeError` where it is more than accepting takes."""
    found = _all_filled(mapping, scope, _Budget())
    if len(_encode(found)) > MOST_VARIABLES_BYTES:
        raise VariablesTooLargeError
    return found


def wrong_variables(mapping: Mapping[str, Any], field: str = "variables") -> list[FieldError]:
    """The paths that can't be read, by their places."""
    wrong: list[FieldError] = []
    for name, value in mapping.items():
        _check(value, f"{field}.{name}", wrong, 0)
    return wrong


def _all_filled(mapping: Mapping[str, Any], scope: Mapping[str, Any], budget: _Budget) -> dict[str, Any]:
    found = {name: _filled(value, scope, budget) for name, value in mapping.items()}
    return {name: value for name, value in found.items() if value is not _NOTHING}


def _filled(value: Any, scope: Mapping[str, Any], budget: _Budget) -> Any:
    if isinstance(value, str):
        if value.startswith("$$"):
            return value[1:]
        if not is_path(value):
            return value
        path = parse_path(value, field="variables")
        found = path.find(scope, budget.spend)
        budget.keep(found)
        if path.many:
            return found
        return found[0] if found else _NOTHING
    if isinstance(value, Mapping):
        return _all_filled(value, scope, budget)
    if isinstance(value, list):
        return [one for item in value if (one := _filled(item, scope, budget)) is not _NOTHING]
    return value


def _check(value: Any, field: str, wrong: list[FieldError], depth: int) -> None:
    if depth > _DEEPEST:
        wrong.append(FieldError(field, f"must not be nested deeper than {_DEEPEST} levels"))
    elif isinstance(value, str):
        if is_path(value):
            try:
                parse_path(value, field=field)
            except BadValueError as error:
                wrong.append(FieldError(field, f"{error.remedy}; a text that begins with $ is written $$"))
        elif value.startswith("$") and not value.startswith("$$"):
            wrong.append(FieldError(field, "begins with $ and is no path: write $$ for a dollar sign"))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            _check(inner, f"{field}.{name}", wrong, depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            _check(inner, f"{field}[{place}]", wrong, depth + 1)
