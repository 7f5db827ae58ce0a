"""Single flight within a process: the first who asks sets off, the others wait for the same result."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class SingleFlight:
    """Has a thing made once when many ask for it at the same time."""

    def __init__(self) -> None:
        self._flights: dict[str, asyncio.Task[Any]] = {}
        self._waiting: dict[str, int] = {}

    async def do(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives; a caller that asks while it runs gets the same result, or the same error."""
        flight: asyncio.Task[T] = self._flights.get(key) or self._take_off(key, make)
        self._waiting[key] = self._waiting.get(key, 0) + 1
        try:
            # One who gives up must not take the result from the others.
            return await asyncio.shield(flight)
        except asyncio.CancelledError:
            if self._waiting.get(key) == 1 and self._flights.get(key) is flight:
                flight.cancel()
            raise
        finally:
            if self._flights.get(key) is flight:
                self._waiting[key] -= 1

    def _take_off(self, key: str, make: Callable[[], Awaitable[T]]) -> "asyncio.Task[T]":
        flight = asyncio.create_task(_made(make))
        self._flights[key] = flight
        flight.add_done_callback(lambda done: self._land(key, done))
        return flight

    def _land(self, key: str, flight: "asyncio.Task[Any]") -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
            del self._waiting[key]
        if not flight.cancelled():
            flight.exception()  # looked at, so that asyncio does not complain when all callers have gone


async def _made(make: Callable[[], Awaitable[T]]) -> T:
    return await make()
