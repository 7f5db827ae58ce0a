"""A cached view: when it was made, whether all of it is there, and what it says."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

#: What lacks an upstream service is asked for anew after so long, so that it is whole again soon.
PARTIAL_TTL: Final = timedelta(seconds=3)
#: The part of its time after which a value is made anew while it is still shown.
_REVALIDATED_FROM: Final = 2 / 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedView:
    """What was made of the answers of upstream services."""

    made_at: datetime
    body: bytes = field(repr=False)
    #: False: something is missing in it.
    is_whole: bool = True

    def may_be_shown(self, now: datetime, ttl: timedelta) -> bool:
        """Whether it is young enough; one from a host whose clock is ahead counts as made now."""
        return now - self.made_at < (ttl if self.is_whole else min(ttl, PARTIAL_TTL))

    def is_due(self, now: datetime, ttl: timedelta) -> bool:
        """Whether it is made anew beside those to whom it is shown (stale-while-revalidate)."""
        return now - self.made_at >= ttl * _REVALIDATED_FROM
