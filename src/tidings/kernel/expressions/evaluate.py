"""Whether a condition holds for a scope of nested dicts and lists.

`!=` is the opposite of `=` and `not in` of `in`, also where the value is missing: then `=` is false and `!=` true.
A list fulfils a test when one of its elements does. Values of different kinds are never equal and have no order.

Data comes from outside, and whoever asks has others waiting: how many elements of lists are looked at is bounded. A condition
that would need more does not hold, whatever stands around the test: nobody is written to on half a look.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from tidings.kernel.expressions.tree import (
    AllOf,
    AnyOf,
    Comparison,
    FieldPath,
    Literal,
    Membership,
    Negation,
    Node,
    NullTest,
    Operator,
    kind_of,
)

#: A list that is looked at has so many elements at most, and all tests of a condition look at so many.
MOST_ELEMENTS: Final = 10_000
MOST_LOOKS: Final = 100_000


class _TooMuch(Exception):  # noqa: N818  # an answer, and no error: it never leaves this file
    """More elements than a condition looks at."""


class _Looks:
    """How many elements may still be looked at."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = MOST_LOOKS

    def at(self, found: Any) -> Sequence[Any]:
        """What a test is asked of: the elements of a list, or the value itself, or nothing."""
        if found is None:
            return ()
        if not isinstance(found, (list, tuple)):
            return (found,)
        self._left -= len(found)
        if len(found) > MOST_ELEMENTS or self._left < 0:
            raise _TooMuch
        return found


def holds(node: Node, scope: Mapping[str, Any]) -> bool:
    """Whether the condition holds."""
    try:
        return _holds(node, scope, _Looks())
    except _TooMuch:
        return False


def _holds(node: Node, scope: Mapping[str, Any], looks: _Looks) -> bool:
    match node:
        case AllOf(parts):
            return all(_holds(part, scope, looks) for part in parts)
        case AnyOf(parts):
            return any(_holds(part, scope, looks) for part in parts)
        case Negation(of):
            return not _holds(of, scope, looks)
        case NullTest(field, negated):
            return (value_at(scope, field) is None) is not negated
        case Membership(field, _, negated):
            return _has_member(node, looks.at(value_at(scope, field))) is not negated
        case Comparison():
            return _compares(node, value_at(scope, node.field), looks)


def value_at(scope: Mapping[str, Any], field: FieldPath) -> Any:
    """What is found there; None where there is nothing."""
    value: Any = scope
    for step in field.steps:
        match value:
            case Mapping() if isinstance(step, str):
                value = value.get(step)
            case list() | tuple() if isinstance(step, int):
                value = value[step] if step < len(value) else None
            case _:
                return None
    return value


def moment_of(text: str) -> datetime | None:
    """A text as a moment, for values that are moments: a date or a time by ISO 8601, in UTC where it names no zone."""
    try:
        read = datetime.fromisoformat(text)
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _has_member(test: Membership, found: Sequence[Any]) -> bool:
    """Whether one of these is one of the values: one look at each, however many values there are."""
    moments: set[datetime | None] | None = None
    for one in found:
        if isinstance(one, datetime):
            if moments is None:
                moments = {moment_of(value) for value in test.values if isinstance(value, str)}
            if one in moments:
                return True
        elif (kind := kind_of(one)) is not None and (kind, one) in test.members:
            return True
    return False


def _compares(test: Comparison, found: Any, looks: _Looks) -> bool:
    if test.operator is Operator.UNEQUAL:
        return not any(_equal(one, test.value) for one in looks.at(found))
    if test.operator is Operator.CONTAINS and isinstance(found, str):
        return isinstance(test.value, str) and test.value in found
    return any(_compare(test.operator, one, test.value) for one in looks.at(found))


def _compare(operator: Operator, found: Any, value: Literal) -> bool:
    match operator:
        # A list contains the value where one of its elements is equal to it.
        case Operator.EQUAL | Operator.CONTAINS:
            return _equal(found, value)
        case Operator.STARTS_WITH:
            return isinstance(found, str) and isinstance(value, str) and found.startswith(value)
    order = _order(found, value)
    if order is None:
        return False
    match operator:
        case Operator.LESS:
            return order < 0
        case Operator.AT_MOST:
            return order <= 0
        case Operator.MORE:
            return order > 0
        case _:
            return order >= 0


def _equal(found: Any, value: Literal) -> bool:
    if isinstance(found, bool) or isinstance(value, bool):
        return found is value
    return _order(found, value) == 0


def _order(found: Any, value: Literal) -> int | None:
    """Below zero, zero or above it, as the one stands before, beside or after the other; None where neither."""
    if isinstance(found, bool) or isinstance(value, bool):
        return None
    if isinstance(found, datetime):
        moment = moment_of(value) if isinstance(value, str) else None
        return None if moment is None else (found > moment) - (found < moment)
    if isinstance(found, str) and isinstance(value, str):
        return (found > value) - (found < value)
    if isinstance(found, int | float) and isinstance(value, int | float):
        # A number that is none is neither before nor after, nor equal.
        return None if found != found else (found > value) - (found < value)  # noqa: PLR0124
    return None
