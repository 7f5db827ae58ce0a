"""An online index is understood from its statement, and its parts get names that stay the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.operations.migrations.errors import BadIndexError
from tidings.operations.migrations.online_index import OnlineIndex, partition_index_name


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX by_day ON chan.attempts USING btree (tenant_id, day) WHERE day > 0",
        "create index concurrently if not exists by_day\n  on only chan.attempts\nUSING btree (tenant_id, "
        "day) "
        "WHERE day > 0",
        'CREATE INDEX "by_day" ON "chan" . "attempts" USING btree (tenant_id, day) WHERE day > 0',
        "CREATE INDEX By_Day ON Chan.Attempts USING btree (tenant_id, day) WHERE day > 0",
    ],
)
def test_every_spelling_gives_the_same_index(sql: str) -> None:
    """Linters like CONCURRENTLY, people like it short; both are read."""
    index = OnlineIndex.parse(sql, where="here")

    assert index == OnlineIndex(
        name="by_day",
        schema="chan",
        table="attempts",
        unique=False,
        rest="USING btree (tenant_id, day) WHERE day > 0",
    )


def test_statements_for_parent_and_leaf() -> None:
    """A parent gets a promise, a leaf a concurrent build."""
    index = OnlineIndex.parse('CREATE UNIQUE INDEX "a""b" ON s.t(x)', where="here")

    parent = index.create(name="a", schema="s", table="t", only=True)
    leaf = index.create(name='a"b', schema="s", table="t")

    assert parent == 'CREATE UNIQUE INDEX IF NOT EXISTS "a" ON ONLY "s"."t" (x)'
    assert leaf == 'CREATE UNIQUE INDEX CONCURRENTLY "a""b" ON "s"."t" (x)'


@pytest.mark.parametrize(
    "sql", ["DROP INDEX a.b", "CREATE INDEX ON a.b (c)", "CREATE INDEX i ON b (c)", "CREATE TABLE a.b ()"]
)
def test_other_statements_are_refused(sql: str) -> None:
    """The directive before anything else is a mistake."""
    with pytest.raises(BadIndexError, match="here: an online index is written"):
        OnlineIndex.parse(sql, where="here")


def test_short_names_stay_readable() -> None:
    """Most names say which partition and which index they belong to."""
    assert partition_index_name("attempts_y2026m11", "by_day") == "attempts_y2026m11__by_day"


@given(st.text(min_size=1, max_size=63), st.text(min_size=1, max_size=63), st.text(min_size=1, max_size=63))
def test_long_names_fit_and_differ(partition: str, index: str, other: str) -> None:
    """Names never exceed what Postgres keeps, and two partitions never share one."""
    name = partition_index_name(partition, index)

    assert len(name.encode()) <= 63
    assert name == partition_index_name(partition, index)
    if other != partition and f"{other}__{index}" != f"{partition}__{index}":
        assert name != partition_index_name(other, index)
