"""Asks notify in another process to store items: the contract's `InboxDeliveries`, by request and reply."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from tidings.contracts.inbox import (
    DELIVER_ITEMS,
    DeliverItems,
    InboxDelivery,
    InboxResult,
    ItemPostponed,
    ItemsDelivered,
)
from tidings.kernel.logs import get_logger
from tidings.kernel.requests import NoReplyError, RequestFailedError, Requests

#: Seconds: a person whose inbox is being changed holds an item up for a moment.
_TIMEOUT: Final = 15.0
_AWAY: Final = ItemPostponed(reason="notify_away")

_log = get_logger("executions")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ItemsDelivered).decode


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RemoteInboxes:
    """Where no process of notify answers, the items are handed over again later."""

    requests: Requests

    async def deliver(self, items: Sequence[InboxDelivery]) -> list[InboxResult]:
        """One result each, in the same order."""
        try:
            reply = await self.requests.call(
                DELIVER_ITEMS, _encode(DeliverItems(items=tuple(items))), timeout=_TIMEOUT
            )
        except NoReplyError:
            _log.warning("notify_away", items=len(items))
            return [_AWAY] * len(items)
        results = _decode(reply).results
        if len(results) != len(items):
            raise RequestFailedError("answers_do_not_fit")
        return list(results)
