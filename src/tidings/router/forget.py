"""Forgets people in all of the router, in the transaction that erases them."""

from collections.abc import Sequence

from tidings.contracts.erasure import Forgetter
from tidings.kernel.db import TenantTx


class ForgetAll:
    """The contract's `Forgetter`, made of several."""

    def __init__(self, *parts: Forgetter) -> None:
        self._parts = parts

    async def forget(self, tx: TenantTx, recipient_ids: Sequence[str]) -> int:
        """Each part forgets them; how many rows that were in all."""
        return sum([await part.forget(tx, recipient_ids) for part in self._parts])
