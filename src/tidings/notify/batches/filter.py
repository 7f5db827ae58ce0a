"""Which recipients a batch is for: a condition over recipients as SQL.

The SQL means what `Expression.matches` means for `scope_of` a recipient; a property test holds the two together. Values
are parameters; the SQL around them is made of our own words alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import msgspec

from tidings.contracts.enums import CHANNELS
from tidings.kernel.errors import BadValueError
from tidings.kernel.expressions import Expression, ExpressionError, parse
from tidings.kernel.expressions.evaluate import moment_of
from tidings.kernel.expressions.tree import (
    ORDERINGS,
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
    Test,
    tests_of,
)
from tidings.kernel.sql import Query
from tidings.notify.recipients.model import IdentityType

_KNOWN: Final = "tag, locale, timezone, identity.type, identity.id, attributes.<name>, channel, created_at"
#: Where a query takes the condition.
_PLACE: Final = "(TRUE)"

_TAG: Final = ("tag",)
_LOCALE: Final = ("locale",)
_CHANNEL: Final = ("channel",)
_CREATED: Final = ("created_at",)
#: Columns that are one text or null.
_TEXTS: Final[Mapping[tuple[str | int, ...], str]] = {
    ("timezone",): "r.primary_timezone",
    ("identity", "type"): "r.identity_type",
    ("identity", "id"): "r.identity_id",
}
#: Sets of words, without an order and without parts.
_WORDS: Final[Mapping[tuple[str | int, ...], tuple[str, ...]]] = {
    _CHANNEL: CHANNELS,
    ("identity", "type"): tuple(kind.value for kind in IdentityType),
}


def read_filter(text: str, *, field: str = "filter") -> Expression:
    """The condition; a `BadValueError` that points at the place where it is none over recipients."""
    try:
        expression = parse(text)
        expression.refuse_unknown(_is_known, f"there are {_KNOWN}")
        for test in tests_of(expression.root):
            _check(expression, test)
    except ExpressionError as error:
        raise error.of(field) from None
    return expression


def scope_of(
    *,
    tags: Sequence[str],
    locale: str,
    timezone: str,
    identity_type: str | None,
    identity_id: str | None,
    attributes: Mapping[str, Any],
    channels: Sequence[str],
    created_at: datetime,
) -> dict[str, Any]:
    """A recipient as a condition sees it. Nothing is null that has a value; `fr-CA` is `fr` too."""
    parts = locale.split("-")
    return {
        "tag": list(tags) or None,
        "locale": ["-".join(parts[:end]) for end in range(len(parts), 0, -1)],
        "timezone": timezone,
        "identity": {"type": identity_type, "id": identity_id},
        "attributes": attributes,
        "channel": list(channels) or None,
        "created_at": created_at,
    }


def filtered(query: Query, expression: Expression | None) -> tuple[Query, dict[str, Any]]:
    """The query with the condition in its place, and the condition's own parameters."""
    if expression is None:
        return query, {}
    sql = _Sql(first=len(query.parameters) + 1)
    condition = sql.node(expression.root)
    names = tuple(f"filter_{number}" for number in range(len(sql.values)))
    text = query.text.replace(_PLACE, f"({condition})")
    made = Query(query.name, query.why, text, (*query.parameters, *names), query.span)
    return made, dict(zip(names, sql.values, strict=True))


def _is_known(path: FieldPath) -> bool:
    steps = path.steps
    if steps[0] == "attributes":
        return len(steps) > 1 and isinstance(steps[1], str)
    return steps in (_TAG, _LOCALE, _CHANNEL, _CREATED) or steps in _TEXTS


def _check(expression: Expression, test: Test) -> None:
    """Refuse what could never hold: a mistake is told, and not sent to nobody."""
    steps = test.field.steps
    if steps[0] == "attributes" or isinstance(test, NullTest):
        return
    for value, position in _values(test):
        if not isinstance(value, str):
            raise expression.error_at(position, f"{test.field} is a text: write it between ' and '")
        if steps == _CREATED and moment_of(value) is None:
            raise expression.error_at(
                position, "expected a date or a time such as '2026-05-01' or '2026-05-01T09:00Z'"
            )
        known = _WORDS.get(steps)
        if known is not None and value not in known:
            raise expression.error_at(position, f"{test.field} is one of {', '.join(known)}")
    if not isinstance(test, Comparison):
        return
    ordered, parts = test.operator in ORDERINGS, test.operator in (Operator.CONTAINS, Operator.STARTS_WITH)
    if steps in (_LOCALE, *_WORDS) and (ordered or (parts and steps != _LOCALE)):
        raise expression.error_at(test.operator_position, f"{test.field} takes =, !=, in and not in")
    if steps == _CREATED and parts:
        raise expression.error_at(
            test.operator_position, "created_at takes =, !=, <, <=, >, >=, in and not in"
        )


def _values(test: Comparison | Membership) -> Iterator[tuple[Literal, int]]:
    if isinstance(test, Comparison):
        yield test.value, test.value_position
    else:
        yield from zip(test.values, test.value_positions, strict=True)


