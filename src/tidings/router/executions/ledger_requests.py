"""Answers notify in another process, which asks what was taken and what has ended."""

from dataclasses import dataclass

import msgspec

from tidings.contracts.delivery import EndedExecutions, TakenHandOvers
from tidings.contracts.delivery_requests import FindEnded, FindOutcomes, FindTaken, FoundTaken
from tidings.kernel.db import Database

_encode = msgspec.msgpack.Encoder().encode
_decode_taken = msgspec.msgpack.Decoder(FindTaken).decode
_decode_ended = msgspec.msgpack.Decoder(FindEnded).decode
_decode_outcomes = msgspec.msgpack.Decoder(FindOutcomes).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRequests:
    """Reads the router's ledgers for those who ask."""

    db: Database
    inbox: TakenHandOvers
    ends: EndedExecutions

    async def taken(self, payload: bytes) -> bytes:
        """Which hand-overs were taken."""
        taken = await self.inbox.taken(_decode_taken(payload).requests)
        return _encode(FoundTaken(taken=tuple(sorted(taken))))

    async def ended(self, payload: bytes) -> bytes:
        """Which executions ended, a page of them."""
        asked = _decode_ended(payload)
        async with self.db.worker() as tx:
            page = await self.ends.page(
                tx, after=asked.after, settled_for=asked.settled_for, limit=asked.limit
            )
        return _encode(page)

    async def outcomes(self, payload: bytes) -> bytes:
        """How some ended."""
        asked = _decode_outcomes(payload)
        async with self.db.tenant(asked.tenant_id, by_index=True) as tx:
            return _encode(await self.ends.outcomes(tx, asked.ids))
