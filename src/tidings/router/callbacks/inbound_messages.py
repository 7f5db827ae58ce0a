"""Keeps what people wrote in the transaction that keeps the request which told it, and wakes whoever takes it on."""

from collections.abc import Sequence
from datetime import datetime

from tidings.contracts.callback_forms import ReadInbound
from tidings.kernel.db import PlatformTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.keys.data_key import DataKey
from tidings.router.conversations.keep_inbound import announce, insert_inbound


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
            await announce(tx)
        return fresh

    def wake(self) -> None:
        """After the commit."""
        self._wakeup.set()
