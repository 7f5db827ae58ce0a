"""Gives a new tenant its keys as soon as it is known, so that a read-only caller never has to make them."""

from collections.abc import Sequence
from typing import Final

from tidings.kernel.bus import TenantHandler
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event
from tidings.kernel.keys.keyring import Keyring

#: The consumer group; its cursor and its dead letters go by this name.
GROUP: Final = "notify.tenant_keys"
#: What it listens to.
SUBJECTS: Final = ("tenant.created.v1",)


def handler(keyring: Keyring) -> TenantHandler:
    """Applies events with this keyring; a tenant that has its keys keeps them."""

    async def handle(tx: TenantTx, _: Sequence[Event]) -> None:
        await keyring.provision(tx)

    return handle
