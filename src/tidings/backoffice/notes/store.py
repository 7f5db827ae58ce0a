"""The only Python here that runs SQL on notes."""

from collections.abc import Sequence
from datetime import datetime

from tidings.backoffice.ids import NoteId
from tidings.backoffice.notes.model import Note, NoteKind
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def insert_notes(tx: TenantTx, notes: Sequence[Note], *, kept_until: Sequence[datetime]) -> None:
    """Keep new ones."""
    if not notes:
        return
    await tx.execute(
        QUERIES.insert_notes,
        ids=[note.id for note in notes],
        kinds=[note.kind for note in notes],
        about_ids=[note.about_id for note in notes],
        property_ids=[note.property_id for note in notes],
        written_by=[note.written_by for note in notes],
        written_at=[note.written_at for note in notes],
        kept_until=list(kept_until),
        text_ciphertexts=[note.text_ciphertext for note in notes],
    )


async def find_notes(tx: TenantTx, note_ids: Sequence[NoteId]) -> list[Note]:
    """Those with these ids."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.find_notes, ids=list(note_ids))]


async def list_notes(
    tx: TenantTx,
    *,
    properties: Sequence[str] | None,
    kind: NoteKind | None = None,
    written_by: str | None = None,
    property_id: str | None = None,
    after_id: str | None,
    limit: int,
) -> list[Note]:
    """The newest first, from a cursor on; `properties`: those that the reader has a right to, None: all."""
    rows = await tx.fetch(
        QUERIES.list_notes,
        properties=None if properties is None else list(properties),
        kind=kind,
        written_by=written_by,
        property_id=property_id,
        after_id=after_id,
        limit=limit,
    )
    return [_from_row(row) for row in rows]


async def redact_note(
    tx: TenantTx, note_id: NoteId, *, properties: Sequence[str] | None, redacted_by: str, now: datetime
) -> Note | None:
    """Forget what it says; None where there is none of these properties, or it was redacted before."""
    row = await tx.fetch_one(
        QUERIES.redact_note,
        id=note_id,
        properties=None if properties is None else list(properties),
        redacted_by=redacted_by,
        now=now,
    )
    return _from_row(row) if row else None


async def sweep_notes(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove those whose ledger keeps them no more."""
    return await tx.execute(QUERIES.sweep_notes, now=now, limit=limit)


_from_row = RowMapper(Note, [QUERIES.find_notes, QUERIES.list_notes, QUERIES.redact_note])
