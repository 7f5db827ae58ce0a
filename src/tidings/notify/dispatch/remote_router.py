"""What a router in another process can tell notify: the contract's `TakenHandOvers` and `EndedExecutions`, by request and reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import msgspec

from tidings.contracts.delivery import DeliveryOutcome, EndedPage
from tidings.contracts.delivery_requests import (
    ENDED_EXECUTIONS,
    ENDED_OUTCOMES,
    TAKEN_HAND_OVERS,
    FindEnded,
    FindOutcomes,
    FindTaken,
    FoundTaken,
)
from tidings.contracts.ids import NotificationId
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.requests import Requests

#: Seconds. Sweepers ask, and ask again in the next round.
_TIMEOUT: Final = 20.0
#: Ids of one request.
_SET: Final = 1_000

_encode = msgspec.msgpack.Encoder().encode
_decode_taken = msgspec.msgpack.Decoder(FoundTaken).decode
_decode_page = msgspec.msgpack.Decoder(EndedPage).decode
_decode_outcomes = msgspec.msgpack.Decoder(list[DeliveryOutcome]).decode


@dataclass(frozen=True, slots=True)
class RemoteRouterLedgers:
    """Asks the router; a `NoReplyError` where none is there."""

    requests: Requests

    async def taken(
        self, requests: Sequence[tuple[TenantId, NotificationId]]
    ) -> set[tuple[TenantId, NotificationId]]:
        """Those that it has taken, under way or over."""
        found: set[tuple[TenantId, NotificationId]] = set()
        for start in range(0, len(requests), _SET):
            asked = FindTaken(requests=tuple(requests[start : start + _SET]))
            found.update(_decode_taken(await self._call(TAKEN_HAND_OVERS, asked)).taken)
        return found

    async def page(self, tx: WorkerTx, *, after: datetime, settled_for: timedelta, limit: int) -> EndedPage:  # noqa: ARG002  # the router has one of its own
        """The next ones after that moment, the oldest first; none that ended within the last `settled_for`."""
        asked = FindEnded(after=after, settled_for=settled_for, limit=limit)
        return _decode_page(await self._call(ENDED_EXECUTIONS, asked))

    async def outcomes(self, tx: TenantTx, ids: Sequence[NotificationId]) -> list[DeliveryOutcome]:
        """How the executions of some notifications ended, as it was announced."""
        found: list[DeliveryOutcome] = []
        for start in range(0, len(ids), _SET):
            asked = FindOutcomes(tenant_id=tx.tenant_id, ids=tuple(ids[start : start + _SET]))
            found += _decode_outcomes(await self._call(ENDED_OUTCOMES, asked))
        return found

    async def _call(self, subject: str, asked: FindTaken | FindEnded | FindOutcomes) -> bytes:
        return await self.requests.call(subject, _encode(asked), timeout=_TIMEOUT)
