"""The event of a settled notification is written by SQL, as it is by Python everywhere else."""

import msgspec
import pytest

from tests.integration.receipts.world import ReceiptsWorld
from tidings.contracts.notifications import NotificationMoved
from tidings.kernel.events import from_row

_WORDS = 'a "quoted" \\ back\nline \x7f ☃'


@pytest.mark.parametrize("correlation_id", [None, "order-7", _WORDS])
@pytest.mark.parametrize("is_test", [False, True])
async def test_it_says_what_the_row_says(
    world: ReceiptsWorld, correlation_id: str | None, is_test: bool
) -> None:
    tenant = await world.tenant()
    person = await world.somebody(tenant.id)
    arrives, fails = [await world.sent(tenant.id, person, is_test=is_test) for _ in range(2)]
    async with world.db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "UPDATE notification.notifications SET correlation_id = $1", correlation_id
        )
    heard = [world.outcome(arrives), world.outcome(fails, result="FAILED", evidence=None, reason="no_route")]
    await world.hear(tenant.id, heard)

    async with world.db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT * FROM notification.outbox WHERE ordering_key = ANY($1) AND subject LIKE 'notification.%' ORDER BY id",
            [arrives.id, fails.id],
        )
    events = {event.ordering_key: event for event in map(from_row, rows)}
    assert len(events) == len(rows) == 2
    for sent, status, reason in ((arrives, "delivered", None), (fails, "failed", "no_route")):
        told = NotificationMoved(
            notification_id=sent.id,
            recipient_id=person,
            status=status,
            channel="email",
            category="transactional",
            template_key="k",
            reason=reason,
            correlation_id=correlation_id,
            is_test=is_test,
        )
        event = events[sent.id]
        assert event.payload_as(NotificationMoved) == told
        assert (event.subject, event.source) == (f"notification.{status}.v1", "/tidings/notify")
        assert (event.tenant_id, event.time) == (tenant.id, world.clock.now())
        if correlation_id != _WORDS:
            assert event.data == msgspec.json.encode(told).decode(), "to the letter"
