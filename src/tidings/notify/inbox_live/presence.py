"""Presence: who has their inbox open, over what, in which process and since when.

A stream is entered within a second and renewed three times in its time to live; one whose process was killed is forgotten
within that time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.inbox import presence_key
from tidings.kernel.clock import Clock
from tidings.kernel.local_hot_state.attendance import AttendanceList, Attendee
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox_live.listener import InboxListener

#: How long a stream counts as open when nobody says so any more.
TTL: Final = timedelta(seconds=60)
_RENEW_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenStream:
    """One stream of a person, in whatever process."""

    transport: str
    process: str
    since: datetime


class InboxPresence:
    """Tells of the streams of this process, and knows those of all."""

    def __init__(self, attendance: AttendanceList, clock: Clock) -> None:
        self._attendance = attendance
        self._clock = clock
        self._entered: dict[str, Attendee] = {}
        self._renewed_at = float("-inf")

    async def keep(self, listeners: Iterable[InboxListener]) -> None:
        """Enter those that are new, remove those that are gone, and renew all when it is time."""
        now = self._clock.monotonic()
        here = {one.id: self._entered.get(one.id) or _attendee(one) for one in listeners}
        gone = [one for id_, one in self._entered.items() if id_ not in here]
        renews = now - self._renewed_at >= _RENEW_SECONDS
        entering = [one for id_, one in here.items() if renews or id_ not in self._entered]
        if gone:
            await self._attendance.leave(gone)
        if entering:
            await self._attendance.enter(entering, TTL)
        if renews:
            self._renewed_at = now
        self._entered = here

    async def find(self, key: InboxKey) -> list[OpenStream]:
        """The streams of a person that are open now, the oldest first."""
        named = key.tenant_id, presence_key(key.recipient_id, is_test=key.is_test)
        found = (await self._attendance.find([named])).get(named, [])
        return sorted(map(_stream, found), key=lambda one: one.since)


def _attendee(listener: InboxListener) -> Attendee:
    key = listener.key
    member = f"{listener.transport} {listener.id} {listener.opened_at.isoformat()}"
    return Attendee(key.tenant_id, presence_key(key.recipient_id, is_test=key.is_test), member)


def _stream(member: str) -> OpenStream:
    transport, id_, since = member.split(" ")
    return OpenStream(transport=transport, process=id_.partition("-")[0], since=datetime.fromisoformat(since))
