"""The use case "a person wrote": keep it, once, in the transaction that keeps the vendor's request."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from tidings.contracts.callback_forms import ReadInbound
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.keys.data_key import DataKey
from tidings.router.conversations import queue
from tidings.router.conversations.destinations import canonical
from tidings.router.conversations.model import INBOUND_MESSAGE
from tidings.router.conversations.queue import NewInbound
from tidings.router.conversations.sealing import seal_payload

#: Letters of a message that are kept; longer ones are no message that a person wrote by hand.
_MOST_LETTERS: Final = 20_000


class InboundKeeper:
    """The way of inbound messages to their conversations; one per process."""

    def __init__(self, wakeup: Wakeup) -> None:
        self._wakeup = wakeup

    async def keep(
        self,
        tx: PlatformTx,
        vendor: str,
        told: Sequence[tuple[str, ReadInbound]],
        *,
        key: DataKey,
        now: datetime,
    ) -> list[bool]:
        """Each with the account that was written to; whether each is new, in the same order."""
        fresh = await insert_inbound(tx, vendor, told, key, now)
        if any(fresh) and not self._wakeup.attended:
            await queue.announce(tx)
        return fresh

    def wake(self) -> None:
        """After the commit."""
        self._wakeup.set()


async def insert_inbound(
    tx: PlatformTx, vendor: str, messages: Sequence[tuple[str, ReadInbound]], key: DataKey, now: datetime
) -> list[bool]:
    """Keep what people wrote, each with the id of the account that was written to; whether each is new, in their order.

    `key` is the platform's for callbacks, `now` is to the millisecond. What the vendor told before falls out.
    """
    if not messages:
        return []
    given: list[NewInbound] = []
    # All have the same moment: their ids say in which order they were told, and STOP may be the first word or the last.
    ids = sorted(INBOUND_MESSAGE.new(now) for _ in messages)
    for message_id, (account_id, read) in zip(ids, messages, strict=True):
        if len(read.text) > _MOST_LETTERS:
            read = replace(read, text=read.text[:_MOST_LETTERS])  # noqa: PLW2901
        given.append(
            NewInbound(
                id=message_id,
                account_id=account_id,
                # A letter that the database takes in no text must not make the vendor tell it for ever.
                vendor_message_id=read.vendor_message_id.replace("\x00", ""),
                channel=read.channel,
                destination=canonical(read.channel, read.to),
                payload=seal_payload(key, message_id, read),
            )
        )
    fresh = await queue.insert_inbound(tx, vendor=vendor, messages=given, now=now)
    return [one.id in fresh for one in given]
