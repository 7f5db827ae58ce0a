"""A clock that a test moves by hand."""

import asyncio
from datetime import UTC, datetime, timedelta


class ManualClock:
    """Stands still until it is told to move; sleepers wake when their time has come."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
        self._start = self._now
        self._moved = asyncio.Condition()

    def now(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        return (self._now - self._start).total_seconds()

    async def sleep(self, seconds: float) -> None:
        wake = self._now + timedelta(seconds=seconds)
        async with self._moved:
            await self._moved.wait_for(lambda: self._now >= wake)

    async def advance(self, by: timedelta) -> None:
        async with self._moved:
            self._now += by
            self._moved.notify_all()
        await asyncio.sleep(0)
