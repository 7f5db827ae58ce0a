"""What the notifications of a batch took from their limits: a batch that is repeated does not take it again."""

from collections.abc import Hashable, Sequence
from typing import TypeAlias

from tidings.kernel.hot_state import Limits, Take, Taken
from tidings.notify.dispatch.store import OwnedId

#: A notification, what stage of it asks, and the limits it asks; none where there are none.
LimitRequest: TypeAlias = tuple[OwnedId, Hashable, Sequence[Take]]


class TakenLimits:
    """Answers by notification and stage, for as long as a batch is being dispatched."""

    def __init__(self) -> None:
        self._known: dict[tuple[OwnedId, Hashable], Taken] = {}

    async def take(self, limits: Limits, requests: Sequence[LimitRequest]) -> list[Taken | None]:
        """The answer to each, asked for where it is not known yet; None where there is no limit."""
        asked = [request for request in requests if request[2] and request[:2] not in self._known]
        if asked:
            taken = await limits.take_of([(owned[0], takes) for owned, _, takes in asked])
            self._known.update((request[:2], one) for request, one in zip(asked, taken, strict=True))
        return [self._known[request[:2]] if request[2] else None for request in requests]
