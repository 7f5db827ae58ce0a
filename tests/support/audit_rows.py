"""Audit rows without a database."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from tidings.kernel.audit.record import AUDIT_IDS, AuditRow, hash_of
from tidings.kernel.ids import TENANT, time_of

STREAM_START = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
STREAM_TENANT = TENANT.new(STREAM_START)


def make_stream(
    length: int, *, start: datetime = STREAM_START, step: timedelta = timedelta(hours=1)
) -> list[AuditRow]:
    """An honest stream of that many rows."""
    rows: list[AuditRow] = []
    for number in range(1, length + 1):
        audit_id = AUDIT_IDS["notification"].new(start + step * number)
        row = AuditRow(
            tenant_id=STREAM_TENANT,
            entity_type="template",
            seq=number,
            id=audit_id,
            occurred_at=time_of(audit_id),
            entity_id=f"tpl_{number}",
            action="changed",
            actor="key_1",
            before=None,
            after=f'{{"version":{number}}}',
            ip_hash=None,
            user_agent_hash=None,
            trace_id=None,
            reason=None,
            prev_hash=rows[-1].record_hash if rows else None,
            record_hash="",
        )
        rows.append(sealed(row))
    return rows


def sealed(row: AuditRow) -> AuditRow:
    """The row with the hash that fits it, as a forger who knows the form would make it."""
    return replace(row, record_hash=hash_of("notification", row))