@dataclass(slots=True)
class _Sql:
    """Writes conditions over `r`, a recipient; every one is true or false, and never null."""

    #: The number of the first parameter.
    first: int
    values: list[Any] = field(default_factory=list)

    def node(self, node: Node) -> str:
        match node:
            case AllOf(parts):
                return " AND ".join(f"({self.node(part)})" for part in parts)
            case AnyOf(parts):
                return " OR ".join(f"({self.node(part)})" for part in parts)
            case Negation(of):
                return f"NOT ({self.node(of)})"
            case NullTest(path, negated):
                return f"{'NOT ' if negated else ''}({self._is_null(path)})"
            case Membership(path, values, negated):
                found = " OR ".join(self._equal(path, value) for value in values)
                return f"({found}) IS {'NOT ' if negated else ''}TRUE"
            case Comparison():
                return self._comparison(node)

    def _comparison(self, test: Comparison) -> str:
        path, operator, value = test.field, test.operator, test.value
        if operator is Operator.UNEQUAL:
            return f"({self._equal(path, value)}) IS NOT TRUE"
        if operator is Operator.EQUAL:
            return f"({self._equal(path, value)}) IS TRUE"
        if operator is Operator.CONTAINS:
            return f"({self._contains(path, value)}) IS TRUE"
        return f"({self._any(path, operator, value)}) IS TRUE"

    def _equal(self, path: FieldPath, value: Literal) -> str:
        if path.steps == _TAG:
            return f"{self._given(value, 'text')} = ANY (r.tags)"
        if path.steps == _LOCALE:
            number = self._given(value, "text")
            return f"r.primary_locale = {number} OR starts_with(r.primary_locale, {number} || '-')"
        if path.steps == _CHANNEL:
            return self._has_address(f"a.channel = {self._given(value, 'text')}")
        if path.steps == _CREATED:
            return f"r.created_at = {self._moment(value)}"
        if path.steps in _TEXTS:
            return f"{_TEXTS[path.steps]} = {self._given(value, 'text')}"
        # A list contains a plain value, and a plain value contains itself.
        return f"{self._attribute(path)} @> {self._json(value)}"

    def _contains(self, path: FieldPath, value: Literal) -> str:
        if path.steps in _TEXTS:
            return f"strpos({_TEXTS[path.steps]}, {self._given(value, 'text')}) > 0"
        if path.steps[0] != "attributes" or not isinstance(value, str):
            return self._equal(path, value)
        found = self._attribute(path)
        inside = f"strpos({found} #>> '{{}}', {self._given(value, 'text')}) > 0"
        return f"CASE WHEN jsonb_typeof({found}) = 'string' THEN {inside} ELSE {found} @> {self._json(value)} END"

    def _any(self, path: FieldPath, operator: Operator, value: Literal) -> str:
        """One of the values there is before, behind, or begins with it."""
        compare = _comparer(operator)
        if path.steps == _CREATED:
            return compare("r.created_at", self._moment(value))
        if path.steps == _LOCALE:
            # The whole tag begins with whatever a shorter one begins with.
            return compare("r.primary_locale", self._given(value, "text"))
        if path.steps == _TAG:
            held = compare('one COLLATE "C"', self._given(value, "text"))
            return f"EXISTS (SELECT FROM unnest(r.tags) AS one WHERE {held})"
        if path.steps in _TEXTS:
            return compare(f'{_TEXTS[path.steps]} COLLATE "C"', self._given(value, "text"))
        found, text = self._attribute(path), isinstance(value, str)
        given = self._given(value, "text") if text else f"({self._json(value)} #>> '{{}}')::numeric"
        one = "(one #>> '{}') COLLATE \"C\"" if text else "(one #>> '{}')::numeric"
        listed = f"CASE WHEN jsonb_typeof({found}) = 'array' THEN {found} ELSE jsonb_build_array({found}) END"
        kind = "string" if text else "number"
        return (
            f"EXISTS (SELECT FROM jsonb_array_elements({listed}) AS one "
            f"WHERE CASE WHEN jsonb_typeof(one) = '{kind}' THEN {compare(one, given)} ELSE false END)"
        )

    def _is_null(self, path: FieldPath) -> str:
        if path.steps == _TAG:
            return "cardinality(r.tags) = 0"
        if path.steps == _CHANNEL:
            return f"NOT {self._has_address('TRUE')}"
        if path.steps in _TEXTS:
            return f"{_TEXTS[path.steps]} IS NULL"
        if path.steps in (_LOCALE, _CREATED):
            return "FALSE"
        found = self._attribute(path)
        return f"{found} IS NULL OR jsonb_typeof({found}) = 'null'"

    @staticmethod
    def _has_address(condition: str) -> str:
        return (
            "EXISTS (SELECT FROM notification.recipient_addresses AS a "
            f"WHERE a.tenant_id = r.tenant_id AND a.recipient_id = r.id AND {condition})"
        )

    def _attribute(self, path: FieldPath) -> str:
        # A strict path, as ours are: `->` would find a plain value at the first place of itself.
        steps = "".join(
            f".{msgspec.json.encode(step).decode()}" if isinstance(step, str) else f"[{step}]"
            for step in path.steps[1:]
        )
        given = self._given(f"strict ${steps}", "text")
        return f"jsonb_path_query_first(r.attributes, {given}::jsonpath, '{{}}', true)"

    def _json(self, value: Literal) -> str:
        return self._given(msgspec.json.encode(value).decode(), "jsonb")

    def _moment(self, value: Literal) -> str:
        moment = moment_of(str(value))
        if moment is None:
            raise BadValueError("filter", "has a moment that is none")
        return self._given(moment, "timestamptz")

    def _given(self, value: Any, kind: str) -> str:
        self.values.append(value)
        return f"${self.first + len(self.values) - 1}::{kind}"


def _comparer(operator: Operator) -> Callable[[str, str], str]:
    if operator is Operator.STARTS_WITH:
        return lambda one, given: f"starts_with({one}, {given})"
    return lambda one, given: f"{one} {operator.value} {given}"
