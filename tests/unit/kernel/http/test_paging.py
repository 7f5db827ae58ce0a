"""Cursors come back as they were given, and nothing else passes for one."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.paging import page_of, read_cursor, write_cursor
from tidings.kernel.ids import TENANT

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)


def test_a_cursor_holds_the_time_and_id_of_the_last_row() -> None:
    last = TENANT.new(AT)

    after = read_cursor(write_cursor(last, listing="tenants"), listing="tenants")

    assert after is not None
    assert (after.id, after.created_at) == (last, AT)


def test_no_cursor_is_the_first_page() -> None:
    assert read_cursor(None, listing="tenants") is None


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "AAAA",
        "=" * 40,
        "a" * 5000,
        "ä",
        "../..",
        "69U2ha10UhFrZXlfMDFNN0ZDV0VaR1k3UkExUzFXRVFFRVhYMVc",
    ],
)
def test_a_made_up_cursor_is_refused_by_name(cursor: str) -> None:
    with pytest.raises(BadValueError) as refused:
        read_cursor(cursor, listing="tenants")

    assert refused.value.field == "cursor"


def test_a_cursor_of_another_listing_is_refused() -> None:
    with pytest.raises(BadValueError):
        read_cursor(write_cursor(TENANT.new(AT), listing="tenants"), listing="api_keys")


@given(st.text(max_size=80))
def test_no_text_breaks_the_reader(cursor: str) -> None:
    with pytest.raises(BadValueError) as refused:
        read_cursor(cursor, listing="tenants")

    assert refused.value.field == "cursor"


def test_the_row_too_many_says_that_there_is_more() -> None:
    ids = [TENANT.new(AT) for _ in range(3)]

    more = page_of(ids, limit=2, listing="t", id_of=str, render=str)
    last = page_of(ids, limit=3, listing="t", id_of=str, render=str)

    assert more.items == ids[:2]
    assert more.next_cursor == write_cursor(ids[1], listing="t")
    assert last.next_cursor is None
