"""Keeps notes of operators in the transaction of what they are written beside."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.ids import NOTE, NoteId
from tidings.backoffice.notes import store
from tidings.backoffice.notes.model import KEPT, NewNote, Note, cut
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import time_of

_COLUMN: Final = "notes.text"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Notes:
    """A ledger keeps the note's id alone."""

    words: SealedWords
    clock: Clock

    async def write(self, tx: TenantTx, notes: Sequence[NewNote]) -> list[NoteId | None]:
        """Cut, seal and keep each; their ids in the same order, None where nothing is left to keep."""
        now = self.clock.now()
        texts = [cut(note.text) for note in notes]
        ids = [NOTE.new(now) if text else None for text in texts]
        sealed = await self.words.seal(
            tx, _COLUMN, {id_: text for id_, text in zip(ids, texts, strict=True) if id_ is not None}
        )
        made = [
            Note(
                id=id_,
                kind=note.kind,
                about_id=note.about_id,
                property_id=note.property_id,
                written_by=note.written_by,
                written_at=time_of(id_),
                text_ciphertext=sealed[id_],
                redacted_at=None,
                redacted_by=None,
            )
            for id_, note in zip(ids, notes, strict=True)
            if id_ is not None
        ]
        await store.insert_notes(tx, made, kept_until=[note.written_at + KEPT[note.kind] for note in made])
        return ids

    async def texts(self, tx: TenantTx, note_ids: Iterable[str | None]) -> dict[str, str]:
        """What these notes say; those that were redacted, or are over, are left out."""
        wanted = [NoteId(id_) for id_ in note_ids if id_ is not None]
        return await self.open(tx, await store.find_notes(tx, wanted) if wanted else [])

    async def open(self, tx: TenantTx, notes: Sequence[Note]) -> dict[str, str]:
        """The same of notes that were read."""
        return await self.words.open(tx, _COLUMN, {note.id: note.text_ciphertext for note in notes})
