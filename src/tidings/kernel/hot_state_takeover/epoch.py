"""An epoch: a time in which one leader, Redis or Postgres, counts limits; its fence rises with every change of leader."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

POSTGRES: Final = "postgres"
_REDIS = "redis"
_FILLING = "filling"


def redis_holder(run_id: str, *, filling: bool) -> str:
    """How the database names a Redis that counts: this very server, and whether it knows everything yet."""
    return f"{_FILLING if filling else _REDIS} {run_id}"


class Epoch:
    """One epoch, as this process sees it, and how many calls use it now."""

    def __init__(self, holder: str, fence: int) -> None:
        self.fence = fence
        kind, _, run_id = holder.partition(" ")
        #: Redis counts, otherwise Postgres.
        self.is_redis = kind in {_REDIS, _FILLING}
        #: What it does not know may be in Postgres.
        self.filling = kind == _FILLING
        #: The server that counts.
        self.run_id = run_id
        #: No further call may begin in it.
        self.closed = False
        self._users = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def leader(self) -> str:
        """`redis` or `postgres`, for logs and metrics."""
        return _REDIS if self.is_redis else POSTGRES

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """While something is being taken."""
        self._users += 1
        self._idle.clear()
        try:
            yield
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()

    async def drained(self) -> None:
        """Wait until the last call in it has ended."""
        await self._idle.wait()
