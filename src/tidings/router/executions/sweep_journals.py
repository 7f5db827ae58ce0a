"""Removes journals of answers that no process writes any more, when nothing in them is left to be recorded."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.journal.file import is_left
from tidings.router.executions import store
from tidings.router.executions.answer_journal import AnswerJournal, JournalEntry

#: By then an attempt is given up, whatever its journal says; what can't be read is kept no longer either.
JOURNALS_KEPT: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JournalSweeper:
    """Looks through the journals of this host; the database says what is recorded."""

    db: Database
    journal: AnswerJournal
    clock: Clock

    async def sweep(self, limit: int) -> int:
        """Remove at most so many files; how many went."""
        gone = 0
        oldest = (self.clock.now() - JOURNALS_KEPT).timestamp()
        for path in self.journal.journal.begun():
            version = self.journal.journal.version(path)
            if gone < limit and version is not None and version.written_at < oldest:
                self.journal.drop(path)
                gone += 1
        for path in self.journal.files():
            if gone >= limit or not is_left(path):
                continue
            version = self.journal.journal.version(path)
            if version is None:
                continue
            entries = await self.journal.entries(path)
            if version.written_at < oldest or (
                entries is not None and not await self._is_open(entries.values())
            ):
                self.journal.drop(path)
                gone += 1
        return gone

    async def _is_open(self, entries: Iterable[JournalEntry]) -> bool:
        """Whether one of their attempts is still to be recorded. A tenant that is gone has none."""
        by_tenant: dict[TenantId, list[JournalEntry]] = {}
        for entry in entries:
            by_tenant.setdefault(entry.tenant_id, []).append(entry)
        for tenant_id, some in sorted(by_tenant.items()):
            async with self.db.tenant(tenant_id, by_index=True) as tx:
                open_ids = await store.open_attempt_ids(tx, [entry.execution_id for entry in some])
            if any(entry.attempt_id in open_ids for entry in some):
                return True
        return False
