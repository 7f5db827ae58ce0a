"""The form that audit hashes are taken of; it may never change."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tests.support.audit_rows import make_stream
from tidings.kernel.audit.record import COLUMNS, AuditRow, hash_of, netstrings
from tidings.kernel.ids import AuditId, TenantId

ROW = AuditRow(
    tenant_id=TenantId("tnt_01JCQ000000000000000000000"),
    entity_type="template",
    seq=2,
    id=AuditId("aud_01JCQ000000000000000000001"),
    occurred_at=datetime(2026, 11, 15, 12, 0, 0, 123000, tzinfo=UTC),
    entity_id="tpl_1",
    action="changed",
    actor="key_1",
    before=None,
    after='{"name":"café"}',
    ip_hash="sha256:00",
    user_agent_hash=None,
    trace_id="",
    reason="why not",
    prev_hash="a" * 64,
    record_hash="",
)


def test_the_form_is_as_it_was() -> None:
    """Rows of the past must go on verifying: a new form needs a new name."""
    assert hash_of("notification", ROW) == "9fcea29b33acec3217c21c3b34c92a459fa283e4dda33c6fa0676a502ba79f56"


@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "record_hash"])
def test_every_column_counts(column: str) -> None:
    """No column can be changed unnoticed."""
    changed: dict[str, Any] = {column: _other(getattr(ROW, column))}

    assert hash_of("notification", replace(ROW, **changed)) != hash_of("notification", ROW)


def _other(value: Any) -> Any:
    if isinstance(value, int):
        return value + 1
    if isinstance(value, datetime):
        return value + timedelta(microseconds=1)
    return f"{value or ''}x"


def test_null_and_empty_differ() -> None:
    """A cleared field is not the same as an empty one."""
    assert hash_of("notification", replace(ROW, trace_id=None)) != hash_of("notification", ROW)


def test_the_log_counts() -> None:
    """A row can't be carried from one log to the other."""
    assert hash_of("chan", ROW) != hash_of("notification", ROW)


def test_the_zone_of_a_time_does_not_count() -> None:
    """The driver may give the same moment in another zone."""
    elsewhere = ROW.occurred_at.astimezone(timezone(timedelta(hours=4, minutes=30)))

    assert hash_of("notification", replace(ROW, occurred_at=elsewhere)) == hash_of("notification", ROW)


def test_values_cannot_flow_into_each_other() -> None:
    """A value says its own length."""
    assert netstrings(b"x", ["ab", "c"]) != netstrings(b"x", ["a", "bc"])
    assert netstrings(b"x", ["1:a,"]) != netstrings(b"x", ["", "a"])


def test_a_stream_made_for_tests_is_honest() -> None:
    """The fake is tested too."""
    rows = make_stream(3)

    assert [row.prev_hash for row in rows] == [None, rows[0].record_hash, rows[1].record_hash]
