"""Named queries with named parameters."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest

from tidings.kernel import sql
from tidings.kernel.sql import BadQueryFileError, Queries, Query, number_parameters


def load(tmp_path: Path, text: str) -> Queries:
    (tmp_path / "store.sql").write_text(text)
    return Queries.beside(str(tmp_path / "store.py"))


def test_a_file_gives_its_queries_by_name(tmp_path: Path) -> None:
    """Name, reason and statement; the semicolon goes."""
    queries = load(
        tmp_path,
        "-- name: one\n-- Because we need\n-- one.\nSELECT :a, :b, :a;\n\n-- name: two\n-- Why not.\nSELECT 2;\n",
    )

    assert queries.one.why == "Because we need one."
    assert queries.one.text == "SELECT $1, $2, $1"
    assert queries.one.parameters == ("a", "b")
    assert [query.name for query in queries] == ["one", "two"]


def test_what_statements_share_stands_once(tmp_path: Path) -> None:
    """A part is no query; its parameters are numbered where it stands."""
    queries = load(
        tmp_path,
        "-- part: asked\n-- Who is meant.\nSELECT :a AS id\n\n-- name: one\n-- Why.\nSELECT :b, id FROM ({asked}) AS x;\n\n"
        "-- name: two\n-- Why not.\n{asked};\n",
    )

    assert queries.one.text == "SELECT $1, id FROM (SELECT $2 AS id) AS x"
    assert queries.one.parameters == ("b", "a")
    assert queries.two.text == "SELECT $1 AS id"
    assert [query.name for query in queries] == ["one", "two"]


@pytest.mark.parametrize(
    ("statement", "numbered"),
    [
        ("SELECT :a::text", "SELECT $1::text"),
        ("SELECT ':a', \":b\", :c", "SELECT ':a', \":b\", $1"),
        ("SELECT 'it''s :a', :b", "SELECT 'it''s :a', $1"),
        ("SELECT :a -- not :b\n, :c", "SELECT $1 -- not :b\n, $2"),
        ("SELECT /* :a */ :b", "SELECT /* :a */ $1"),
        ("SELECT '12:30'::time", "SELECT '12:30'::time"),
        ("SELECT x[1:2]", "SELECT x[1:2]"),
    ],
)
def test_only_parameters_are_numbered(statement: str, numbered: str) -> None:
    """Casts, strings, identifiers, comments and slices stay as they are."""
    assert number_parameters(statement)[0] == numbered


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("-- name: one\nSELECT 1;", "lacks the sentence"),
        ("-- name: one\n-- Why.\n", "has no statement"),
        ("-- name: one\n-- Why.\nSELECT 1;\n-- name: one\n-- Why.\nSELECT 2;", "two queries are named one"),
    ],
)
def test_a_file_out_of_form_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    """At the import, naming file and query."""
    with pytest.raises(BadQueryFileError, match=complaint):
        load(tmp_path, text)


def test_values_are_given_by_name_and_completely(tmp_path: Path) -> None:
    """A forgotten or superfluous value is our mistake and is named."""
    query = load(tmp_path, "-- name: one\n-- Why.\nSELECT :a, :b;").one

    assert query.arguments({"b": 2, "a": 1}) == [1, 2]
    with pytest.raises(TypeError, match="no value is named b"):
        query.arguments({"a": 1})
    with pytest.raises(TypeError, match="one takes"):
        query.arguments({"a": 1, "c": 2})


def test_what_is_not_given_by_name_is_an_attribute_of_the_first_source_that_has_it(
    tmp_path: Path,
) -> None:
    query = load(tmp_path, "-- name: one\n-- Why.\nSELECT :a, :b, :c;").one
    first, second = SimpleNamespace(b=2), SimpleNamespace(b=20, c=3)
    assert query.arguments({"a": 1}, first, second) == [1, 2, 3]
    with pytest.raises(TypeError, match="no value is named c"):
        query.arguments({"a": 1}, first)


def test_an_unknown_name_is_an_attribute_error(tmp_path: Path) -> None:
    """It says which file was asked."""
    with pytest.raises(AttributeError, match=r"store\.sql has no query named two"):
        _ = load(tmp_path, "-- name: one\n-- Why.\nSELECT 1;").two


def test_an_object_of_another_tenant_than_the_transactions_is_refused() -> None:
    """Neither as the transaction's own nor, where that is the platform's, as nobody's."""
    text, parameters = number_parameters("INSERT INTO t VALUES (:tenant_id, :name)")
    query = Query(name="add", why="A test.", text=text, parameters=parameters)
    row = SimpleNamespace(tenant_id="tnt_a", name="n")

    assert query.arguments({}, SimpleNamespace(tenant_id="tnt_a"), row) == ["tnt_a", "n"]
    for other in ("tnt_b", None):
        with pytest.raises(TypeError, match="another tenant"):
            query.arguments({}, SimpleNamespace(tenant_id=other), row)


_BOUNDED = (
    "-- name: find\n-- By key.\nSELECT 1 FROM t AS n JOIN u ON u.id = n.id AND n.created_at BETWEEN :oldest AND :newest"
    " WHERE n.id = :id AND n.weight BETWEEN :least AND :most"
)


def test_a_statement_names_the_months_of_what_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that its plan knows no others; a moment counts by its month in UTC, as partitions do."""
    monkeypatch.setattr(sql, "LOADED", [])
    (tmp_path / "store.sql").write_text(_BOUNDED)
    query = Queries.beside(str(tmp_path / "store.py")).find
    east = timezone(timedelta(hours=5))

    def text(oldest: datetime, newest: datetime) -> str:
        return query.text_for([oldest, newest, "x", 1, 2])

    assert text(
        datetime(2026, 11, 3, tzinfo=UTC), datetime(2026, 11, 30, 23, 59, tzinfo=UTC)
    ) == query.text.replace(
        "BETWEEN $1 AND $2",
        "BETWEEN $1 AND $2 AND n.created_at >= '2026-11-01 00:00:00+00' AND n.created_at < '2026-12-01 00:00:00+00'",
    )
    assert "n.created_at >= '2026-12-01 00:00:00+00' AND n.created_at < '2027-02-01 00:00:00+00'" in text(
        datetime(2027, 1, 1, 4, tzinfo=east), datetime(2027, 1, 1, 6, tzinfo=east)
    )
    # So many that each stretch of time would be a statement of its own.
    assert text(datetime(2026, 11, 3, tzinfo=UTC), datetime(2027, 1, 3, tzinfo=UTC)) == query.text
