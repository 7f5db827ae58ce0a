"""Brings suggestions into the inbox: of the service `assistant` when somebody looks, and drafts of templates that wait."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

import msgspec

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.ai_inbox.model import DRAFT_CATEGORY, FRESH, AiEntry, EntryContent, Source
from tidings.backoffice.announcements.model import NewAnnouncement
from tidings.backoffice.announcements.tell import DeviceAnnouncements
from tidings.backoffice.ids import AI_ENTRY
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.contract.assistant import UpstreamSuggestion, UpstreamSuggestions
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.contracts.template_drafts import AiDraft, AiDrafts
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId

COLUMN: Final = "ai_inbox_entries.content"
_PATH: Final = "/v1/properties/{}/suggestions"
#: Pages of one property that are read at most.
_MOST_PAGES: Final = 5
#: Properties of which the service is asked for one look at the inbox.
_MOST_PLACES: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SuggestionPuller:
    """What comes in is sealed at once. No transaction is open while the service is asked."""

    db: Database
    upstreams: Upstreams
    drafts: AiDrafts
    words: SealedWords
    announcements: DeviceAnnouncements
    clock: Clock

    async def pull(
        self, tenant_id: TenantId, property_ids: Collection[str]
    ) -> Mapping[str, UpstreamAwayError]:
        """Ask the service about those of which it was not asked within a minute; why there is no answer, by property."""
        now = self.clock.now()
        async with self.db.tenant(tenant_id) as tx:
            places = await store.find_places(tx, property_ids)
        stale = [
            property_id
            for property_id, pulled_at in places.items()
            if pulled_at is None or now - pulled_at >= FRESH
        ][:_MOST_PLACES]
        found = await asyncio.gather(*(self._pull(tenant_id, one) for one in stale))
        return {property_id: away for property_id, away in zip(stale, found, strict=True) if away is not None}

    async def pull_drafts(self, tx: TenantTx) -> None:
        """Drafts of templates that wait for approval come in, and those that wait no more go."""
        waiting = await self.drafts.waiting(tx)
        found = [(_draft_entry(tx, draft, self.clock.now()), _draft_content(draft)) for draft in waiting]
        await self._keep(tx, found, "template", None)

    async def _pull(self, tenant_id: TenantId, property_id: str) -> UpstreamAwayError | None:
        try:
            found, is_whole = await self._ask(tenant_id, property_id)
        except UpstreamAwayError as away:
            return away
        now = self.clock.now()
        async with self.db.tenant(tenant_id) as tx:
            entries = [(_entry(tx, property_id, one, now), _content(one)) for one in found]
            await self._keep(tx, entries, "assistant", property_id, closes=is_whole)
            await store.put_place(tx, property_id, now=now)
        return None

    async def _ask(self, tenant_id: TenantId, property_id: str) -> tuple[list[UpstreamSuggestion], bool]:
        """Those that are open, and whether that is all of them."""
        found: list[UpstreamSuggestion] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.upstreams.read(
                UpstreamSuggestions,
                "assistant",
                at(_PATH, property_id),
                tenant_id=tenant_id,
                query={"status": "open", **({"cursor": cursor} if cursor else {})},
            )
            if page is None:
                return found, True
            found += page.suggestions
            cursor = page.next_cursor
            if cursor is None:
                return found, True
        return found, False

    async def _keep(
        self,
        tx: TenantTx,
        found: Sequence[tuple[AiEntry, EntryContent]],
        source: Source,
        property_id: str | None,
        *,
        closes: bool = True,
    ) -> None:
        now = self.clock.now()
        open_ids = [entry.suggestion_id for entry, _ in found]
        known = await store.find_known(tx, open_ids, source=source, property_id=property_id)
        new = [(entry, content) for entry, content in found if entry.suggestion_id not in known]
        boxes = await self.words.seal(tx, COLUMN, {entry.id: content.encoded() for entry, content in new})
        sealed = [replace(entry, content_ciphertext=boxes[entry.id]) for entry, _ in new]
        count = (
            await store.insert_entries(tx, sealed, source=source, property_id=property_id) if sealed else 0
        )
        closed = 0
        if closes:
            closed = await store.close_missing(tx, open_ids, source=source, property_id=property_id, now=now)
        if count or closed:
            told = NewAnnouncement(
                channel="ai_inbox", property_id=property_id, facts={"new": count, "closed": closed}
            )
            await self.announcements.tell_all(tx, [told])


def _entry(tx: TenantTx, property_id: str, said: UpstreamSuggestion, now: datetime) -> AiEntry:
    return AiEntry(
        id=AI_ENTRY.new(now),
        tenant_id=tx.tenant_id,
        source="assistant",
        suggestion_id=said.id,
        property_id=property_id,
        category=said.category,
        severity=said.severity,
        status="open",
        content_ciphertext=b"",
        suggested_at=said.created_at,
        expires_at=said.expires_at,
    )


def _content(said: UpstreamSuggestion) -> EntryContent:
    return EntryContent(
        title=said.title,
        body=said.body,
        proposal=said.proposal,
        provenance=msgspec.to_builtins(said.provenance),
    )


def suggestion_of(draft: AiDraft) -> str:
    """A draft that was changed is another suggestion."""
    return f"{draft.version_id}.{draft.revision}"


def _draft_entry(tx: TenantTx, draft: AiDraft, now: datetime) -> AiEntry:
    return AiEntry(
        id=AI_ENTRY.new(now),
        tenant_id=tx.tenant_id,
        source="template",
        suggestion_id=suggestion_of(draft),
        property_id=None,
        category=DRAFT_CATEGORY,
        severity="info",
        status="open",
        content_ciphertext=b"",
        suggested_at=draft.drafted_at,
        expires_at=None,
    )


def _draft_content(draft: AiDraft) -> EntryContent:
    proposal = {"template": draft.key, "channel": draft.channel, "version": draft.semver}
    return EntryContent(
        title=f"{draft.key} {draft.channel} {draft.semver}", proposal=proposal, provenance=draft.provenance
    )
