"""Conditions, whatever is written."""

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tidings.kernel.expressions import Expression, ExpressionError, parse
from tidings.kernel.expressions.tokens import KEYWORDS
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

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=20)
numbers: st.SearchStrategy[Literal] = st.integers(-(10**15) + 1, 10**15 - 1) | st.builds(
    float, st.from_regex(r"-?[0-9]{1,7}\.[0-9]{1,8}", fullmatch=True)
)
literals: st.SearchStrategy[Literal] = st.one_of(texts, numbers, st.booleans())
paths = st.builds(
    lambda first, rest: FieldPath((first, *rest)),
    names.filter(lambda name: name.lower() not in KEYWORDS),
    st.lists(st.one_of(names, texts, st.integers(0, 9999)), max_size=4),
)


def _comparison(path: FieldPath, operator: Operator, value: Literal) -> Comparison:
    if operator is Operator.STARTS_WITH or (operator in ORDERINGS and isinstance(value, bool)):
        value = str(value)
    return Comparison(path, operator, value)


tests = st.one_of(
    st.builds(_comparison, paths, st.sampled_from(Operator), literals),
    st.builds(Membership, paths, st.lists(literals, min_size=1, max_size=4).map(tuple), st.booleans()),
    st.builds(NullTest, paths, st.booleans()),
)
nodes: st.SearchStrategy[Node] = st.recursive(
    tests,
    lambda inner: st.one_of(
        st.builds(Negation, inner),
        st.builds(AllOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(AnyOf, st.lists(inner, min_size=2, max_size=3).map(tuple)),
    ),
    max_leaves=8,
)
scopes = st.recursive(
    st.one_of(st.none(), literals, st.floats()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(names, inner, max_size=3)),
    max_leaves=8,
)
words = st.sampled_from(
    [
        *sorted(KEYWORDS),
        "tag",
        "a.b",
        "'x'",
        "3",
        "-1.5",
        "(",
        ")",
        "[",
        "]",
        ",",
        "=",
        "!=",
        "<",
        ">=",
        ".",
        "''",
        "'",
    ]
)


@given(nodes)
@settings(max_examples=400, deadline=None)
def test_a_tree_that_is_printed_and_parsed_is_the_same(node: Node) -> None:
    assert parse(str(node)).root == node


@given(nodes, scopes, names)
@settings(max_examples=300, deadline=None)
def test_every_condition_can_be_asked_of_everything(node: Node, value: Any, name: str) -> None:
    expression = Expression("", node)

    assert expression.matches({name: value}) in (True, False)
    assert Expression("", Negation(node)).matches({name: value}) is not expression.matches({name: value})


@given(st.one_of(st.text(st.characters(), max_size=200), st.lists(words, max_size=60).map(" ".join)))
@example("(" * 4000)
@example("not " * 1000)
@example("'" * 4000)
@example("a" + "[0" * 1999)
@example("'\ud800'")
@settings(max_examples=600, deadline=None)
def test_whatever_is_written_is_read_or_refused_at_a_place_of_the_text(text: str) -> None:
    read = _read(text)

    if isinstance(read, ExpressionError):
        assert 0 <= read.position <= len(text)
        assert len(str(read).splitlines()) == 3
        str(read).encode()
    else:
        assert parse(str(read)) == read


def _read(text: str) -> Expression | ExpressionError:
    try:
        return parse(text)
    except ExpressionError as refused:
        return refused
