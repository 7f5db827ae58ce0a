"""The only Python here that runs SQL on imports."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import ImportId
from tidings.notify.imports.model import (
    Import,
    ImportKind,
    ImportProgress,
    ImportRequest,
    ImportStatus,
    LineCounts,
    LineProblem,
    Severity,
)

QUERIES = Queries.beside(__file__)


async def begin_import(tx: TenantTx, import_id: ImportId, request: ImportRequest, *, runner: str) -> bool:
    """Make it known; False where the key has an import already."""
    made = await tx.execute(
        QUERIES.begin_import, request, id=import_id, runner=runner, created_at=time_of(import_id)
    )
    return made == 1


async def take_over(tx: TenantTx, *, idempotency_key: str, runner: str, now: datetime) -> Import | None:
    """The import of this key, which is ours from now on."""
    row = await tx.fetch_one(QUERIES.take_over, idempotency_key=idempotency_key, runner=runner, now=now)
    return None if row is None else _from_row(row)


async def advance_import(
    tx: TenantTx,
    known: Import,
    progress: ImportProgress,
    tally: LineCounts,
    *,
    problems: int,
    warnings: int,
    now: datetime,
) -> int | None:
    """How many problems it has now; None where it is no longer ours."""
    found: int | None = await tx.fetch_value(
        QUERIES.advance_import,
        # What this set adds, before what is known of the import.
        progress,
        tally,
        known,
        from_record=known.records_done,
        problems=problems,
        warnings=warnings,
        now=now,
    )
    return found


async def add_problems(
    tx: TenantTx, import_id: ImportId, problems: Sequence[LineProblem], *, first: int
) -> None:
    """Keep them for the report, numbered behind `first`."""
    await tx.execute(
        QUERIES.add_problems,
        import_id=import_id,
        first=first,
        **columns(problems, "line column code what", severities="severity"),
    )


async def mark_seen(tx: TenantTx, import_id: ImportId, marks: Sequence[bytes]) -> set[bytes]:
    """Those of them that are seen for the first time in this import."""
    rows = await tx.fetch(QUERIES.mark_seen, import_id=import_id, marks=list(marks))
    return {bytes(row["mark"]) for row in rows}


async def forget_seen(tx: TenantTx, import_id: ImportId, *, limit: int) -> int:
    """At most so many; how many went."""
    return await tx.execute(QUERIES.forget_seen, import_id=import_id, limit=limit)


async def end_import(tx: TenantTx, known: Import, status: ImportStatus, *, now: datetime) -> bool:
    """Whether it was ours to end."""
    ended = await tx.execute(QUERIES.end_import, known, status=status.value, now=now)
    return ended == 1


async def find_import(tx: TenantTx, import_id: ImportId) -> Import | None:
    """As it stands."""
    row = await tx.fetch_one(QUERIES.find_import, id=import_id)
    return None if row is None else _from_row(row)


async def list_imports(
    tx: TenantTx, *, after_id: str | None, kinds: Sequence[ImportKind], limit: int
) -> list[Import]:
    """Those of these kinds, the newest first, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_imports, after_id=after_id, kinds=[kind.value for kind in kinds], limit=limit
    )
    return [_from_row(row) for row in rows]


async def list_problems(
    tx: TenantTx, import_id: ImportId, *, after_place: int, limit: int
) -> list[tuple[int, LineProblem]]:
    """Each with its place, from behind a place on."""
    rows = await tx.fetch(QUERIES.list_problems, import_id=import_id, after_place=after_place, limit=limit)
    return [
        (
            row["place"],
            LineProblem(row["line"], row["column_name"], row["code"], row["what"], Severity(row["severity"])),
        )
        for row in rows
    ]


_from_row = RowMapper(
    Import,
    [QUERIES.take_over, QUERIES.find_import, QUERIES.list_imports],
    of_row={"tally": RowMapper(LineCounts, [])},
)
