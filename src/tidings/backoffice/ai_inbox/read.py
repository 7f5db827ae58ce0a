"""The inbox as somebody sees it: brought up to date where it is old, then listed and opened."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.ai_inbox.model import AiEntry, EntryContent, read_content
from tidings.backoffice.ai_inbox.pull import COLUMN, SuggestionPuller
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.backoffice.properties.access import PropertyReach
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId


class SeenEntry(NamedTuple):
    """A suggestion, opened."""

    entry: AiEntry
    content: EntryContent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AiInboxReader:
    """Reads it for one operator."""

    db: Database
    puller: SuggestionPuller
    words: SealedWords
    clock: Clock

    async def refresh(
        self, tenant_id: TenantId, property_ids: Collection[str]
    ) -> Mapping[str, UpstreamAwayError]:
        """Bring in what is new of these properties, and drafts that wait; of which there was no answer."""
        # Without the caller's role: what comes in is not their doing.
        async with self.db.tenant(tenant_id) as tx:
            await self.puller.pull_drafts(tx)
        return await self.puller.pull(tenant_id, property_ids) if property_ids else {}

    async def list(
        self,
        tx: TenantTx,
        *,
        reach: PropertyReach,
        property_id: str | None,
        category: str | None,
        shows: str,
        after_id: str | None,
        limit: int,
    ) -> list[SeenEntry]:
        """Those that fit; what can't be read any more is left out."""
        entries = await store.list_entries(
            tx,
            reach=reach,
            property_id=property_id,
            category=category,
            shows=shows,
            after_id=after_id,
            limit=limit,
            now=self.clock.now(),
        )
        opened = await self.words.open(tx, COLUMN, {one.id: one.content_ciphertext for one in entries})
        return [SeenEntry(one, read_content(opened[one.id])) for one in entries if one.id in opened]
