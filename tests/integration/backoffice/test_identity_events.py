"""Operators whom the identity service deletes are erased, and sessions of a tenant that is closed end."""

import pytest

from tests.integration.backoffice.test_preferences import OWN
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator, open_people
from tests.support.upstreams import HOTEL
from tidings.backoffice.identity_events.hear import IdentityHearer
from tidings.backoffice.preferences.mirror import PreferencesMirror
from tidings.contracts.erasure import USER_DELETED_SUBJECT, UserDeleted
from tidings.contracts.events import EVENTS
from tidings.kernel.db import Database
from tidings.kernel.events import Event, new_event
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator


async def hear(world: HttpWorld, tenant_id: TenantId | None, *events: Event) -> None:
    hearer = world.system.backoffice.parts.get(IdentityHearer)
    async with world.db.scoped(tenant_id) as tx:
        await hearer.handle(tx, events)
    # As announcements of the changed rows do where something listens.
    world.system.backoffice.authenticator.forget_all()


def event(world: HttpWorld, subject: str, told: object, tenant_id: TenantId | None) -> Event:
    return new_event(subject, told, tenant_id=tenant_id, ordering_key="x", source="/iam", clock=world.clock)


def deleted(world: HttpWorld, user_id: str, tenant_id: TenantId | None) -> Event:
    return event(world, USER_DELETED_SUBJECT, UserDeleted(user_id=user_id), tenant_id)


@pytest.mark.parametrize("whose", ["tenant", "platform"])
async def test_an_operator_who_is_named_is_erased(world: HttpWorld, tenant: Tenant, whose: str) -> None:
    home = tenant.id if whose == "tenant" else None
    gone, stays = await an_operator(world, home), await an_operator(world, home, email="stays")

    for _ in range(2):
        await hear(world, home, deleted(world, gone.who.id, home), deleted(world, "user-7", home))

    assert await open_people(world, gone.who) is None
    assert (await gone.get("/bff/v1/session")).status_code == 401
    assert (await stays.get("/bff/v1/session")).status_code == 200


async def test_no_tenant_erases_operators_of_another(world: HttpWorld, admin: SignedIn) -> None:
    other = await world.tenant()
    await hear(world, other.id, deleted(world, admin.who.id, other.id))
    assert (await admin.get("/bff/v1/session")).status_code == 200


@pytest.mark.parametrize("subject", ["tenant.suspended.v1", "tenant.deleting.v1"])
async def test_sessions_of_a_tenant_that_is_closed_end(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, subject: str
) -> None:
    elsewhere = await an_operator(world, (await world.tenant()).id)
    form = EVENTS[subject]
    told = form(tenant_id=tenant.id, version=9)
    await hear(world, tenant.id, event(world, subject, told, tenant.id))
    assert (await admin.get("/bff/v1/session")).json()["code"] == "session_ended"
    assert (await elsewhere.get("/bff/v1/session")).status_code == 200


async def test_preferences_of_who_was_erased_can_not_be_read_any_more(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    gone = await an_operator(world, tenant.id, email="gone")
    for query in ("", f"?property_id={HOTEL}"):
        assert (await gone.get(OWN + query)).status_code == 200
    await hear(world, tenant.id, deleted(world, gone.who.id, tenant.id))

    mirror = world.system.backoffice.parts.get(PreferencesMirror)
    async with db.tenant(tenant.id) as tx:
        rows = await tx.connection.fetch(
            "SELECT payload_ciphertext FROM bff_backoffice.operator_preferences WHERE operator_id = $1",
            gone.who.id,
        )
        assert len(rows) == 2
        for row in rows:
            assert (
                await mirror.people.unseal(tx, gone.who.id, "preferences:", row["payload_ciphertext"]) is None
            )
