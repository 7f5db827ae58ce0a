"""How the router asks notify which template a message was made from."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from tidings.kernel.db import TenantTx


class NotificationTemplates(Protocol):
    """What notify knows of its messages."""

    async def keys_of(self, tx: TenantTx, notification_ids: Sequence[str]) -> Mapping[str, str]:
        """The template's key by the notification's id; those that are gone are left out."""
        ...
