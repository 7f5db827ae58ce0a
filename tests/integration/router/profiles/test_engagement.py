"""Somebody who opens a mail has got it: that is learned, and what vendors tell is not learned a second time."""

from datetime import UTC, datetime
from typing import Any

from tests.support.clock import ManualClock
from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.contracts.notifications import NotificationEngaged
from tidings.kernel.db import Database
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.router.profiles.engagement import handler
from tidings.router.profiles.store import load

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
CLOCK = ManualClock(NOON)


def opened(tenant_id: TenantId, recipient_id: str, **more: Any) -> Event:
    """Notify tells that somebody opened a mail."""
    told = {
        "notification_id": NOTIFICATION.new(NOON),
        "recipient_id": recipient_id,
        "channel": "email",
        "category": "marketing",
        "template_key": "letter",
        "at": NOON,
        "source": "tracking",
        **more,
    }
    return new_event(
        "notification.opened.v1",
        NotificationEngaged(**told),
        tenant_id=tenant_id,
        ordering_key=str(told["notification_id"]),
        source=NOTIFY_SOURCE,
        clock=CLOCK,
    )


async def test_what_our_own_pixel_saw_is_learned(db: Database, tenant_id: TenantId) -> None:
    """Once for each message; of test messages nothing."""
    reader, other = RECIPIENT.new(NOON), RECIPIENT.new(NOON)
    events = [
        opened(tenant_id, reader),
        opened(tenant_id, reader),
        opened(tenant_id, other, source="vendor"),
        opened(tenant_id, other, is_test=True),
    ]

    async with db.tenant(tenant_id) as tx:
        await handler(clock=CLOCK)(tx, events)
        found = await load(tx, [reader, other])

    assert found[reader].observations == 2
    assert found[reader].last_successful_channel == "email"
    assert other not in found
