"""Ids carry their kind and their time."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.kernel import ids
from tidings.kernel.errors import BadValueError

MOMENTS = st.datetimes(
    min_value=datetime(1970, 1, 2),
    max_value=datetime(2200, 1, 1),
    timezones=st.just(UTC),
)


@given(at=MOMENTS)
def test_the_time_inside_an_id_is_the_time_it_was_made(at: datetime) -> None:
    """To the millisecond, cut and never rounded up into the next month."""
    assert ids.time_of(ids.AUDIT.new(at)) == at.replace(microsecond=at.microsecond // 1000 * 1000)


@given(first=MOMENTS, later=st.integers(min_value=1, max_value=10**9))
def test_ids_sort_by_time(first: datetime, later: int) -> None:
    """As plain text, which is how the database compares them."""
    assert ids.EVENT.new(first) < ids.EVENT.new(first + timedelta(milliseconds=later))


def test_an_id_of_its_kind_is_accepted() -> None:
    """Parsing gives the same text back."""
    made = ids.TENANT.new(datetime(2026, 11, 15, tzinfo=UTC))

    assert ids.TENANT.parse(made) == made


@pytest.mark.parametrize(
    "text",
    ["", "tnt", "tnt_", "ntf_01JCQ7WZ3V8N2M5K4H6T9R0XYZ", "tnt_01jcq7wz3v8n2m5k4h6t9r0xyz", "tnt_01JCQ7WZ3V8N2M5K4H6T9R0XY",
     "tnt_01JCQ7WZ3V8N2M5K4H6T9R0XYZ ", " tnt_01JCQ7WZ3V8N2M5K4H6T9R0XYZ", "tnt_81JCQ7WZ3V8N2M5K4H6T9R0XYZ",
     "tnt_01JCQ7WZ3V8N2M5K4H6T9R0XYI", "tnt_01JCQ7WZ3V8N2M5K4H6T9R0XYZ\n", "tnt_' OR '1'='1"],
)  # fmt: skip
def test_anything_else_is_refused_by_name(text: str) -> None:
    """The field is named, and the form it should have; the text itself is not repeated."""
    with pytest.raises(BadValueError) as refused:
        ids.TENANT.parse(text, field="tenant_id")

    assert refused.value.field == "tenant_id"
    assert "tnt_" in refused.value.remedy


@pytest.mark.parametrize(
    "ulid", ["7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "76EZ91ZPZZ0000000000000000", "76EZ91ZQ000000000000000000"]
)
def test_an_id_from_after_the_end_of_the_calendar_is_at_its_end(ulid: str) -> None:
    """It has the form of an id, and no row: looking it up must find nothing, and not fail."""
    assert ids.time_of(ids.AUDIT.parse(f"aud_{ulid}")).year == 9999


def test_every_kind_has_its_own_prefix() -> None:
    """Two kinds with one prefix could be mistaken for each other."""
    source = Path(ids.__file__).parents[1]
    prefixes = [
        prefix for file in source.rglob("*.py") for prefix in re.findall(r'IdKind\("(\w+)"', file.read_text())
    ]

    assert len(set(prefixes)) == len(prefixes) >= 25


def test_a_text_is_no_kind_of_id() -> None:
    """An ad-hoc kind of plain texts must not turn every text of a path into an id."""
    ids.IdKind("odd", str)

    assert ids.kind_of(str) is None
    assert ids.kind_of(ids.TenantId) is ids.TENANT
