"""Events that groups have given up on: to be looked at, replayed, discarded, and swept after 14 days."""

from collections.abc import Sequence

from tidings.kernel.bus import DeadLetter, NoSuchDeadLetterError, NoSuchGroupError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.events import from_stored
from tidings.kernel.ids import DeadLetterId
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class PostgresDeadLetters:
    """The dead letters of this database."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def list(
        self, *, group: str | None = None, after: DeadLetterId | None = None, limit: int = 100
    ) -> Sequence[DeadLetter]:
        """The oldest first; `after` is the last one of the page before."""
        async with self._db.worker() as tx:
            rows = await tx.fetch(_QUERIES.list_dead_letters, group=group, after=after or "", limit=limit)
        return [_from_row(row) for row in rows]

    async def show(self, letter: DeadLetterId) -> DeadLetter:
        """One of them, or a `NoSuchDeadLetterError`."""
        async with self._db.worker() as tx:
            row = await tx.fetch_one(_QUERIES.find_dead_letter, id=letter)
        if row is None:
            raise NoSuchDeadLetterError
        return _from_row(row)

    async def replay(self, letter: DeadLetterId) -> None:
        """Hand it to its group again, with all its attempts before it."""
        async with self._db.worker() as tx:
            row = await tx.fetch_one(_QUERIES.replay_dead_letter, id=letter, now=self._clock.now())
        if row is None:
            group = (await self.show(letter)).group
            raise NoSuchGroupError(f"consumer group {group} is gone; {letter} can only be discarded")

    async def discard(self, letter: DeadLetterId) -> None:
        """Forget it."""
        async with self._db.worker() as tx:
            if not await tx.execute(_QUERIES.discard_dead_letter, id=letter):
                raise NoSuchDeadLetterError

    async def sweep(self, *, limit: int = 5_000) -> int:
        """Remove up to so many that have expired; how many that were."""
        async with self._db.worker() as tx:
            return await tx.execute(_QUERIES.sweep_dead_letters, now=self._clock.now(), limit=limit)


_from_row = RowMapper(
    DeadLetter,
    [_QUERIES.list_dead_letters, _QUERIES.find_dead_letter],
    columns={"group": "group_name"},
    of_row={"event": lambda row: from_stored(row["envelope"], row["payload"])},
)
