"""Variables that don't fit are refused by their path, all at once, without quoting them."""

import pytest

from tidings.notify.templates.variables import Checker, schema_faults

CHECKER = Checker(
    {
        "type": "object",
        "required": ["order_number", "items"],
        "additionalProperties": False,
        "properties": {
            "order_number": {"type": "string", "maxLength": 5, "pattern": "^A"},
            "items": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "quantity": {"type": "integer", "minimum": 1}},
                },
            },
            "kind": {"enum": ["new", "old"]},
            "at": {"type": ["string", "null"], "format": "date-time"},
        },
    }
)


def test_fitting_variables_have_no_faults() -> None:
    assert CHECKER.faults({"order_number": "A-1", "items": [{"name": "x"}]}) == []


def test_every_fault_names_its_path_and_remedy() -> None:
    found = CHECKER.faults(
        {
            "order_number": "secret-number",
            "items": [{"name": "x"}, {"quantity": 0}, {"name": 5, "quantity": "two"}],
            "kind": "secret-kind",
            "at": "secret-time",
            "extra": 1,
        }
    )

    assert {(fault.field, fault.remedy) for fault in found} == {
        ("variables.order_number", "must have at most 5 characters"),
        ("variables.order_number", "must match ^A"),
        ("variables.items[1].name", "is required"),
        ("variables.items[1].quantity", "must be at least 1"),
        ("variables.items[2].name", "must be a text"),
        ("variables.items[2].quantity", "must be a whole number"),
        ("variables.kind", "must be one of new, old"),
        ("variables.at", "must have the form date-time"),
        ("variables.extra", "is not declared; leave it out"),
    }
    assert "secret" not in str(found)


def test_missing_ones_are_named() -> None:
    assert [fault.field for fault in CHECKER.faults({})] == ["variables.order_number", "variables.items"]
    assert CHECKER.faults([])[0].remedy == "must be an object"


def test_a_thousand_faults_are_not_all_told() -> None:
    assert len(CHECKER.faults({"order_number": "A", "items": [{}] * 1000})) == 50


@pytest.mark.parametrize(
    ("schema", "field"),
    [
        ({"type": "object", "properties": {"a": {"type": "texts"}}}, "variables_schema"),
        ({"type": "string"}, "variables_schema.type"),
        ({}, "variables_schema.type"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object"},
            "variables_schema.$schema",
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://elsewhere.example/s.json"}}},
            "variables_schema",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}}, "variables_schema"),
        ({"type": "object", "properties": {"a": {"pattern": "(?=a)a"}}}, "variables_schema"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "variables_schema"),
    ],
)
def test_a_schema_that_is_none_is_refused(schema: dict[str, object], field: str) -> None:
    assert [fault.field for fault in schema_faults(schema)] == [field]


@pytest.mark.parametrize("pattern", [r"\p{L}{100}", r"(\p{L}\p{N}){20}", "(a{100}){100}"])
def test_a_regular_expression_that_takes_long_to_compile_is_refused(pattern: str) -> None:
    """Whoever accepts and sends compiles it, and everybody else would wait."""
    [fault] = schema_faults({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}})

    assert "set maxLength" in fault.remedy


@pytest.mark.parametrize(
    "pattern", [r"^[\p{L}\p{M} '-]+$", r"^https://[a-z0-9.-]+/[\w/.-]*$", "^[A-Z0-9]{1,100}$"]
)
def test_usual_regular_expressions_are_taken(pattern: str) -> None:
    assert (
        schema_faults({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}) == []
    )


def test_a_schema_has_a_few_regular_expressions() -> None:
    def schema(count: int) -> dict[str, object]:
        named = {f"^x{n}": {"type": "string", "pattern": f"^{n}$"} for n in range(count // 2)}
        return {"type": "object", "patternProperties": named}

    assert schema_faults(schema(50)) == []
    assert [fault.remedy for fault in schema_faults(schema(52))] == [
        "must have at most 50 regular expressions"
    ]
