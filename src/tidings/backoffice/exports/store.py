"""The only Python here that runs SQL on exports, and reads ledgers for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final, NamedTuple

from tidings.backoffice.exports.ledgers import Ledger, LedgerName
from tidings.backoffice.exports.plan import Window
from tidings.backoffice.ids import ExportId
from tidings.kernel.blobs.envelope import BlobRef
from tidings.kernel.db import PlatformTx, Row, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries, Query

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A part of a ledger that stands in a file, or is being written into one."""

    id: ExportId
    #: None: the platform's own rows.
    tenant_id: TenantId | None
    ledger: LedgerName
    #: Counts from 1 within tenant and ledger.
    part: int
    month: date
    from_at: datetime
    #: Not in it any more.
    until_at: datetime
    object_key: str | None
    rows: int | None
    bytes: int | None
    #: Of the object in the blob store.
    checksum: str | None
    begun_at: datetime
    #: None: it was not read back yet.
    verified_at: datetime | None

    @property
    def window(self) -> Window:
        """The stretch of time that it holds."""
        return Window(self.from_at, self.until_at)


class Measure(NamedTuple):
    """How many rows a stretch of time has, up to a number, and the time of the last one that was counted."""

    rows: int
    last_at: datetime | None


class ExportPlace(NamedTuple):
    """A row, as the next one comes after it."""

    at: datetime
    key: str


async def insert_export(
    tx: TenantTx | PlatformTx, ledger: Ledger, export_id: ExportId, window: Window, *, now: datetime
) -> Export:
    """Begin the next part; an `AlreadyExistsError` where another process has at this moment."""
    row = await tx.fetch_one(
        QUERIES.insert_export,
        id=export_id,
        ledger=ledger.name,
        month=window.from_at.date().replace(day=1),
        from_at=window.from_at,
        until_at=window.until_at,
        now=now,
    )
    if row is None:
        raise RuntimeError("an INSERT without a condition gives back its row")
    return _from_row(row)


async def finish_export(
    tx: TenantTx | PlatformTx, export_id: ExportId, ref: BlobRef, *, rows: int, now: datetime
) -> None:
    """Its file was read back, and is whole."""
    await tx.execute(
        QUERIES.finish_export,
        id=export_id,
        object_key=ref.key,
        rows=rows,
        bytes=ref.size,
        checksum=ref.checksum,
        now=now,
    )


async def reopen_export(tx: TenantTx | PlatformTx, export_id: ExportId) -> None:
    """Its file is written anew."""
    await tx.execute(QUERIES.reopen_export, id=export_id)


async def unfinished_exports(tx: TenantTx | PlatformTx, ledger: Ledger) -> list[Export]:
    """Those that a process has begun, and was killed over."""
    rows = await tx.fetch(QUERIES.unfinished_exports, ledger=ledger.name)
    return [_from_row(row) for row in rows]


async def exported_until(tx: TenantTx | PlatformTx, ledger: Ledger) -> datetime | None:
    """Where the last part ended."""
    found: datetime | None = await tx.fetch_value(QUERIES.exported_until, ledger=ledger.name)
    return found


async def exports_of_month(tx: TenantTx | PlatformTx, ledger: Ledger, month: date) -> list[Export]:
    """In the order of their time."""
    rows = await tx.fetch(QUERIES.exports_of_month, ledger=ledger.name, month=month)
    return [_from_row(row) for row in rows]


async def list_exports(
    tx: TenantTx | PlatformTx,
    *,
    ledger: LedgerName | None = None,
    month: date | None = None,
    after_id: str | None = None,
    limit: int,
) -> list[Export]:
    """The newest first, from a cursor on."""
    rows = await tx.fetch(QUERIES.list_exports, ledger=ledger, month=month, after_id=after_id, limit=limit)
    return [_from_row(row) for row in rows]


async def oldest_row(tx: TenantTx | PlatformTx, ledger: Ledger, from_at: datetime) -> datetime | None:
    """The time of the oldest row from that moment on."""
    found: datetime | None = await tx.fetch_value(_query("oldest", ledger, tx), from_at=from_at)
    return found


async def measure(tx: TenantTx | PlatformTx, ledger: Ledger, window: Window, *, most: int) -> Measure:
    """Count rows, and stop at a number."""
    row = await tx.fetch_one(
        _query("measure", ledger, tx), from_at=window.from_at, until_at=window.until_at, most=most
    )
    return Measure(row["rows"], row["last_at"]) if row else Measure(0, None)


