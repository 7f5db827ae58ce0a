"""What a delivery says, opened for those who look at it."""

from dataclasses import dataclass

from tidings.kernel.db import TenantTx
from tidings.kernel.errors import TidingsError
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.webhooks.body import WebhookBodyTooLargeError, body_of
from tidings.notify.webhooks.model import SEALED_FOR, StoredWebhook, WebhookDelivery
from tidings.notify.webhooks.sealing import PAYLOAD


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ToldBodies:
    """Opens them with the tenant's key."""

    keyring: Keyring

    async def read(
        self, tx: TenantTx, webhook: StoredWebhook, delivery: WebhookDelivery, sealed: bytes
    ) -> bytes | None:
        """The body of each of its calls, as the webhook is set up now; None where it can't be read any more."""
        keys = await self.keyring.data_keys(tx, [SEALED_FOR], create=False)
        try:
            data = keys[SEALED_FOR].unseal(sealed, PAYLOAD)
            return body_of(
                delivery.event_type,
                delivery.event_id,
                delivery.happened_at,
                data,
                webhook.settings.transform,
            )
        except (KeyError, TidingsError, WebhookBodyTooLargeError):
            return None
