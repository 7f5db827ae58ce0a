"""Reads a condition: `or` of `and` of `not` of tests, by recursive descent that is bounded."""

from typing import Final

from tidings.kernel.expressions.errors import ExpressionError
from tidings.kernel.expressions.tokens import Kind, Word, tokenize
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
)

#: Parentheses and `not` stand inside each other so often at most; a condition has so many tests, a list so many
#: values and a field so many steps.
MOST_DEPTH: Final = 32
MOST_TESTS: Final = 200
MOST_VALUES: Final = 500
MOST_STEPS: Final = 16
MOST_INDEX: Final = 9_999

_SIGNS: Final = frozenset(("=", "!=", "<", "<=", ">", ">="))
_OPERATORS: Final = "=, !=, <, <=, >, >=, in, contains, starts with or is null"


def parse_tree(text: str) -> Node:
    """The condition as a tree; an ExpressionError points at the place where it can't be read."""
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._at = 0
        self._depth = 0
        self._tests = 0

    def whole(self) -> Node:
        if self._here().kind is Kind.END:
            raise self._refusal("a condition can't be empty: tag = 'vip'")
        node = self._any_of()
        if self._here().kind is not Kind.END:
            remedy = "there is no ( for this )" if self._is_sign(")") else "expected `and`, `or` or the end"
            raise self._refusal(remedy)
        return node

    def _any_of(self) -> Node:
        parts = [self._all_of()]
        while self._take_keyword("or"):
            parts.append(self._all_of())
        return AnyOf(tuple(parts)) if len(parts) > 1 else parts[0]

    def _all_of(self) -> Node:
        parts = [self._negation()]
        while self._take_keyword("and"):
            parts.append(self._negation())
        return AllOf(tuple(parts)) if len(parts) > 1 else parts[0]

    def _negation(self) -> Node:
        if self._is_keyword("not"):
            self._enter()
            self._at += 1
            node = Negation(self._negation())
            self._depth -= 1
            return node
        if self._is_sign("("):
            self._enter()
            self._at += 1
            inner = self._any_of()
            self._expect_sign(")", "expected `and`, `or` or )")
            self._depth -= 1
            return inner
        return self._test()

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._refusal(f"( and `not` stand inside each other at most {MOST_DEPTH} times")

    def _test(self) -> Node:
        if self._tests == MOST_TESTS:
            raise self._refusal(f"a condition has at most {MOST_TESTS} comparisons")
        self._tests += 1
        field = self._field()
        token = self._here()
        if token.kind is Kind.SIGN and token.value in _SIGNS:
            self._at += 1
            return self._comparison(field, Operator(token.value), token.position)
        if self._take_keyword("is"):
            negated = self._take_keyword("not")
            if not self._take_keyword("null"):
                raise self._refusal("expected `null`" if negated else "expected `null` or `not null`")
            return NullTest(field, negated)
        negated = self._take_keyword("not")
        if self._take_keyword("in"):
            return self._membership(field, token.position, negated=negated)
        if operator := self._word_operator():
            test = self._comparison(field, operator, token.position)
            return Negation(test) if negated else test
        raise self._refusal(
            "expected `in`, `contains` or `starts with`" if negated else f"expected {_OPERATORS}"
        )

    def _word_operator(self) -> Operator | None:
        if self._take_keyword("contains"):
            return Operator.CONTAINS
        if self._take_keyword("starts"):
            if not self._take_keyword("with"):
                raise self._refusal("expected `with`, of `starts with`")
            return Operator.STARTS_WITH
        return None

    def _comparison(self, field: FieldPath, operator: Operator, position: int) -> Node:
        token = self._here()
        if token.kind is Kind.KEYWORD and token.value == "null":
            if operator not in (Operator.EQUAL, Operator.UNEQUAL):
                raise self._refusal(
                    "nothing is compared with null in this way: write `is null` or `is not null`"
                )
            self._at += 1
            return NullTest(field, negated=operator is Operator.UNEQUAL)
        value = self._literal()
        if operator in ORDERINGS and isinstance(value, bool):
            raise self._refusal("true and false have no order: use = or !=", token)
        if operator is Operator.STARTS_WITH and not isinstance(value, str):
            raise self._refusal("expected a text after `starts with`", token)
        return Comparison(field, operator, value, position, token.position)

    def _membership(self, field: FieldPath, position: int, *, negated: bool) -> Membership:
        self._expect_sign("(", "expected ( and the values: in ('a', 'b')")
        values: list[Literal] = []
        positions: list[int] = []
        while True:
            if len(values) == MOST_VALUES:
                raise self._refusal(f"a list has at most {MOST_VALUES} values")
            if self._is_keyword("null"):
                raise self._refusal("null can't stand in a list: write `is null`")
            positions.append(self._here().position)
            values.append(self._literal())
            if self._is_sign(","):
                self._at += 1
                continue
            self._expect_sign(")", "expected , or )")
            return Membership(field, tuple(values), negated, position, tuple(positions))

    def _field(self) -> FieldPath:
        token = self._here()
        if token.kind is not Kind.NAME:
            raise self._refusal(_no_field(token))
        self._at += 1
        steps: list[str | int] = [token.value]
        while self._is_sign(".") or self._is_sign("["):
            if len(steps) == MOST_STEPS:
                raise self._refusal(f"a field has at most {MOST_STEPS} steps")
            dot = self._is_sign(".")
            self._at += 1
            steps.append(self._member() if dot else self._in_brackets())
        return FieldPath(tuple(steps), token.position)

    def _member(self) -> str:
        token = self._here()
        if token.kind not in (Kind.NAME, Kind.KEYWORD):
            raise self._refusal("expected a name after the dot; odd names are written ['like this']")
        self._at += 1
        return token.written

    def _in_brackets(self) -> str | int:
        token = self._here()
        if token.kind is Kind.TEXT:
            step: str | int = token.value
        elif token.kind is Kind.NUMBER and token.value.isdigit() and int(token.value) <= MOST_INDEX:
            step = int(token.value)
        else:
            raise self._refusal(f"expected a place from 0 to {MOST_INDEX}, or a name between ' and '")
        self._at += 1
        self._expect_sign("]", "expected ]")
        return step

    def _literal(self) -> Literal:
        token = self._here()
        if token.kind is Kind.NAME:
            raise self._refusal(f"expected a value; texts are written between ' and ': '{token.value}'")
        value = _value_of(token)
        if value is None:
            raise self._refusal("expected a text between ' and ', a number, true or false")
        self._at += 1
        return value

    def _here(self) -> Word:
        return self._tokens[self._at]

    def _is_sign(self, sign: str) -> bool:
        return self._here().kind is Kind.SIGN and self._here().value == sign

    def _is_keyword(self, word: str) -> bool:
        return self._here().kind is Kind.KEYWORD and self._here().value == word

    def _take_keyword(self, word: str) -> bool:
        if self._is_keyword(word):
            self._at += 1
            return True
        return False

    def _expect_sign(self, sign: str, remedy: str) -> None:
        if not self._is_sign(sign):
            raise self._refusal(remedy)
        self._at += 1

    def _refusal(self, remedy: str, token: Word | None = None) -> ExpressionError:
        return ExpressionError(self._text, position=(token or self._here()).position, remedy=remedy)


def _value_of(token: Word) -> Literal | None:
    match token:
        case Word(Kind.TEXT, value):
            return value
        case Word(Kind.NUMBER, value):
            return float(value) if "." in value else int(value)
        case Word(Kind.KEYWORD, "true"):
            return True
        case Word(Kind.KEYWORD, "false"):
            return False
        case _:
            return None


def _no_field(token: Word) -> str:
    if token.kind in (Kind.TEXT, Kind.NUMBER):
        return "expected a field; it stands on the left, and its value on the right"
    if token.kind is Kind.KEYWORD:
        return f"expected a field; `{token.value}` is a keyword"
    return "expected a field, `not` or ("
