"""The only Python that knows how far readers of older versions have come."""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from tidings.kernel.db import PlatformTx, Row, WorkerTx
from tidings.kernel.event_versions.model import GroupProgress, Successor, VersionWindow
from tidings.kernel.mapping import tuple_columns
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def begin_windows(tx: WorkerTx, successors: Sequence[Successor], *, now: datetime) -> None:
    """Note when both versions were first published here."""
    await tx.execute(
        QUERIES.begin_windows,
        subjects=[one.replaces for one in successors],
        successors=[one.subject for one in successors],
        now=now,
    )


async def note_readers(tx: WorkerTx, readers: Collection[tuple[str, str]], *, now: datetime) -> None:
    """Note which groups read which older version now."""
    await tx.execute(QUERIES.note_readers, **tuple_columns(readers, "subjects group_names"), now=now)


async def forget_readers(tx: WorkerTx, *, before: datetime) -> int:
    """Forget those who were not seen since, and never said anything; how many that were."""
    return await tx.execute(QUERIES.forget_readers, before=before)


async def list_windows(tx: WorkerTx) -> list[VersionWindow]:
    """Every older version, with those who read it."""
    rows: dict[str, list[Row]] = {}
    for row in await tx.fetch(QUERIES.list_windows):
        rows.setdefault(row["subject"], []).append(row)
    return [_window(several) for several in rows.values()]


async def close_windows(tx: WorkerTx, subjects: Iterable[str], *, at: datetime) -> None:
    """Of what happens from then on only the newer versions are published."""
    await tx.execute(QUERIES.close_windows, subjects=list(subjects), at=at)


async def complete(tx: WorkerTx | PlatformTx, said: Collection[tuple[str, str]], *, now: datetime) -> None:
    """These groups have said that they read the newer version: of each the older subject, and its name."""
    await tx.execute(QUERIES.complete, **tuple_columns(said, "subjects group_names"), now=now)


def _window(rows: Sequence[Row]) -> VersionWindow:
    first = rows[0]
    groups = [
        GroupProgress(group=row["group_name"], completed_at=row["completed_at"])
        for row in rows
        if row["group_name"] is not None
    ]
    return VersionWindow(
        subject=first["subject"],
        successor=first["successor"],
        began_at=first["began_at"],
        closed_at=first["closed_at"],
        groups=groups,
    )
