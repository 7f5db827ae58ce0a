"""Preferences are a mirror of what the service has: changed there first, and shown from here while it is away."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2

from tests.integration.backoffice.test_sessions import events
from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.upstreams import HOTEL, fault
from tidings.kernel.db import Database
from tidings.kernel.flags.flags import Flags
from tidings.kernel.flags.registry import Flag
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator

OWN = "/bff/v1/preferences"


async def put(who: SignedIn, version: int, query: str = "", **choices: Any) -> httpx2.Response:
    return await who.send("PUT", OWN + query, {"preferences": choices}, **{"If-Match": f'"v{version}"'})


async def test_a_change_is_made_at_the_service_and_shown_from_the_mirror(
    simulator: PropertySimulator, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    first = await admin.get(OWN)
    assert first.status_code == 200, first.text
    assert (first.headers["etag"], first.json()["preferences"]["density"]) == ('"v1"', "comfortable")

    changed = await put(admin, 1, density="compact", sounds=False)
    assert (changed.status_code, changed.headers["etag"]) == (200, '"v2"')
    assert changed.json()["preferences"] == {"density": "compact", "sounds": False}

    fault(simulator, "error", "operators")
    from_here = (await admin.get(OWN)).json()
    assert (from_here["version"], from_here["preferences"]["density"], from_here["stale"]) == (
        2,
        "compact",
        False,
    )
    [told] = await events(db, "backoffice.operator_preferences.changed.v1", tenant.id)
    assert "compact" not in told
    async with db.tenant(tenant.id) as tx:
        [row] = await tx.connection.fetch("SELECT * FROM bff_backoffice.operator_preferences")
    assert b"compact" not in row["payload_ciphertext"]


async def test_what_is_old_is_asked_for_again_and_shown_as_stale_while_the_service_is_away(
    world: HttpWorld, simulator: PropertySimulator, admin: SignedIn
) -> None:
    await admin.get(OWN)
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(minutes=5, seconds=1))
    fault(simulator, "error", "operators")
    old = (await admin.get(OWN)).json()
    assert (old["stale"], old["version"]) == (True, 1)

    # For a property nothing is known yet.
    away = await admin.get(f"{OWN}?property_id={HOTEL}")
    assert (away.status_code, away.json()["code"]) == (503, "upstream_away")
    refused = await put(admin, 1, density="compact")
    assert (refused.status_code, refused.json()["code"]) == (503, "upstream_away")


async def test_one_change_is_made_from_a_version(
    world: HttpWorld, simulator: PropertySimulator, admin: SignedIn
) -> None:
    assert (await admin.send("PUT", OWN, {"preferences": {}})).status_code == 428
    both = await asyncio.gather(put(admin, 1, density="a"), put(admin, 1, density="b"))
    assert sorted(one.status_code for one in both) == [200, 412]
    # Somebody else has changed it at the service: the mirror learns of it with the refusal.
    assert (await admin.get(OWN)).json()["version"] == 2


async def test_a_property_has_preferences_of_its_own(
    simulator: PropertySimulator, world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    await put(admin, 1, f"?property_id={HOTEL}", density="compact")
    assert (await admin.get(OWN)).json()["preferences"]["density"] == "comfortable"
    assert (await admin.get(f"{OWN}?property_id={HOTEL}")).json()["preferences"] == {"density": "compact"}

    clerk = await an_operator(world, tenant.id, email="clerk", role="tenant.viewer", properties=("other",))
    assert (await clerk.get(f"{OWN}?property_id={HOTEL}")).json()["code"] == "property_not_found"
    # A viewer has preferences too.
    assert (await put(clerk, 1, density="compact")).status_code == 200


async def test_preferences_have_a_form(simulator: PropertySimulator, admin: SignedIn) -> None:
    for wrong in ({"Not a name": 1}, {"nested": {"a": 1}}, {"long": "x" * 501}):
        assert (await put(admin, 1, **wrong)).status_code == 400
    large = {f"k{number}": "x" * 499 for number in range(40)}
    refused = await put(admin, 1, **large)
    assert refused.json()["errors"][0]["field"] == "preferences"


async def test_shortcuts_are_asked_for_once_an_hour(
    world: HttpWorld, simulator: PropertySimulator, admin: SignedIn
) -> None:
    first = await admin.get("/bff/v1/shortcuts?theme_version=7")
    assert (first.json()["theme_version"], first.headers["cache-control"]) == ("7", "private, max-age=3600")
    assert {"keys": "g t", "action": "workbench.today", "title": "Today"} in first.json()["shortcuts"]

    fault(simulator, "error", "operators")
    assert (await admin.get("/bff/v1/shortcuts?theme_version=7")).status_code == 200
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(hours=1))
    assert (await admin.get("/bff/v1/shortcuts?theme_version=7")).status_code == 503


async def test_flags_say_what_is_on_for_the_tenant(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    kernel = world.system.kernel
    flag = Flag(key="console.new_board", description="A new board.", default=False)
    kernel.flags = Flags(db, kernel.audit, kernel.clock, registry={flag.key: flag})
    assert (await admin.get("/bff/v1/flags")).json() == {
        "items": [{"key": "console.new_board", "enabled": False}]
    }
    await kernel.flags.set(flag.key, enabled=True, tenant_id=tenant.id, actor="test", reason="a test")
    shown = await admin.get("/bff/v1/flags")
    assert shown.json()["items"][0]["enabled"] is True
    assert shown.headers["cache-control"] == "private, max-age=30"
