"""Which channels a tenant can send over, for those who only need their names."""

from tidings.kernel.db import TenantTx
from tidings.notify.channels import store


class StoredChannelsSetUp:
    """The contract's `ChannelsSetUp`."""

    async def of(self, tx: TenantTx) -> frozenset[str]:
        """Those that the tenant has set up and not switched off."""
        return frozenset(one.channel for one in await store.find_channels(tx) if one.status != "disabled")
