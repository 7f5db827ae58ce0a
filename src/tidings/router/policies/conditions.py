"""Which conditions of a step are known not to hold when its ladder is made; no I/O.

Hours and prefixes go into the frozen step and are looked at when it is taken: by then it is another hour, and the
address is known.
"""

from datetime import datetime
from typing import Final

from tidings.contracts.enums import Priority
from tidings.contracts.tenants import Channel
from tidings.router.policies.model import Conditions
from tidings.router.profiles.model import Profile, TriState

WRONG_PRIORITY: Final = "condition_priority"
NOT_REACHABLE: Final = "condition_reachable"
LOW_SCORE: Final = "condition_score"
NOT_ONLINE: Final = "condition_online"


def barred_by(
    conditions: Conditions | None,
    channel: Channel,
    *,
    priority: Priority,
    profile: Profile | None,
    now: datetime,
    online: bool = False,
) -> str | None:
    """The code of the first condition that does not hold; None where the step may be taken. `online`: their inbox is open."""
    if conditions is None:
        return None
    if conditions.priorities is not None and priority not in conditions.priorities:
        return WRONG_PRIORITY
    if conditions.online is not None and conditions.online is not online:
        return NOT_ONLINE
    known = TriState.UNKNOWN if profile is None else profile.reachable(channel)
    if conditions.reachable == "known_yes" and known is not TriState.KNOWN_YES:
        return NOT_REACHABLE
    if conditions.reachable == "not_known_no" and known is TriState.KNOWN_NO:
        return NOT_REACHABLE
    # A channel that was never tried has no score: who held it back for that would never learn of it.
    tried = profile is not None and channel in profile.channels
    if conditions.min_score is not None and profile is not None and tried:
        return LOW_SCORE if profile.score(channel, now) < conditions.min_score else None
    return None
