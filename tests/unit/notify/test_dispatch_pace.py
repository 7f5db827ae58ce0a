"""The pace of the dispatcher over batches that span tenants."""

from functools import partial

import pytest

from tidings.contracts.ids import NOTIFICATION, NotificationId
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT, TenantId
from tidings.notify.dispatch.claim import ClaimedBatches
from tidings.notify.dispatch.pace import DispatchPace, DispatchSettings

_NOW = SystemClock().now()
A, B, C = (TENANT.new(_NOW) for _ in range(3))


def _ids(count: int) -> list[NotificationId]:
    return [NOTIFICATION.new(_NOW) for _ in range(count)]


def _claimed(**counts: int) -> ClaimedBatches:
    by_name = {"a": A, "b": B, "c": C}
    return ClaimedBatches(by_tenant={by_name[name]: _ids(count) for name, count in counts.items()})


def test_a_claim_is_one_batch() -> None:
    pace = DispatchPace(DispatchSettings())
    (batch,) = pace.claimed(pace.plan(0.0), _claimed(a=2, b=1, c=3))
    assert {tenant: len(ids) for tenant, ids in batch.by_tenant.items()} == {A: 2, B: 1, C: 3}
    assert [tenant for tenant, _ in batch.owned] == [A, A, B, C, C, C]


def test_a_tenant_that_takes_long_has_a_batch_of_its_own() -> None:
    pace = DispatchPace(DispatchSettings(), apart=lambda tenant: tenant == B)
    batches = pace.claimed(pace.plan(0.0), _claimed(a=2, b=1, c=3))
    assert [sorted(batch.by_tenant) for batch in batches] == [sorted([A, C]), [B]]


def test_tenants_whose_vendors_hang_fill_up_alone() -> None:
    """Answers free the room of their tenants while others of the batch still wait."""
    pace = DispatchPace(DispatchSettings(most_of_a_tenant=3, most_on_the_way=100))
    (batch,) = pace.claimed(pace.plan(0.0), _claimed(a=3, b=3))
    assert set(pace.plan(0.0).full) == {A, B}
    pace.dispatched(batch)
    pace.answered(batch, B, 2)
    assert _full(pace) == [A]
    pace.answered(batch, B, 5)
    (again,) = pace.claimed(pace.plan(0.0), _claimed(b=3))
    assert set(_full(pace)) == {A, B}
    pace.sent(batch)
    assert _full(pace) == [B]
    pace.sent(again)
    assert _full(pace) == []


def test_while_room_is_scarce_a_tenant_gets_a_fair_share_only() -> None:
    """Vendors of two tenants hang: the third is not given as much, and leaves room for all others."""
    pace = DispatchPace(DispatchSettings(most_of_a_tenant=30, most_on_the_way=100, fair_share=5))
    pace.claimed(pace.plan(0.0), _claimed(a=29, c=6))
    assert _full(pace) == []
    pace.claimed(pace.plan(0.0), _claimed(b=15))
    assert set(_full(pace)) == {A, B, C}
    plan = pace.plan(0.0)
    assert plan.passes_over
    assert not DispatchPace(DispatchSettings()).plan(0.0).passes_over


def test_claims_of_several_workers_are_as_far_apart_as_those_of_one() -> None:
    """Each waits as many times longer as there are workers: otherwise their batches would shrink, and each cost more."""
    pauses = []
    for count in (1, 3):
        pace = DispatchPace(DispatchSettings(gather_each=0.001, gather=0.05), workers=partial(int, count))
        pace.claimed(pace.plan(100.0), _claimed(a=4, b=6))
        pauses.append(pace.pause_before(100.0, express_called=False, when_full=1.0))
    assert pauses == pytest.approx([0.01, 0.03])


def _full(pace: DispatchPace) -> list[TenantId]:
    return list(pace.plan(0.0).full)
