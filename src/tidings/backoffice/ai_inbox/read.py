"""The inbox as somebody sees it: brought up to date where it is old, then listed and opened."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidings.backoffice.ai_inbox import store
from tidings.backoffice.ai_inbox.model import AiEntry, EntryContent, read_content
from tidings.backoffice.ai_inbox.pull import COLUMN, SuggestionPuller
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.notes.sealed_words import SealedWords
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.properties.access import PropertyReach
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.ids import TenantId


class SeenEntry(NamedTuple):
    """A suggestion, opened."""

    entry: AiEntry
    content: EntryContent
    #: What who decided is called.
    decided_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AiInboxReader:
    """Reads it for one operator."""

    db: Database
    puller: SuggestionPuller
    words: SealedWords
    people: OperatorPeople
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
        names = await self.names(tx, entries)
        return [
            SeenEntry(one, read_content(opened[one.id]), names.get(one.decided_by or ""))
            for one in entries
            if one.id in opened
        ]

    async def names(self, tx: TenantTx, entries: Sequence[AiEntry]) -> dict[str, str]:
        """What those are called who decided, by their ids; who was erased, or is the platform's, is left out."""
        wanted = {OperatorId(one.decided_by) for one in entries if one.decided_by is not None}
        if not wanted:
            return {}
        found = await operator_store.find_any(tx, sorted(wanted))
        people = await self.people.open(tx, list(found.values()))
        return {operator_id: person.name for operator_id, person in people.items()}
