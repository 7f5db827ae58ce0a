"""Hours of the day in a place, for steps that are not taken at night."""

from datetime import datetime, time
from zoneinfo import ZoneInfo

import msgspec

from tidings.contracts.tenants import TimeOfDay, TimeZone


class Hours(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From start to end, by the clock of a place; may reach across midnight."""

    start: TimeOfDay
    end: TimeOfDay
    timezone: TimeZone

    def hold(self, now: datetime) -> bool:
        """Whether it is within them; the end is no longer part of them."""
        there = now.astimezone(ZoneInfo(self.timezone)).time()
        start, end = time.fromisoformat(self.start), time.fromisoformat(self.end)
        return start <= there < end if start < end else there >= start or there < end
