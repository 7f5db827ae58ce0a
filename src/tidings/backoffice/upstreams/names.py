"""Which upstream services there are, and which version of its contract each is asked in."""

from typing import Final, Literal, get_args

UpstreamName = Literal["reservations", "housekeeping", "maintenance", "locks", "assistant", "operators"]

UPSTREAMS: Final[tuple[UpstreamName, ...]] = get_args(UpstreamName)

#: The version that our structs are of. A version grows by fields that are added, which readers ignore; anything else is
#: the next one. What is cached carries these in its key (`cacheKeyVersion`), so that no page meets yesterday's form.
CONTRACT_VERSIONS: Final[dict[UpstreamName, int]] = dict.fromkeys(UPSTREAMS, 1)
