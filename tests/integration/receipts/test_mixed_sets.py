"""Outcomes and receipts of several tenants are applied in one transaction, and come to what each would have come to alone."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.integration.receipts.world import ReceiptsWorld, Sent
from tests.support.people import rows, told
from tidings.kernel.bus import tenant_by_tenant
from tidings.kernel.errors import DatabaseError
from tidings.kernel.events import Event
from tidings.kernel.ids import TenantId

#: What is written, without what is drawn by lot or taken from the clock.
_WRITTEN = {
    "notifications": "SELECT status, failure_reason, delivery_evidence, final_channel, delivered_at IS NOT NULL AS arrived, "
    "bounced_at IS NOT NULL AS came_back, opened_at IS NOT NULL AS opened, version FROM notification.notifications",
    "log": "SELECT outcome, error_code, channel, vendor FROM notification.delivery_attempts",
    "counters": "SELECT name, channel, category, sum(n)::int AS n FROM notification.counters GROUP BY name, channel, category",
    "suppressions": "SELECT channel, reason FROM notification.suppressions",
    "early": "SELECT reason FROM notification.early_bounces",
}


async def _told_of(world: ReceiptsWorld) -> tuple[TenantId, list[list[Event]]]:
    """A tenant, and what is heard of its five messages: outcomes, and then receipts."""
    tenant = await world.tenant()
    sent: list[Sent] = [await world.sent(tenant.id, await world.somebody(tenant.id)) for _ in range(5)]
    delivered, bounced, read, refused, complained = sent
    failed = world.attempted(refused, status="failed_perm", effect="hard_bounce")
    outcomes = [
        world.outcome(delivered),
        world.outcome(bounced),
        world.outcome(read),
        world.outcome(
            refused, failed, result="FAILED", evidence=None, final_channel=None, reason="hard_bounce"
        ),
        world.outcome(complained),
    ]
    receipts = [
        world.receipt(bounced, "bounced", "hard_bounce"),
        world.receipt(read, "opened"),
        world.receipt(complained, "complaint", "complaint"),
    ]
    return tenant.id, [outcomes, receipts]


async def _apply(world: ReceiptsWorld, tenants: Sequence[TenantId], events: Sequence[Event]) -> None:
    consumers = world.system.consumers
    is_outcome = events[0].subject.startswith("notification.delivery.outcome")
    handle = consumers.on_outcomes if is_outcome else tenant_by_tenant(consumers.on_receipts)
    async with world.db.tenants(tenants, by_index=True) as tx:
        await handle(tx, events)


async def _written(world: ReceiptsWorld, tenant_id: TenantId) -> dict[str, Any]:
    found: dict[str, Any] = {
        name: sorted((tuple(row.values()) for row in await rows(world.db, tenant_id, query)), key=repr)
        for name, query in _WRITTEN.items()
    }
    found["events"] = sorted(subject for subject, _ in await told(world.db, tenant_id, "notification."))
    return found


@pytest.mark.parametrize("backwards", [False, True], ids=["outcomes first", "receipts first"])
async def test_a_mixed_set_comes_to_the_same_as_each_tenant_alone(
    world: ReceiptsWorld, backwards: bool
) -> None:
    mixed = [await _told_of(world) for _ in range(3)]
    alone = [await _told_of(world) for _ in range(3)]
    for kind in (1, 0) if backwards else (0, 1):
        # In turns, as they come in: no tenant's events are side by side.
        of_all = zip(*(events[kind] for _, events in mixed), strict=True)
        await _apply(world, [tenant for tenant, _ in mixed], [event for some in of_all for event in some])
        for tenant, events in alone:
            await _apply(world, [tenant], events[kind])

    found = [await _written(world, tenant) for tenant, _ in (*mixed, *alone)]
    for one in found[1:]:
        assert one == found[0]
    became = sorted(status for status, *_ in found[0]["notifications"])
    assert became == ["bounced", "delivered", "delivered", "delivered", "failed"]
    assert {reason for _, reason in found[0]["suppressions"]} == {"hard_bounce", "complaint"}


async def test_an_event_of_a_tenant_that_is_not_named_changes_nothing(world: ReceiptsWorld) -> None:
    """Nor does the rest of its set."""
    (named, events), (other, others) = [await _told_of(world) for _ in range(2)]
    before = await _written(world, other)
    with pytest.raises((DatabaseError, ValueError)):
        await _apply(world, [named], [events[0][0], *others[0]])
    assert await _written(world, other) == before
    assert {status for status, *_ in (await _written(world, named))["notifications"]} == {"dispatched"}
