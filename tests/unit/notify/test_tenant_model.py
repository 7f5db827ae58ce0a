"""How events change a tenant, by table and by property."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.contracts.tenants import (
    NotificationPolicy,
    QuietHours,
    TenantActivated,
    TenantCreated,
    TenantDeleting,
    TenantEvent,
    TenantFrozen,
    TenantSuspended,
    TenantUnfrozen,
    TenantUpdated,
)
from tidings.kernel.ids import EVENT, TENANT
from tidings.kernel.refusals import InvalidError
from tidings.notify.tenants.errors import UnprojectableError
from tidings.notify.tenants.model import Tenant, TenantStatus, apply, check_facts, zone_exists

AT = datetime(2026, 11, 15, 12, tzinfo=UTC)
ID = TENANT.new(AT)
EVENT_ID = EVENT.new(AT)


def after(*events: TenantEvent, known: Tenant | None = None) -> Tenant:
    for i, event in enumerate(events):
        known = apply(known, event, event_id=EVENT_ID, at=AT + timedelta(minutes=i))
    assert known is not None
    return known


def created(version: int = 1) -> TenantCreated:
    return TenantCreated(tenant_id=ID, version=version, name="Acme", slug="acme", region="local")


def test_a_new_tenant_is_active_and_not_frozen() -> None:
    tenant = after(created())

    assert (tenant.status, tenant.frozen_at, tenant.version) == (TenantStatus.ACTIVE, None, 1)
    assert tenant.created_at == AT


@pytest.mark.parametrize(
    ("events", "status", "frozen"),
    [
        ([TenantSuspended(tenant_id=ID, version=2)], "suspended", False),
        (
            [TenantSuspended(tenant_id=ID, version=2), TenantActivated(tenant_id=ID, version=3)],
            "active",
            False,
        ),
        ([TenantFrozen(tenant_id=ID, version=2)], "active", True),
        ([TenantFrozen(tenant_id=ID, version=2), TenantUnfrozen(tenant_id=ID, version=3)], "active", False),
        (
            [TenantFrozen(tenant_id=ID, version=2), TenantSuspended(tenant_id=ID, version=3)],
            "suspended",
            True,
        ),
        (
            [TenantDeleting(tenant_id=ID, version=2), TenantActivated(tenant_id=ID, version=3)],
            "deleting",
            False,
        ),
        (
            [TenantDeleting(tenant_id=ID, version=2), TenantSuspended(tenant_id=ID, version=3)],
            "deleting",
            False,
        ),
        (
            [TenantSuspended(tenant_id=ID, version=9), TenantActivated(tenant_id=ID, version=3)],
            "suspended",
            False,
        ),
        ([TenantSuspended(tenant_id=ID, version=2), created(version=3)], "suspended", False),
    ],
)
def test_states_follow_events(events: list[TenantEvent], status: str, frozen: bool) -> None:
    tenant = after(created(), *events)

    assert tenant.status.value == status
    assert (tenant.frozen_at is not None) is frozen


def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    before = after(created())

    changed = after(TenantUpdated(tenant_id=ID, version=2, name="New", slug=None), known=before)

    assert (changed.name, changed.slug, changed.region, changed.weight) == ("New", None, "local", 1)


def test_freezing_again_keeps_the_first_time() -> None:
    once = after(created(), TenantFrozen(tenant_id=ID, version=2))

    twice = after(created(), TenantFrozen(tenant_id=ID, version=2), TenantFrozen(tenant_id=ID, version=3))

    assert twice.frozen_at == once.frozen_at


def test_an_event_for_an_unknown_tenant_can_t_be_applied() -> None:
    with pytest.raises(UnprojectableError):
        apply(None, TenantFrozen(tenant_id=ID, version=2), event_id=EVENT_ID, at=AT)


kinds = st.sampled_from(
    [TenantSuspended, TenantActivated, TenantFrozen, TenantUnfrozen, TenantDeleting, TenantUpdated]
)
events = st.lists(
    st.builds(lambda kind, version: kind(tenant_id=ID, version=version), kinds, st.integers(1, 12)),
    max_size=12,
)


@given(events)
def test_versions_only_grow_and_repeats_change_nothing(told: list[TenantEvent]) -> None:
    known = after(created())
    for event in told:
        once = apply(known, event, event_id=EVENT_ID, at=AT)
        again = apply(once, event, event_id=EVENT_ID, at=AT + timedelta(days=1))

        assert again == once
        assert once.version == max(known.version, event.version)
        assert (known.status is not TenantStatus.DELETING) or once.status is TenantStatus.DELETING
        known = once


@pytest.mark.parametrize("name", ["UTC", "Europe/Berlin", "Asia/Kabul", "Africa/Lagos"])
def test_zones_that_exist(name: str) -> None:
    assert zone_exists(name)


@pytest.mark.parametrize(
    "name",
    ["", "Mars/Olympus", "../../etc/passwd", "/etc/passwd", "Europe", "localtime", "a\x00b", "é", "zone.tab"],
)
def test_zones_that_do_not(name: str) -> None:
    assert not zone_exists(name)


def test_all_faults_of_a_policy_are_named_at_once() -> None:
    policy = NotificationPolicy(
        quiet_hours=(
            QuietHours(days=("mon",), start="22:00", end="06:00"),
            QuietHours(days=("mon", "mon"), start="22:00", end="22:00", timezone="Mars/Olympus"),
        ),
        allowed_link_domains=("a.example", "a.example"),
    )

    with pytest.raises(InvalidError) as refused:
        check_facts(locale=None, timezone="Nowhere", policy=policy)

    assert [error.field for error in refused.value.errors] == [
        "default_timezone",
        "notification_policy.quiet_hours[1].timezone",
        "notification_policy.quiet_hours[1].end",
        "notification_policy.quiet_hours[1].days",
        "notification_policy.allowed_link_domains",
    ]
