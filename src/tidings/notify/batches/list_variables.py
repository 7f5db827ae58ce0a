"""What a list says of each person beside who they are: columns that become variables, over those of the batch. Pure."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import msgspec

from tidings.kernel.csv_text import untamed
from tidings.kernel.refusals import FieldError
from tidings.notify.accept.validator import MOST_VARIABLES_BYTES
from tidings.notify.imports.model import LineProblem
from tidings.notify.templates.variables import REQUIRED

#: A heading that means a variable, whatever recipients have; a dot leads into an object.
PREFIX: Final = "variables."
_FIELD: Final = "variables"

#: Says what is wrong with some variables.
Faults: TypeAlias = Callable[[Mapping[str, Any]], Sequence[FieldError]]


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsToFill:
    """A version of a template that people of the batch may get, and what is filled in for all of them."""

    #: The share of an A/B test that gets it; 0: the batch as it is.
    variant: int
    variables: Mapping[str, Any]
    schema: Mapping[str, Any]
    faults: Faults


class ListVariables:
    """Reads the variables of lines, and holds them against every version that somebody may get."""

    def __init__(self, words: Sequence[WordsToFill]) -> None:
        self._words = words
        #: By heading: the way to the variable.
        self._ways: dict[str, tuple[str, ...]] = {}

    def knows(self, heading: str) -> bool:
        """Whether a heading means a variable; from then on it does."""
        way = tuple(heading.removeprefix(PREFIX).split("."))
        if not all(way) or not any(_may_have(words.schema, way[0], heading) for words in self._words):
            return False
        self._ways[heading] = way
        return True

    def is_one(self, heading: str) -> bool:
        """Whether it was found to mean one."""
        return heading in self._ways

    def declared(self, names: Collection[str]) -> set[str]:
        """Those of the names that the words know."""
        known = {
            name
            for words in self._words
            for name in (*_declared(words.schema), *words.schema.get("required", ()))
        }
        return known & set(names)

    def missing(self) -> list[str]:
        """Variables that the words need, and that neither the batch nor a column has."""
        there = {way[0] for way in self._ways.values()}
        return sorted(
            {
                fault.field.removeprefix(PREFIX)
                for words in self._words
                for fault in words.faults(words.variables)
                if fault.remedy == REQUIRED
                and fault.field.removeprefix(PREFIX).partition(".")[0] not in there
            }
        )

    def of_cells(self, cells: Mapping[str, str]) -> dict[str, Any]:
        """The variables in a line of a CSV; an empty cell leaves what the batch has."""
        found: dict[str, Any] = {}
        for heading, way in self._ways.items():
            text = untamed(cells[heading].strip())
            if not text:
                continue
            inner = found
            for name in way[:-1]:
                inner = inner.setdefault(name, {})
            inner[way[-1]] = _read(text, self._kinds(way))
        return found

    def problems(self, line: int, own: Mapping[str, Any]) -> list[LineProblem]:
        """What is wrong with what somebody would get."""
        wrong: dict[tuple[str, str], LineProblem] = {}
        for words in self._words:
            try:
                filled = laid_over(words.variables, own)
                size = len(msgspec.json.encode(filled))
            except RecursionError:
                return [LineProblem(line, _FIELD, "bad_variable", "is nested too deeply")]
            if size > MOST_VARIABLES_BYTES:
                what = f"must take at most {MOST_VARIABLES_BYTES} bytes as JSON, with those of the batch"
                return [LineProblem(line, _FIELD, "too_large", what)]
            for fault in words.faults(filled):
                column = self._column(fault.field)
                code = "variable_missing" if fault.remedy == REQUIRED else "bad_variable"
                wrong.setdefault((column, fault.remedy), LineProblem(line, column, code, fault.remedy))
        return list(wrong.values())

    def _kinds(self, way: Sequence[str]) -> Collection[str]:
        for words in self._words:
            part: Any = words.schema
            for name in way:
                part = _declared(part).get(name)
            if isinstance(part, Mapping) and "type" in part:
                kinds = part["type"]
                return (kinds,) if isinstance(kinds, str) else tuple(kinds)
        return ("string",)

    def _column(self, field: str) -> str:
        """As the file calls it. A name that nobody has declared is the line's own, and may hold anything."""
        way = field.removeprefix(PREFIX).replace("[", ".").split(".")
        for heading, known in self._ways.items():
            if tuple(way[: len(known)]) == known:
                return heading
        declared = any(way[0] in _declared(words.schema) for words in self._words)
        return f"{PREFIX}{way[0]}" if declared else _FIELD


def laid_over(given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """What is filled in for somebody: their own over what is given; in an object, name by name."""
    found = dict(given)
    for name, value in own.items():
        before = found.get(name)
        both = isinstance(before, Mapping) and isinstance(value, Mapping)
        found[name] = laid_over(before, value) if both and before is not None else value
    return found


def _may_have(schema: Mapping[str, Any], name: str, heading: str) -> bool:
    """A plain heading has to be declared, so that a typing mistake loses no column; with the prefix it is meant."""
    declared = name in _declared(schema)
    return declared or (heading.startswith(PREFIX) and schema.get("additionalProperties", True) is not False)


def _declared(part: Any) -> Mapping[str, Any]:
    properties = part.get("properties") if isinstance(part, Mapping) else None
    return properties if isinstance(properties, Mapping) else {}


def _read(text: str, kinds: Collection[str]) -> Any:
    """The value that a cell stands for; what can't be read stays a text, and the schema says what is wrong with it."""
    if "string" in kinds:
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text
    fits = {
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, int | float) and not isinstance(value, bool),
        "boolean": isinstance(value, bool),
        "array": isinstance(value, list),
        "object": isinstance(value, dict),
        "null": value is None,
    }
    return value if any(fits.get(kind, False) for kind in kinds) else text
