"""CLDR's plural rules as JavaScript expressions over the operands n, i, v, w, f and t."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from babel import Locale

#: A rule as the library parsed it: `("and", (left, right))`, `("mod", (operand, value))`, ….
Node = tuple[str, Any]

_OPERANDS = frozenset("nivwft")


def category_expression(locale: "Locale") -> str:
    """A JavaScript expression that gives the plural category of a number."""
    cases = [f'{_condition(rule)} ? "{category}"' for category, rule in locale.plural_form.abstract]
    return " : ".join([*cases, '"other"'])


def _condition(node: Node) -> str:
    kind, parts = node
    match kind:
        case "and":
            return f"({_condition(parts[0])} && {_condition(parts[1])})"
        case "or":
            return f"({_condition(parts[0])} || {_condition(parts[1])})"
        case "not":
            return f"!{_condition(parts[0])}"
        case "relation":
            return _relation(*parts)
    raise ValueError(f"unknown part of a plural rule: {kind}")


def _relation(method: str, operand: Node, ranges: Node) -> str:
    value = _value(operand)
    tests = [_within(value, _value(low), _value(high), method) for low, high in ranges[1]]
    return f"({' || '.join(tests)})"


def _within(value: str, low: str, high: str, method: str) -> str:
    if low == high:
        return f"{value} === {low}"
    # "in 2..4" means whole numbers; "within" would take 2.5 as well.
    whole = f" && Number.isInteger({value})" if method == "in" else ""
    return f"({value} >= {low} && {value} <= {high}{whole})"


def _value(node: Node) -> str:
    kind, parts = node
    if kind == "value":
        return str(parts[0])
    if kind == "mod":
        return f"({_value(parts[0])} % {_value(parts[1])})"
    # c and e, the exponents of compact forms, are never there.
    return kind if kind in _OPERANDS else "0"