async def read_rows(
    tx: TenantTx | PlatformTx, ledger: Ledger, window: Window, *, after: ExportPlace, limit: int
) -> list[Row]:
    """A set, in the order of their time."""
    return await tx.fetch(
        _query("read", ledger, tx),
        from_at=window.from_at,
        until_at=window.until_at,
        after_at=after.at,
        after_key=after.key,
        limit=limit,
    )


async def tenants_with_rows(tx: WorkerTx, ledger: Ledger) -> list[TenantId]:
    """Whose rows the ledger has."""
    rows = await tx.fetch(_TENANTS[ledger.name])
    return [TenantId(row["tenant_id"]) for row in rows]


async def owners_of_exports(tx: WorkerTx) -> list[TenantId | None]:
    """Whose files there are; None: the platform's."""
    return [row["tenant_id"] for row in await tx.fetch(QUERIES.owners_of_exports)]


async def note_exported_month(tx: WorkerTx, ledger: Ledger, month: date, *, rows: int, now: datetime) -> None:
    """All rows of the month stand in files."""
    await tx.execute(QUERIES.note_exported_month, parent=ledger.table, month=month, rows=rows, now=now)


async def exported_months(tx: WorkerTx, ledger: Ledger) -> set[date]:
    """The months of which that is known."""
    return {row["month"] for row in await tx.fetch(QUERIES.exported_months, parent=ledger.table)}


async def changed_alert_acks(tx: WorkerTx, *, since: datetime) -> list[Export]:
    """Files from that moment on in which not all is as it is now."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.changed_alert_acks, since=since)]


async def prune_alert_ack_log(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove rows that are exported, and older than that."""
    return await tx.execute(QUERIES.prune_alert_ack_log, before=before, limit=limit)


def _query(what: str, ledger: Ledger, tx: TenantTx | PlatformTx) -> Query:
    # An index on a nullable tenant serves `=` and `IS NULL`, and nothing that means both.
    return _QUERIES[what, ledger.name, isinstance(tx, PlatformTx)]


def keys_of(rows: Sequence[Row], ledger: Ledger) -> ExportPlace:
    """The last of these."""
    return ExportPlace(rows[-1][ledger.time], rows[-1]["row_key"])


#: What is asked, of which ledger, and whether of the platform's own rows.
_QUERIES: Final[Mapping[tuple[str, str, bool], Query]] = {
    ("oldest", "operator_activity", False): QUERIES.oldest_operator_activity,
    ("measure", "operator_activity", False): QUERIES.measure_operator_activity,
    ("read", "operator_activity", False): QUERIES.read_operator_activity,
    ("oldest", "operator_activity", True): QUERIES.oldest_operator_activity_of_platform,
    ("measure", "operator_activity", True): QUERIES.measure_operator_activity_of_platform,
    ("read", "operator_activity", True): QUERIES.read_operator_activity_of_platform,
    ("oldest", "alert_ack_log", False): QUERIES.oldest_alert_ack_log,
    ("measure", "alert_ack_log", False): QUERIES.measure_alert_ack_log,
    ("read", "alert_ack_log", False): QUERIES.read_alert_ack_log,
    ("oldest", "alert_ack_log", True): QUERIES.oldest_alert_ack_log_of_platform,
    ("measure", "alert_ack_log", True): QUERIES.measure_alert_ack_log_of_platform,
    ("read", "alert_ack_log", True): QUERIES.read_alert_ack_log_of_platform,
    ("oldest", "ai_decision_log", False): QUERIES.oldest_ai_decision_log,
    ("measure", "ai_decision_log", False): QUERIES.measure_ai_decision_log,
    ("read", "ai_decision_log", False): QUERIES.read_ai_decision_log,
    ("oldest", "lock_action_proxy_audit", False): QUERIES.oldest_lock_action_proxy_audit,
    ("measure", "lock_action_proxy_audit", False): QUERIES.measure_lock_action_proxy_audit,
    ("read", "lock_action_proxy_audit", False): QUERIES.read_lock_action_proxy_audit,
}
_TENANTS: Final[Mapping[str, Query]] = {
    "operator_activity": QUERIES.tenants_with_operator_activity,
    "alert_ack_log": QUERIES.tenants_with_alert_ack_log,
    "ai_decision_log": QUERIES.tenants_with_ai_decision_log,
    "lock_action_proxy_audit": QUERIES.tenants_with_lock_action_proxy_audit,
}
_from_row = RowMapper(
    Export,
    [
        QUERIES.insert_export,
        QUERIES.unfinished_exports,
        QUERIES.exports_of_month,
        QUERIES.list_exports,
        QUERIES.changed_alert_acks,
    ],
)
