"""The only Python here that runs SQL on imports."""

from collections.abc import Sequence
from datetime import datetime

from tidings.kernel.db import Row, TenantTx
from tidings.kernel.ids import time_of
from tidings.kernel.mapping import columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import ImportId
from tidings.notify.imports.model import Import, ImportKind, ImportStatus, LineCounts, LineProblem, Severity

QUERIES = Queries.beside(__file__)


async def begin_import(
    tx: TenantTx,
    *,
    import_id: ImportId,
    kind: ImportKind,
    options: str,
    dry_run: bool,
    emit_events: bool,
    idempotency_key: str | None,
    actor: str,
    runner: str,
) -> bool:
    """Make it known; False where the key has an import already."""
    made = await tx.execute(
        QUERIES.begin_import,
        tenant_id=tx.tenant_id,
        id=import_id,
        kind=kind.value,
        options=options,
        dry_run=dry_run,
        emit_events=emit_events,
        idempotency_key=idempotency_key,
        actor=actor,
        runner=runner,
        created_at=time_of(import_id),
    )
    return made == 1


async def take_over(tx: TenantTx, *, idempotency_key: str, runner: str, now: datetime) -> Import | None:
    """The import of this key, which is ours from now on."""
    row = await tx.fetch_one(
        QUERIES.take_over, tenant_id=tx.tenant_id, idempotency_key=idempotency_key, runner=runner, now=now
    )
    return None if row is None else _from_row(row)


async def advance_import(
    tx: TenantTx,
    known: Import,
    *,
    format_name: str,
    records_done: int,
    bytes_done: int,
    digest: str,
    lines: int,
    tally: LineCounts,
    problems: int,
    warnings: int,
    now: datetime,
) -> int | None:
    """How many problems it has now; None where it is no longer ours."""
    found: int | None = await tx.fetch_value(
        QUERIES.advance_import,
        tenant_id=tx.tenant_id,
        id=known.id,
        runner=known.runner,
        from_record=known.records_done,
        format=format_name,
        records_done=records_done,
        bytes_done=bytes_done,
        digest=digest,
        added=tally.added,
        changed=tally.changed,
        unchanged=tally.unchanged,
        refused=tally.refused,
        skipped=tally.skipped,
        lines=lines,
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
        tenant_id=tx.tenant_id,
        import_id=import_id,
        first=first,
        **columns(problems, "line column code what"),
        severities=[p.severity.value for p in problems],
    )


async def mark_seen(tx: TenantTx, import_id: ImportId, marks: Sequence[bytes]) -> set[bytes]:
    """Those of them that are seen for the first time in this import."""
    rows = await tx.fetch(QUERIES.mark_seen, tenant_id=tx.tenant_id, import_id=import_id, marks=list(marks))
    return {bytes(row["mark"]) for row in rows}


async def forget_seen(tx: TenantTx, import_id: ImportId, *, limit: int) -> int:
    """At most so many; how many went."""
    return await tx.execute(QUERIES.forget_seen, tenant_id=tx.tenant_id, import_id=import_id, limit=limit)


async def end_import(tx: TenantTx, known: Import, status: ImportStatus, *, now: datetime) -> bool:
    """Whether it was ours to end."""
    ended = await tx.execute(
        QUERIES.end_import,
        tenant_id=tx.tenant_id,
        id=known.id,
        runner=known.runner,
        status=status.value,
        now=now,
    )
    return ended == 1


async def find_import(tx: TenantTx, import_id: ImportId) -> Import | None:
    """As it stands."""
    row = await tx.fetch_one(QUERIES.find_import, tenant_id=tx.tenant_id, id=import_id)
    return None if row is None else _from_row(row)


async def list_imports(
    tx: TenantTx, *, after_id: str | None, kinds: Sequence[ImportKind], limit: int
) -> list[Import]:
    """Those of these kinds, the newest first, from a cursor on."""
    rows = await tx.fetch(
        QUERIES.list_imports,
        tenant_id=tx.tenant_id,
        after_id=after_id,
        kinds=[kind.value for kind in kinds],
        limit=limit,
    )
    return [_from_row(row) for row in rows]


async def list_problems(
    tx: TenantTx, import_id: ImportId, *, after_place: int, limit: int
) -> list[tuple[int, LineProblem]]:
    """Each with its place, from behind a place on."""
    rows = await tx.fetch(
        QUERIES.list_problems,
        tenant_id=tx.tenant_id,
        import_id=import_id,
        after_place=after_place,
        limit=limit,
    )
    return [
        (
            row["place"],
            LineProblem(row["line"], row["column_name"], row["code"], row["what"], Severity(row["severity"])),
        )
        for row in rows
    ]


def _from_row(row: Row) -> Import:
    return Import(
        id=ImportId(row["id"]),
        kind=ImportKind(row["kind"]),
        status=ImportStatus(row["status"]),
        options=row["options"],
        format=row["format"],
        dry_run=row["dry_run"],
        emit_events=row["emit_events"],
        idempotency_key=row["idempotency_key"],
        actor=row["actor"],
        runner=row["runner"],
        records_done=row["records_done"],
        bytes_done=row["bytes_done"],
        digest=row["digest"],
        lines=row["lines"],
        tally=LineCounts(
            added=row["added"],
            changed=row["changed"],
            unchanged=row["unchanged"],
            refused=row["refused"],
            skipped=row["skipped"],
        ),
        problems=row["problems"],
        warnings=row["warnings"],
        updated_at=row["updated_at"],
        completed_at=row["completed_at"],
    )
