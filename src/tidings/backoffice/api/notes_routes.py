"""Operations on notes, for data stewards: what operators wrote is read, and redacted where it says too much."""

from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.ids import OPERATOR, NoteId
from tidings.backoffice.notes import store
from tidings.backoffice.notes.model import Note, NoteKind
from tidings.backoffice.notes.notes import Notes
from tidings.backoffice.notes.steward import NoteSteward
from tidings.backoffice.properties.access import PropertyReach, check_property
from tidings.contracts.moments import Moment
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import by_name

notes = Resource("notes", at="/notes", tag="notes", scope="notes", owner=Owner.OPERATOR)

_Word = Annotated[str, Meta(min_length=1, max_length=64)]
_NO_STORE: Final = {"Cache-Control": "no-store"}


class ListNotes(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which notes are wanted."""

    #: Beside what they were written.
    kind: NoteKind | None = None
    #: By this operator.
    written_by: str | None = None
    #: About this property; you need a right to it.
    property_id: _Word | None = None


class NoteView(Struct, frozen=True, kw_only=True):
    """A note, as a data steward reads it."""

    id: str
    kind: NoteKind
    #: The alert, or the decision, beside which it was written.
    about_id: str
    #: Null: about none.
    property_id: str | None
    written_by: str
    written_at: Moment
    #: Null once redacted.
    text: str | None
    redacted_at: Moment | None
    redacted_by: str | None

    @classmethod
    def of(cls, note: Note, text: str | None) -> "NoteView":
        """The note with its text."""
        return by_name(cls, note, text=text)


@notes.get(problems=["operators_only", "property_not_found"])
async def list_notes(
    tx: OwnerTx, query: ListNotes, caller: Caller, paging: Paging, keeper: Notes
) -> Page[NoteView]:
    """List what operators wrote, the newest first, of the properties that you have a right to. Reading is in the activity ledger."""
    seat_of(caller)
    if query.property_id is not None:
        check_property(caller, query.property_id)
    found = await store.list_notes(
        _of_tenant(tx),
        properties=_reach(caller),
        kind=query.kind,
        written_by=OPERATOR.parse(query.written_by, field="written_by") if query.written_by else None,
        property_id=query.property_id,
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    texts = await keeper.open(_of_tenant(tx), found)
    return paging.page(found, lambda note: NoteView.of(note, texts.get(note.id)))


@notes.post("/{note_id}/redact", attested="note.redact", problems=["operators_only", "note_not_found"])
async def redact_note(tx: OwnerTx, note_id: NoteId, caller: Caller, steward: NoteSteward) -> Answer[NoteView]:
    """Forget what a note says, for good. The row stays, and says who redacted it; the audit does, too."""
    seat_of(caller)
    note = await steward.redact(_of_tenant(tx), note_id, properties=_reach(caller), actor=caller.actor)
    return Answer(NoteView.of(note, None), headers=_NO_STORE)


def _of_tenant(tx: OwnerTx) -> TenantTx:
    if not isinstance(tx, TenantTx):
        raise BadValueError("X-Tenant-Id", "is needed: notes are a tenant's")
    return tx


def _reach(caller: Caller) -> list[str] | None:
    reach = PropertyReach.of(caller)
    return None if reach.is_every else list(reach.properties)
