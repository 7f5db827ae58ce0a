"""Tells Tidings what changes in the houses, as upstream services do: by events, as soon as it has happened."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.ids import IdKind
from tidings.kernel.logs import get_logger
from tidings.sandbox.property.houses import HOUSES, House
from tidings.sandbox.property.rooms import rooms_at
from tidings.sandbox.property.site import PropertySite
from tidings.sandbox.property.stays import stays_around
from tidings.sandbox.property.suggestions import suggestions_at
from tidings.sandbox.property.tickets import tickets_at

_log = get_logger("property_simulator")
_EVERY_SECONDS: Final = 3.0
_MOST_WAITING: Final = 1000
_EVENT: Final = IdKind("prop", str)
_SOURCE: Final = "/sandbox/property"

#: Sends a batch of CloudEvents; the status of the answer.
SendEvents = Callable[[list[dict[str, Any]]], Awaitable[int]]


class ChangeTeller:
    """Looks at the houses every few seconds, and tells of each service of each house whose answers are others now."""

    def __init__(self, site: PropertySite, clock: Clock, send: SendEvents) -> None:
        self._site = site
        self._clock = clock
        self._send = send
        self._seen: dict[tuple[str, str], bytes] = {}
        self._waiting: list[tuple[str, str]] = []
        self._task: asyncio.Task[None] | None = None
        site.on_change = self._changed

    def start(self) -> None:
        """Look from now on."""
        self._task = asyncio.create_task(self._run(), name="property changes")

    async def stop(self) -> None:
        """Tell no more."""
        self._site.on_change = None
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def look(self) -> None:
        """Note what is different from the last look; the first one finds nothing."""
        for house in HOUSES:
            for service, found in self._states(house):
                key = service, house.id
                before, self._seen[key] = self._seen.get(key), found
                if before is not None and before != found:
                    self._changed(service, house.id)

    async def tell(self) -> int:
        """Send what was noted; how many events went out."""
        going, self._waiting = self._waiting, []
        if not going:
            return 0
        now = self._clock.now()
        events = [
            {
                "specversion": "1.0",
                "id": _EVENT.new(now),
                "source": f"{_SOURCE}/{service}",
                "type": f"upstream.{service}.changed",
                "subject": subject,
                "time": now.isoformat(),
            }
            for service, subject in dict.fromkeys(going)
        ]
        status = await self._send(events)
        if status >= 400:
            _log.warning("property_changes_refused", status=status, events=len(events))
            return 0
        return len(events)

    def _changed(self, service: str, subject: str) -> None:
        if len(self._waiting) < _MOST_WAITING:
            self._waiting.append((service, subject))

    def _states(self, house: House) -> list[tuple[str, bytes]]:
        seed, now = self._site.seed, self._clock.now()
        day = now.astimezone(house.zone).date()
        stays = [(one.id, one.status(now)) for one in stays_around(seed, house, day)]
        rooms = [(one["room"], one["status"], one["use"]) for one in rooms_at(seed, house, now)]
        tickets = [(one.id, one.status(now)) for one in tickets_at(seed, house, now)]
        suggestions = [(one["id"], one["status"]) for one in suggestions_at(seed, house, now)]
        parts = {
            "reservations": stays,
            "housekeeping": rooms,
            "maintenance": tickets,
            "assistant": suggestions,
        }
        return [(service, msgspec.json.encode(part)) for service, part in parts.items()]

    async def _run(self) -> None:
        while True:
            try:
                self.look()
                await self.tell()
            except asyncio.CancelledError:
                raise
            except Exception as error:  # noqa: BLE001  # Tidings may be starting or ending; it is told the next time
                _log.info("property_changes_not_told", error=type(error).__name__)
            # The machine's clock: a clock that a test holds would never wake it.
            await asyncio.sleep(_EVERY_SECONDS)
