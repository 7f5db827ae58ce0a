"""Says to other services who is a recipient here."""

from collections.abc import Sequence

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx
from tidings.notify.recipients import store


class StoredRecipients:
    """The contract's `KnownRecipients`."""

    async def known(self, tx: TenantTx, recipient_ids: Sequence[str]) -> frozenset[str]:
        """Those who exist and were not erased."""
        found = await store.find_recipients(tx, ids=[RecipientId(one) for one in recipient_ids])
        return frozenset(one.id for one in found.values() if one.erased_at is None)
