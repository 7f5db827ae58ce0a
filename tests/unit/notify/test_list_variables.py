"""Columns of a list as variables: what they mean, and what is wrong with them."""

from collections.abc import Mapping
from typing import Any

import pytest

from tidings.notify.batches.list_variables import ListVariables, WordsToFill, laid_over
from tidings.notify.templates.variables import Checker

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["first_name", "stay"],
    "additionalProperties": False,
    "properties": {
        "first_name": {"type": "string", "maxLength": 5},
        "nights": {"type": "integer"},
        "price": {"type": ["number", "null"]},
        "vip": {"type": "boolean"},
        "items": {"type": "array"},
        "code": {"type": ["string", "integer"]},
        "stay": {
            "type": "object",
            "required": ["room"],
            "properties": {"room": {"type": "string"}, "floor": {"type": "integer"}},
        },
    },
}
STAY = {"stay": {"room": "12", "floor": 1}}


def words(
    given: Mapping[str, Any] | None = None, schema: dict[str, Any] | None = None, *, variant: int = 0
) -> WordsToFill:
    schema = SCHEMA if schema is None else schema
    return WordsToFill(
        variant=variant,
        variables=STAY if given is None else given,
        schema=schema,
        faults=Checker(schema).faults,
    )


def reading(*headings: str, over: list[WordsToFill] | None = None) -> ListVariables:
    variables = ListVariables(over or [words()])
    for heading in headings:
        assert variables.knows(heading), heading
    return variables


@pytest.mark.parametrize(
    ("heading", "cell", "expected"),
    [
        ("first_name", " Laila ", {"first_name": "Laila"}),
        ("first_name", "7", {"first_name": "7"}),
        ("nights", "7", {"nights": 7}),
        ("nights", "7.5", {"nights": "7.5"}),
        ("nights", "true", {"nights": "true"}),
        ("price", "7.5", {"price": 7.5}),
        ("price", "7", {"price": 7}),
        ("price", "NaN", {"price": "NaN"}),
        ("price", "null", {"price": None}),
        ("vip", "true", {"vip": True}),
        ("vip", "yes", {"vip": "yes"}),
        ("items", '["a", 1]', {"items": ["a", 1]}),
        ("items", '{"a": 1}', {"items": '{"a": 1}'}),
        ("items", "[" * 5000, {"items": "[" * 5000}),
        ("code", "0042", {"code": "0042"}),
        ("variables.first_name", "Laila", {"first_name": "Laila"}),
        ("stay.floor", "3", {"stay": {"floor": 3}}),
        ("variables.stay.room", "12b", {"stay": {"room": "12b"}}),
        ("nights", "", {}),
        ("nights", "  ", {}),
        # As a spreadsheet that trusts nobody writes it.
        ("first_name", "'=A", {"first_name": "=A"}),
    ],
)
def test_a_cell_is_read_as_the_template_declares_it(
    heading: str, cell: str, expected: dict[str, Any]
) -> None:
    assert reading(heading).of_cells({heading: cell}) == expected


@pytest.mark.parametrize("heading", ["fist_name", "variables.fist_name", "variables.", "stay..room", ""])
def test_a_heading_that_no_template_declares_means_nothing(heading: str) -> None:
    assert not ListVariables([words()]).knows(heading)


def test_with_the_prefix_a_template_may_take_what_it_does_not_declare() -> None:
    free = ListVariables([words({}, {"type": "object"})])

    assert free.knows("variables.anything")
    assert not free.knows("anything")
    assert free.of_cells({"variables.anything": "7"}) == {"anything": "7"}


def test_problems_name_the_column_and_never_what_stood_there() -> None:
    variables = reading("first_name", "nights", "stay.floor")
    cells = {"first_name": "too long a name", "nights": "many", "stay.floor": "x"}

    found = variables.problems(7, variables.of_cells(cells))

    assert [(one.line, one.column, one.code, one.what) for one in sorted(found)] == [
        (7, "first_name", "bad_variable", "must have at most 5 characters"),
        (7, "nights", "bad_variable", "must be a whole number"),
        (7, "stay.floor", "bad_variable", "must be a whole number"),
    ]


def test_an_empty_cell_is_missing_where_the_batch_has_nothing() -> None:
    variables = reading("first_name")

    [problem] = variables.problems(3, variables.of_cells({"first_name": ""}))
    fine = ListVariables([words({**STAY, "first_name": "you"})]).problems(3, {})

    assert (problem.column, problem.code, problem.what) == ("first_name", "variable_missing", "is required")
    assert fine == []


def test_a_name_that_is_a_lines_own_is_not_told() -> None:
    found = reading().problems(1, {"first_name": "L", "laila@example.test": 1})

    assert [one.column for one in found] == ["variables"]


def test_every_version_that_somebody_may_get_has_to_fit() -> None:
    other = {"type": "object", "required": ["voucher"], "properties": {"voucher": {"type": "string"}}}
    variables = reading("first_name", "voucher", over=[words(), words({}, other, variant=1)])

    found = variables.problems(1, {"first_name": "L"})

    assert [(one.column, one.code) for one in found] == [("voucher", "variable_missing")]
    assert variables.problems(1, {"voucher": "V"})[0].column == "first_name"


def test_what_no_column_brings_is_missing() -> None:
    assert reading("nights").missing() == ["first_name"]
    assert reading("first_name").missing() == []
    assert reading("first_name", over=[words({})]).missing() == ["stay"]


def test_what_is_too_much_with_the_batchs_own_is_said_at_the_line() -> None:
    large = {**STAY, "first_name": "L", "items": ["x" * 60_000]}

    [problem] = ListVariables([words(large)]).problems(1, {"stay": {"room": "y" * 10_000}})

    assert problem.code == "too_large"


def test_what_is_nested_without_end_is_a_problem_of_its_line() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    free = ListVariables([words({}, {"type": "object"})])

    assert [one.what for one in free.problems(1, {"a": deep})] == ["is nested too deeply"]
    while deep:
        # Piece by piece: to let go of all at once goes as deep.
        deep = deep["a"]


def test_names_are_laid_over_each_other_inside_objects_too() -> None:
    given = {"a": 1, "stay": {"room": "1", "floor": 2}, "list": [1, 2]}

    merged = laid_over(given, {"stay": {"floor": 3}, "list": [3], "b": None})

    assert merged == {"a": 1, "stay": {"room": "1", "floor": 3}, "list": [3], "b": None}
    assert given["stay"] == {"room": "1", "floor": 2}
