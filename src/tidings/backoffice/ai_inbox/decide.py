"""Somebody accepts, rejects or changes a suggestion: entry, ledger, note, event and delivery commit together."""

import json
from dataclasses import dataclass
from typing import Final

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.ai_inbox.errors import (
    SuggestionDecidedError,
    SuggestionExpiredError,
    UnknownSuggestionError,
)
from tidings.backoffice.ai_inbox.model import (
    AiDecision,
    AiEntry,
    EntryContent,
    LoggedDecision,
    read_content,
)
from tidings.backoffice.ai_inbox.pull import COLUMN, suggestion_of
from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.ids import DECISION, AiEntryId
from tidings.backoffice.notes.model import NewNote
from tidings.backoffice.notes.notes import Notes
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.backoffice.properties.access import PropertyReach
from tidings.contracts.backoffice import AI_SUGGESTION_DECIDED_SUBJECT, AiSuggestionDecided
from tidings.contracts.events import BACKOFFICE_SOURCE
from tidings.contracts.template_drafts import AiDrafts
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.events import new_event
from tidings.kernel.http.callers import Caller
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import MissingScopeError
from tidings.kernel.tracing import current_traceparent

DELTA: Final = "ai_decision_log.delta"
PROVENANCE: Final = "ai_decision_log.provenance"
_TEMPLATES: Final = "templates:write"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SuggestionDecider:
    """The first decision counts."""

    words: SealedWords
    notes: Notes
    drafts: AiDrafts
    announcements: DeviceAnnouncements
    outbox: Outbox
    clock: Clock

    async def decide(
        self, tx: TenantTx, caller: Caller, entry_id: AiEntryId, decision: AiDecision
    ) -> tuple[AiEntry, EntryContent]:
        """The entry as it is afterwards."""
        seat, now = seat_of(caller), self.clock.now()
        entry = await store.lock_entry(tx, entry_id)
        if entry is None or not PropertyReach.of(caller).holds(entry.property_id):
            raise UnknownSuggestionError
        match entry.status_at(now):
            case "open":
                pass
            case "expired":
                raise SuggestionExpiredError
            case _:
                raise SuggestionDecidedError
        content = await self.content(tx, entry)
        decision.check(entry, content)
        is_draft = entry.source == "template"
        if is_draft:
            await self._settle_draft(tx, caller, entry, decision)
        decision_id = DECISION.new(now)
        [note_id] = await self.notes.write(
            tx,
            [
                NewNote(
                    kind="ai_decision",
                    about_id=decision_id,
                    property_id=entry.property_id,
                    written_by=seat.operator_id,
                    text=decision.note or "",
                )
            ],
        )
        delta = None
        if decision.delta:
            delta = (
                await self.words.seal(tx, DELTA, {decision_id: json.dumps(decision.delta, sort_keys=True)})
            )[decision_id]
        provenance = await self.words.seal(
            tx, PROVENANCE, {decision_id: json.dumps(content.provenance, sort_keys=True, default=str)}
        )
        logged = LoggedDecision(
            id=decision_id,
            property_id=entry.property_id,
            suggestion_id=entry.suggestion_id,
            inbox_entry_id=entry.id,
            category=entry.category,
            severity=entry.severity,
            outcome=decision.outcome,
            decided_by=seat.operator_id,
            device_id=seat.device_id,
            note_id=note_id,
            delta_ciphertext=delta,
            provenance_ciphertext=provenance[decision_id],
        )
        if not await store.log_decision(tx, logged):
            raise SuggestionDecidedError
        decided = await store.decide_entry(
            tx,
            entry.id,
            outcome=decision.outcome,
            decided_by=seat.operator_id,
            delivery=None if is_draft else "waiting",
            now=now,
        )
        if not is_draft:
            await store.insert_delivery(tx, decision_id, entry.id, now=now)
        await self._tell(tx, logged)
        return decided, content

    async def content(self, tx: TenantTx, entry: AiEntry) -> EntryContent:
        """What is suggested; an `UnknownSuggestionError` where it can't be read any more."""
        opened = await self.words.open(tx, COLUMN, {entry.id: entry.content_ciphertext})
        if entry.id not in opened:
            raise UnknownSuggestionError
        return read_content(opened[entry.id])

    async def _settle_draft(self, tx: TenantTx, caller: Caller, entry: AiEntry, decision: AiDecision) -> None:
        if _TEMPLATES not in caller.scopes:
            raise MissingScopeError(_TEMPLATES)
        draft = next(
            (one for one in await self.drafts.waiting(tx) if suggestion_of(one) == entry.suggestion_id), None
        )
        if draft is None:
            raise SuggestionDecidedError(
                "somebody has approved, changed or taken away this draft; look at it anew"
            )
        if decision.outcome == "accepted":
            await self.drafts.approve(tx, draft, actor=caller.actor)
        else:
            await self.drafts.put_away(tx, draft, actor=caller.actor)

    async def _tell(self, tx: TenantTx, logged: LoggedDecision) -> None:
        told = AiSuggestionDecided(
            suggestion_id=logged.suggestion_id,
            inbox_entry_id=logged.inbox_entry_id,
            property_id=logged.property_id,
            category=logged.category,
            severity=logged.severity,
            outcome=logged.outcome,
            decided_by=logged.decided_by,
        )
        event = new_event(
            AI_SUGGESTION_DECIDED_SUBJECT,
            told,
            tenant_id=tx.tenant_id,
            ordering_key=logged.suggestion_id,
            source=BACKOFFICE_SOURCE,
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])
        announcement = NewAnnouncement(
            channel="ai_inbox",
            property_id=logged.property_id,
            facts={"inbox_entry_id": logged.inbox_entry_id, "outcome": logged.outcome},
        )
        await self.announcements.tell_all(tx, [announcement])
