"""A condition as a tree, which prints as the text that it is parsed from again."""

import dataclasses
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

Literal = str | int | float | bool

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Operator(StrEnum):
    """How a field is compared with one value."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    STARTS_WITH = "starts with"


#: They put values in an order.
ORDERINGS: Final = frozenset((Operator.LESS, Operator.AT_MOST, Operator.MORE, Operator.AT_LEAST))


@dataclass(frozen=True, slots=True)
class FieldPath:
    """Where a value is found: `data.rooms[0].kind`."""

    #: Names of members, and places in lists.
    steps: tuple[str | int, ...]
    position: int = dataclasses.field(default=0, compare=False)

    def __str__(self) -> str:
        first, *rest = self.steps
        return str(first) + "".join(_step(step) for step in rest)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`field = value`, and the other operators with one value."""

    field: FieldPath
    operator: Operator
    value: Literal
    #: Where the operator and the value are.
    operator_position: int = dataclasses.field(default=0, compare=False)
    value_position: int = dataclasses.field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.field} {self.operator} {literal_text(self.value)}"


@dataclass(frozen=True, slots=True)
class Membership:
    """`field in (…)` and `field not in (…)`."""

    field: FieldPath
    values: tuple[Literal, ...]
    negated: bool = False
    operator_position: int = dataclasses.field(default=0, compare=False)
    value_positions: tuple[int, ...] = dataclasses.field(default=(), compare=False)
    #: The values with their kinds, to find one at once.
    members: frozenset[tuple[type | None, Literal]] = dataclasses.field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        members = frozenset((kind_of(value), value) for value in self.values)
        object.__setattr__(self, "members", members)

    def __str__(self) -> str:
        words = "not in" if self.negated else "in"
        return f"{self.field} {words} ({', '.join(map(literal_text, self.values))})"


@dataclass(frozen=True, slots=True)
class NullTest:
    """`field is null` and `field is not null`; a field that is missing is null."""

    field: FieldPath
    negated: bool = False

    def __str__(self) -> str:
        return f"{self.field} is {'not ' if self.negated else ''}null"


@dataclass(frozen=True, slots=True)
class Negation:
    """`not` …"""

    of: "Node"

    def __str__(self) -> str:
        return f"not {_inside(self.of, AllOf, AnyOf)}"


@dataclass(frozen=True, slots=True)
class AllOf:
    """… `and` …"""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        return " and ".join(_inside(part, AllOf, AnyOf) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    """… `or` …"""

    parts: tuple["Node", ...]

    def __str__(self) -> str:
        return " or ".join(_inside(part, AnyOf) for part in self.parts)


Test = Comparison | Membership | NullTest
Node = Test | Negation | AllOf | AnyOf


def tests_of(node: Node) -> list[Test]:
    """The tests at the leaves, from left to right."""
    match node:
        case Negation(of):
            return tests_of(of)
        case AllOf(parts) | AnyOf(parts):
            return [test for part in parts for test in tests_of(part)]
        case _:
            return [node]


def kind_of(value: object) -> type | None:
    """Which values it may be equal to: `true` is not 1, and 1 is 1.0; None where no value can be written for it."""
    match value:
        case bool():
            return bool
        case str():
            return str
        case int() | float():
            return float
        case _:
            return None


def literal_text(value: Literal) -> str:
    """A value as it is written."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case int():
            return str(value)
        case float():
            return format(Decimal(repr(value)), "f")  # digits and no exponent


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    # After a dot a keyword is a name like any other.
    return f".{step}" if _PLAIN.fullmatch(step) else f"[{literal_text(step)}]"


def _inside(node: Node, *grouped: type) -> str:
    return f"({node})" if isinstance(node, grouped) else str(node)
