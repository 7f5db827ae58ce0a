"""Destroys the raw bodies of callbacks that are about people who were erased.

The transaction that erases names their ladders. A consumer of its event then destroys the keys of the bodies that have come;
a sweeper does, where that failed. Of a callback that finds its attempt later the key goes in the same statement (`mark_applied`).
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.kernel.bus import TenantHandler
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.sql import Queries
from tidings.router.callbacks.retry_policy import OLDEST_ATTEMPT

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "router.erased-callbacks"
SUBJECTS: Final = ("recipient.erased.v1",)

_QUERIES: Final = Queries.beside(__file__)
#: A ladder that ended longer ago has no attempt that a callback finds, and no raw body is as old.
_OLDEST_LADDER: Final = OLDEST_ATTEMPT
#: Ladders in one statement.
_CHUNK: Final = 1000
#: A ladder that was under way may make its last call after the erasure.
_REMEMBERED: Final = OLDEST_ATTEMPT + timedelta(days=7)


class StoredCallbackForgetter:
    """The contract's `StoredCallbackForgetter`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def forget(self, tx: TenantTx, notification_ids: Sequence[str]) -> int:
        """Order that no raw body about these notifications is kept; how many requests about them had come."""
        now = self._clock.now()
        bodies: int = await tx.fetch_value(
            _QUERIES.forget_bodies,
            notification_ids=sorted(set(notification_ids)),
            since=now - _OLDEST_LADDER,
            now=now,
        )
        return bodies


class BodyEraser:
    """Carries out what erasures ordered, whatever tenant it is of."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def sweep(self, limit: int) -> int:
        """Destroy the keys of the bodies about at most so many ladders; how many ladders that were.

        One statement: it is done and no longer ordered, or neither.
        """
        async with self._db.worker() as tx:
            done: int = await tx.fetch_value(_QUERIES.destroy_bodies, limit=limit, now=self._clock.now())
            return done

    async def forget_orders(self, limit: int) -> int:
        """Remove those that no callback can find any more; how many."""
        async with self._db.worker() as tx:
            return await tx.execute(
                _QUERIES.sweep_orders, before=self._clock.now() - _REMEMBERED, limit=limit
            )


def handler(eraser: BodyEraser) -> TenantHandler:
    """Carries out what is ordered as soon as an erasure is heard of; heard of twice, there is nothing left to do."""

    async def apply(_: TenantTx, __: Sequence[Event]) -> None:
        # In transactions of its own: bodies have no tenant, and the orders were committed before the event was told.
        while await eraser.sweep(_CHUNK) == _CHUNK:
            pass

    return apply
