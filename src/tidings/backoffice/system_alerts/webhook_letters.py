"""Hears of events that were given up for a webhook, and keeps one alert for each webhook until a day has been quiet."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from tidings.backoffice.alerts.alerts import Alerts
from tidings.backoffice.alerts.model import NewAlert
from tidings.contracts.webhooks import DELIVERY_FAILED_SUBJECT, WebhookDeliveryFailed
from tidings.kernel.bus import TenantHandler
from tidings.kernel.db import TenantTx
from tidings.kernel.events import Event

GROUP: Final = "backoffice.webhook_letters"
SUBJECTS: Final = (DELIVERY_FAILED_SUBJECT,)
SOURCE: Final = "webhook_letters"
QUIET: Final = timedelta(days=1)


def handler(alerts: Alerts) -> TenantHandler:
    """Raises, or counts, in the transaction that notes the events as consumed."""

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        told = [event.payload_as(WebhookDeliveryFailed) for event in events]
        given_up = Counter(one.subscription_id for one in told if not one.is_test)
        await alerts.raise_(
            tx,
            [
                NewAlert(
                    dedup_key=f"webhook_dead_letters:{subscription_id}",
                    category="webhook_dead_letters",
                    severity="warning",
                    property_id=None,
                    source=SOURCE,
                    facts={"subscription_id": subscription_id, "given_up": count},
                )
                for subscription_id, count in sorted(given_up.items())
            ],
        )

    return handle
