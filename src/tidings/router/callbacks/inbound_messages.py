"""The port through which callbacks hand over what people wrote; conversations implement it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from tidings.contracts.callback_forms import ReadInbound
from tidings.kernel.db import PlatformTx
from tidings.kernel.keys.data_key import DataKey


class InboundMessages(Protocol):
    """Keeps inbound messages in the transaction that keeps the vendor's request."""

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
        ...

    def wake(self) -> None:
        """After the commit: the job that takes them on."""
        ...
