"""What a data steward does with notes: reads them, and redacts one where it says too much."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidings.backoffice.ids import NoteId
from tidings.backoffice.notes import store
from tidings.backoffice.notes.errors import UnknownNoteError
from tidings.backoffice.notes.model import Note
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class NoteSteward:
    """Redacts in the caller's transaction, and audits it."""

    audit: AuditLog
    clock: Clock

    async def redact(
        self, tx: TenantTx, note_id: NoteId, *, properties: Sequence[str] | None, actor: str
    ) -> Note:
        """Forget what a note says, for good; its row stays, and says who redacted it."""
        note = await store.redact_note(
            tx, note_id, properties=properties, redacted_by=actor, now=self.clock.now()
        )
        if note is None:
            raise UnknownNoteError
        entry = Entry(
            entity_type="note",
            entity_id=note.id,
            action="redacted",
            actor=actor,
            before={"kind": note.kind, "about_id": note.about_id, "written_by": note.written_by},
            after=None,
        )
        await self.audit.append(tx, [entry])
        return note
