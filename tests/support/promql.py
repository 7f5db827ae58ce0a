"""The part of PromQL that our alert rules use, evaluated over scrapes of a real process.

As Prometheus has it where it matters for an alarm: `increase` and `rate` need two samples of a series, so that a counter
which is first seen with a value in it has not increased; what a comparison drops is not there any more.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from prometheus_client.parser import text_string_to_metric_families

Labels: TypeAlias = frozenset[tuple[str, str]]
Vector: TypeAlias = dict[Labels, float]

_TOKEN = re.compile(
    r'\s*(?:([A-Za-z_:][\w:]*)|(\d+(?:\.\d+)?[smhd]?)|("(?:[^"\\]|\\.)*")|(=~|!~|!=|>=|<=|==|[{}()\[\],=<>/]))'
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
}
_MATCH: dict[str, Callable[[str, str], bool]] = {
    "=": lambda value, wanted: value == wanted,
    "!=": lambda value, wanted: value != wanted,
    "=~": lambda value, wanted: re.fullmatch(wanted, value) is not None,
    "!~": lambda value, wanted: re.fullmatch(wanted, value) is None,
}


@dataclass(frozen=True, slots=True)
class Scrape:
    """What a process said at that second."""

    at: float
    text: str

    def samples(self, name: str) -> Vector:
        """The values of one metric."""
        return {
            frozenset(sample.labels.items()): sample.value
            for family in text_string_to_metric_families(self.text)
            for sample in family.samples
            if sample.name == name
        }


def evaluate(expression: str, scrapes: Sequence[Scrape]) -> Vector:
    """What it comes to at the last of the scrapes; an alert fires for each element."""
    parser = _Parser(expression, scrapes)
    found = parser.either()
    parser.end()
    if isinstance(found, float):
        raise TypeError("an alert needs a vector")
    return found


class _Parser:
    def __init__(self, expression: str, scrapes: Sequence[Scrape]) -> None:
        self._tokens: list[str] = []
        place = 0
        expression = expression.strip()
        while place < len(expression):
            found = _TOKEN.match(expression, place)
            if found is None:
                raise ValueError(f"this is not in the subset: {expression[place:]}")
            self._tokens.append(found[0].strip())
            place = found.end()
        self._scrapes = scrapes
        self._now = scrapes[-1].at

    def end(self) -> None:
        if self._tokens:
            raise ValueError(f"this is left over: {' '.join(self._tokens)}")

    def either(self) -> Vector | float:
        left = self._compared()
        while self._take("or"):
            right = self._compared()
            if isinstance(left, float) or isinstance(right, float):
                raise TypeError("`or` joins vectors")
            left = {**right, **left}
        return left

    def _compared(self) -> Vector | float:
        left = self._divided()
        if self._tokens and self._tokens[0] in _COMPARE:
            compare, right = _COMPARE[self._tokens.pop(0)], self._divided()
            if isinstance(left, float) or not isinstance(right, float):
                raise TypeError("a vector is compared with a number")
            return {labels: value for labels, value in left.items() if compare(value, right)}
        return left

    def _divided(self) -> Vector | float:
        left = self._value()
        while self._take("/"):
            right = self._value()
            if isinstance(left, float) or isinstance(right, float):
                raise TypeError("vectors are divided by vectors")
            left = {k: v / right[k] for k, v in left.items() if right.get(k)}
        return left

    def _value(self) -> Vector | float:
        token = self._tokens.pop(0)
        if token == "(":
            inside = self.either()
            self._expect(")")
            return inside
        if re.fullmatch(r"\d+(\.\d+)?", token):
            return float(token)
        if token in ("sum", "max"):
            return self._aggregated(sum if token == "sum" else max)
        if token in ("increase", "rate"):
            return self._grown(per_second=token == "rate")
        if token == "absent":
            self._expect("(")
            inside = self.either()
            self._expect(")")
            return {} if inside else {frozenset(): 1.0}
        return self._selected(token)(self._scrapes[-1])

    def _aggregated(self, fold: Callable[[list[float]], float]) -> Vector:
        by: set[str] = set()
        if self._take("by"):
            self._expect("(")
            while not self._take(")"):
                by.add(self._tokens.pop(0))
                self._take(",")
        self._expect("(")
        inside = self.either()
        self._expect(")")
        if isinstance(inside, float):
            raise TypeError("a vector is aggregated")
        groups: dict[Labels, list[float]] = {}
        for labels, value in inside.items():
            groups.setdefault(frozenset(pair for pair in labels if pair[0] in by), []).append(value)
        return {labels: fold(values) for labels, values in groups.items()}

    def _grown(self, *, per_second: bool) -> Vector:
        self._expect("(")
        select = self._selected(self._tokens.pop(0))
        self._expect("[")
        span = self._tokens.pop(0)
        seconds = float(span[:-1]) * _SECONDS[span[-1]]
        self._expect("]")
        self._expect(")")
        series: dict[Labels, list[float]] = {}
        for scrape in self._scrapes:
            if scrape.at >= self._now - seconds:
                for labels, value in select(scrape).items():
                    series.setdefault(labels, []).append(value)
        found: Vector = {}
        for labels, values in series.items():
            if len(values) > 1:
                steps = pairwise(values)
                # A counter that has become smaller was begun anew.
                grown = sum(after - before if after >= before else after for before, after in steps)
                found[labels] = grown / seconds if per_second else grown
        return found

    def _selected(self, name: str) -> Callable[[Scrape], Vector]:
        matchers: list[tuple[str, str, str]] = []
        if self._take("{"):
            while not self._take("}"):
                label, how, value = (self._tokens.pop(0) for _ in range(3))
                matchers.append((label, how, value[1:-1]))
                self._take(",")

        def select(scrape: Scrape) -> Vector:
            return {
                labels: value
                for labels, value in scrape.samples(name).items()
                if all(_MATCH[how](dict(labels).get(label, ""), wanted) for label, how, wanted in matchers)
            }

        return select

    def _take(self, token: str) -> bool:
        if self._tokens and self._tokens[0] == token:
            self._tokens.pop(0)
            return True
        return False

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise ValueError(f"{token} is missing before {' '.join(self._tokens)}")
