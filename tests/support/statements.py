"""Counts what a piece of work asks of Postgres: statements, transactions, round trips.

Every statement is one round trip, once a connection has met it before: the driver keeps it prepared. `BEGIN` with its
settings is one, and so is `COMMIT`, unless they travel with a statement (`kernel/pipelining.py`).
"""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tidings.kernel.db import Database

#: The driver's own questions, asked once per connection about types that it meets for the first time.
_DRIVER = ("typeinfo_tree", "'jit'")
_TABLE = re.compile(r"(?:FROM|INTO|UPDATE)\s+([a-z_]+\.[a-z_]+)")


@dataclass(slots=True)
class Asked:
    """What was asked meanwhile."""

    texts: list[str] = field(default_factory=list)

    @property
    def round_trips(self) -> int:
        """Times that somebody waited for the server."""
        return len(self.texts)

    @property
    def transactions(self) -> int:
        """Those that were begun in a trip of their own."""
        return sum(text.startswith("BEGIN") for text in self.texts)

    @property
    def statements(self) -> int:
        """Without those that begin and end a transaction."""
        return sum(
            not text.startswith(("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "SET"))
            for text in self.texts
        )

    def __str__(self) -> str:
        return (
            f"{self.transactions} transactions, {self.statements} statements, {self.round_trips} round trips"
        )

    def by_table(self) -> dict[str, int]:
        """How often each table was asked first, to see what a number is made of."""
        found = Counter(match[1] for text in self.texts if (match := _TABLE.search(text)))
        return dict(found.most_common())


@contextmanager
def counting(db: Database) -> Iterator[Asked]:
    """All that is asked over this database's pool meanwhile, by whomever."""
    asked = Asked()
    pool: Any = db._pool
    acquire, seen = pool.acquire, []

    def note(record: Any) -> None:
        if not any(sign in record.query for sign in _DRIVER):
            asked.texts.append(record.query.strip())

    async def noted() -> Any:
        connection = await acquire()
        if connection not in seen:
            seen.append(connection)
            connection.add_query_logger(note)
        return connection

    pool.acquire = noted
    try:
        yield asked
    finally:
        del pool.acquire
        for connection in seen:
            if not connection.is_closed():
                connection.remove_query_logger(note)
