"""Conditions are read, and what can't be read is pointed at."""

import pytest

from tidings.kernel.expressions import ExpressionError, parse


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("tag = 'vip' and locale = 'fr'", "tag = 'vip' and locale = 'fr'"),
        ("TAG='x' AND NOT (a<1 Or b>=2.50)", "TAG = 'x' and not (a < 1 or b >= 2.5)"),
        ("a in ('x', 2, true)", "a in ('x', 2, true)"),
        ("a not in (-1)", "a not in (-1)"),
        ("a not contains 'x'", "not a contains 'x'"),
        ("a starts with 'it''s'", "a starts with 'it''s'"),
        ("a = null or b != null", "a is null or b is not null"),
        ("data.rooms[0].kind <> 'suite'", "data.rooms[0].kind != 'suite'"),
        ("data['odd name'].in == 1", "data['odd name'].in = 1"),
        ("a = 1 or b = 2 and c = 3", "a = 1 or b = 2 and c = 3"),
        ("(a = 1 or b = 2) and c = 3", "(a = 1 or b = 2) and c = 3"),
        ("((a = 1))", "a = 1"),
        ("a = 0.00001", "a = 0.00001"),
    ],
)
def test_what_is_read_is_printed_in_its_plainest_form(text: str, plain: str) -> None:
    assert str(parse(text)) == plain


def test_and_binds_closer_than_or_and_not_closer_than_both() -> None:
    assert parse("a = 1 or b = 2 and c = 3") == parse("a = 1 or (b = 2 and c = 3)")
    assert parse("not a = 1 and b = 2") == parse("(not a = 1) and b = 2")


def test_the_fields_it_names() -> None:
    expression = parse("data.nights > 2 and (type = 'x' or not data.rooms[0].kind in ('a', 'b'))")

    assert expression.fields() == {"data.nights", "type", "data.rooms[0].kind"}


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 0, "can't be empty"),
        ("   ", 3, "can't be empty"),
        ("tag", 3, "expected =, !="),
        ("tag =", 5, "expected a text between ' and '"),
        ("tag = vip", 6, "between ' and ': 'vip'"),
        ("tag = 'vip", 6, "this text has no end"),
        ('tag = "vip"', 6, "write texts between ' and '"),
        ("tag = 'a' tag = 'b'", 10, "expected `and`, `or` or the end"),
        ("(tag = 'a'", 10, "expected `and`, `or` or )"),
        ("tag = 'a')", 9, "there is no ( for this )"),
        ("tag in 'a'", 7, "expected ( and the values"),
        ("tag in ()", 8, "expected a text"),
        ("tag in ('a' 'b')", 12, "expected , or )"),
        ("tag in ('a', null)", 13, "null can't stand in a list"),
        ("tag < null", 6, "write `is null`"),
        ("tag < true", 6, "have no order"),
        ("tag starts 'a'", 11, "expected `with`"),
        ("tag starts with 3", 16, "expected a text after"),
        ("tag is 3", 7, "expected `null` or `not null`"),
        ("tag is not 3", 11, "expected `null`"),
        ("tag not = 3", 8, "expected `in`, `contains` or `starts with`"),
        ("'vip' = tag", 0, "it stands on the left"),
        ("and a = 1", 0, "`and` is a keyword"),
        ("a = 1 and", 9, "expected a field"),
        ("$.data.x = 1", 0, "without $"),
        ("a.[1] = 1", 2, "expected a name after the dot"),
        ("a[-1] = 1", 2, "expected a place"),
        ("a[1.5] = 1", 2, "expected a place"),
        ("a[1 = 1", 4, "expected ]"),
        ("a = 1 && b = 2", 6, "write `and` and `or`"),
        ("!a = 1", 0, "write `not`"),
        ("a = 1234567890123456", 4, "at most 15 digits"),
        ("a = 'x\x00'", 6, "can't stand in a text"),
        ("lower(a) = 'x'", 5, "expected =, !="),
    ],
)
def test_an_error_says_what_was_expected_and_where(text: str, position: int, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse(text)

    assert refused.value.position == position
    assert says in refused.value.remedy


def test_the_caret_stands_under_the_place() -> None:
    with pytest.raises(ExpressionError) as refused:
        parse("tag = 'vip' and\nlocale = fr")

    _, line, caret = str(refused.value).splitlines()
    assert line == "  tag = 'vip' and·locale = fr"
    assert line[caret.index("^")] == "f"


def test_of_a_long_condition_the_part_around_the_place_is_shown() -> None:
    with pytest.raises(ExpressionError) as refused:
        parse("tag = 'a' or " * 100 + "? = 1" + " or tag = 'a'" * 100)

    _, line, caret = str(refused.value).splitlines()
    assert len(line) < 100
    assert line[caret.index("^")] == "?"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("(" * 5000, "at most 4000 characters"),
        ("(" * 3000 + "a = 1", "inside each other"),
        ("not " * 900 + "a = 1", "inside each other"),
        (" or ".join(["a = 1"] * 201), "at most 200 comparisons"),
        (f"a in ({','.join('1' * 501)})", "at most 500 values"),
        ("a" + ".b" * 16 + " = 1", "at most 16 steps"),
        (f"a = '{'x' * 501}'", "at most 500 characters"),
    ],
)
def test_size_and_depth_are_bounded(text: str, says: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        parse(text)

    assert says in refused.value.remedy


def test_unknown_fields_are_refused_at_their_place() -> None:
    expression = parse("data.x = 1 or colour = 'red'")

    with pytest.raises(ExpressionError) as refused:
        expression.refuse_unknown(lambda field: field.steps[0] == "data", "there is data")

    assert refused.value.position == 14
    assert refused.value.remedy == "there is no field colour here: there is data"
    assert refused.value.of("condition").field == "condition"
