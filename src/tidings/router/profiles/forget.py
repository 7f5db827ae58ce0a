"""Forgets what was learned about reaching a recipient, in the transaction that erases them."""

from collections.abc import Sequence

from tidings.kernel.db import TenantTx
from tidings.kernel.sql import Queries

_QUERIES = Queries.beside(__file__)


class ProfileForgetter:
    """The contract's `Forgetter`."""

    async def forget(self, tx: TenantTx, recipient_ids: Sequence[str]) -> int:
        """Leave nothing of their profiles, and let nothing be learned any more; how many profiles there were."""
        profiles: int = await tx.fetch_value(
            _QUERIES.forget_profiles, recipient_ids=sorted(set(recipient_ids))
        )
        return profiles
