"""The stream of a device: nothing missed and nothing twice, only what its operator may hear, and it ends with the session."""

import asyncio
from datetime import timedelta

import pytest

from tests.support.clock import ManualClock
from tests.support.device_streams import hearing, live
from tests.support.http import HttpWorld, http_over
from tests.support.operators import SignedIn, an_operator, quick_passwords
from tests.support.postgres import TestDatabase
from tests.support.system import now_clock, system_over
from tidings.backoffice.announcements.store import sweep_announcements
from tidings.backoffice.announcements.tell import WINDOW, DeviceAnnouncements
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.notify.tenants.model import Tenant


async def tell(world: HttpWorld, tenant_id: TenantId, count: int = 1, **to: str) -> None:
    announcements = world.system.backoffice.parts.get(DeviceAnnouncements)
    async with world.db.tenant(tenant_id) as tx:
        for number in range(count):
            await announcements.tell(tx, "alerts", tenant_id=tenant_id, facts={"n": number}, **to)


async def test_what_is_told_is_heard_within_a_second(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    async with live(world.system), hearing(world, admin) as heard:
        async with asyncio.timeout(1):
            await tell(world, tenant.id, property_id="hotel-1")
            await heard.until(lambda one: len(one.told) == 1)

    [said] = heard.told
    assert (said.kind, said.data["property_id"], said.data["facts"]) == ("alerts", "hotel-1", {"n": 0})
    assert heard.said[0].data["resume_seconds"] == WINDOW.total_seconds()


async def test_nothing_is_missed_and_nothing_comes_twice(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    """Many tell at once, some take long to commit, and the device comes back again and again."""
    announcements = world.system.backoffice.parts.get(DeviceAnnouncements)

    async def told(number: int) -> None:
        async with db.tenant(tenant.id) as tx:
            await announcements.tell(tx, "alerts", tenant_id=tenant.id, facts={"n": number})
            # The one that began first does not commit first.
            await asyncio.sleep(0.05 if number % 3 else 0)

    async def tell_all() -> None:
        for first in range(0, 60, 6):
            await asyncio.gather(*(told(number) for number in range(first, first + 6)))

    numbers: list[int] = []
    async with live(world.system):
        async with hearing(world, admin) as heard:
            place = heard.place
        telling = asyncio.ensure_future(tell_all())
        while len(numbers) < 60:
            async with hearing(world, admin, after=place) as heard:
                await heard.until(lambda one: bool(one.told))
                # It hangs up in the midst of it.
                place = heard.told[-1].id or 0
                numbers += [one.data["facts"]["n"] for one in heard.told]
        await telling

    assert sorted(numbers) == list(range(60))


async def test_a_device_hears_of_its_properties_alone(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    clerk = await an_operator(world, tenant.id, email="clerk", role="tenant.support", properties=("hotel-1",))
    async with live(world.system), hearing(world, clerk) as heard, hearing(world, admin) as all_of_it:
        for name in ("hotel-2", "hotel-1"):
            await tell(world, tenant.id, property_id=name)
        await tell(world, tenant.id, operator_id=admin.who.id)
        await tell(world, tenant.id, device_id=admin.device_id)
        await tell(world, tenant.id)
        await heard.until(lambda one: len(one.told) == 2)
        await all_of_it.until(lambda one: len(one.told) == 5)
        assert [one.data.get("property_id") for one in heard.told] == ["hotel-1", None]

        # A right that is taken counts for what comes next.
        shown = await admin.get(f"/bff/v1/operators/{clerk.who.id}")
        changed = await admin.send(
            "PATCH",
            f"/bff/v1/operators/{clerk.who.id}",
            {"properties": ["hotel-2"]},
            attested="operator.change",
            **{"If-Match": shown.headers["etag"]},
        )
        assert changed.status_code == 200, changed.text
        await tell(world, tenant.id, property_id="hotel-1")
        await tell(world, tenant.id, property_id="hotel-2")
        await heard.until(lambda one: len(one.told) == 3)
        assert heard.told[-1].data["property_id"] == "hotel-2"


async def test_no_tenant_hears_another(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    other = await world.tenant()
    async with live(world.system), hearing(world, admin) as heard:
        await tell(world, other.id)
        await tell(world, tenant.id)
        await heard.until(lambda one: len(one.told) == 1)
        await asyncio.sleep(0.1)
        assert len(heard.told) == 1


async def test_a_stream_ends_within_a_second_of_its_session(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    clerk = await an_operator(world, tenant.id, email="clerk")
    async with live(world.system), hearing(world, clerk) as heard, hearing(world, admin) as goes_on:
        order = {"scope": "operator", "target": clerk.who.id}
        forced = await admin.post("/bff/v1/force-logout", order, attested="session.force_out")
        assert forced.json()["sessions"] == 1, forced.text
        async with asyncio.timeout(1):
            await heard.task
        assert not goes_on.task.done()
    assert (heard.told[-1].kind, heard.told[-1].data) == ("end", {"reason": "session_ended"})


async def test_all_of_it_reaches_streams_of_other_processes_within_a_second(
    fresh_database: TestDatabase,
) -> None:
    """The clocks of both stand: nothing but the announcements can have told the other process."""
    clock = now_clock()
    async with (
        system_over(fresh_database, clock=clock) as here,
        system_over(fresh_database, clock=clock) as there,
    ):
        first, second = http_over(here), http_over(there)
        quick_passwords(first)
        tenant = await first.tenant("acme")
        admin = await an_operator(first, tenant.id)
        async with live(here, there, hears=True), hearing(second, admin) as heard:
            async with asyncio.timeout(1):
                await tell(first, tenant.id)
                await heard.until(lambda one: len(one.told) == 1)
            await admin.post(f"/bff/v1/sessions/{admin.session_id}/revoke")
            async with asyncio.timeout(1):
                await heard.task
        assert heard.told[-1].data == {"reason": "session_ended"}


async def test_who_was_away_too_long_is_told_to_reload(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    async with live(world.system):
        async with hearing(world, admin) as heard:
            place = heard.place
        await tell(world, tenant.id, 3)
        assert isinstance(world.clock, ManualClock)
        await world.clock.advance(WINDOW + timedelta(seconds=1))
        async with db.worker() as tx:
            await sweep_announcements(tx, before=world.clock.now() - WINDOW, limit=10_000)

        async with hearing(world, admin, after=place) as again:
            await again.until(lambda one: bool(one.told))
            assert [one.kind for one in again.told] == ["reset"]
            await tell(world, tenant.id)
            await again.until(lambda one: len(one.told) == 2)
        async with hearing(world, admin, after=place + 10_000) as beyond:
            await beyond.until(lambda one: bool(one.told))
            assert [one.kind for one in beyond.told] == ["reset"]
            assert beyond.place == again.place


async def test_who_is_far_behind_reads_on_from_the_table(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    async with live(world.system):
        async with hearing(world, admin) as heard:
            place = heard.place
        await tell(world, tenant.id, 450)
        async with hearing(world, admin, after=place) as again:
            await again.until(lambda one: len(one.told) == 450)
    assert [one.id for one in again.told] == list(range(place + 1, place + 451))


async def test_the_channels_that_are_named_are_heard(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    announcements = world.system.backoffice.parts.get(DeviceAnnouncements)
    async with live(world.system), hearing(world, admin, query="channels=devices") as heard:
        await tell(world, tenant.id)
        async with world.db.tenant(tenant.id) as tx:
            await announcements.tell(tx, "devices", tenant_id=tenant.id, facts={})
        await heard.until(lambda one: len(one.told) == 1)
        assert heard.told[0].kind == "devices"


async def test_one_tab_too_many_ends_the_oldest(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    most = world.system.backoffice.devices.streams.limits.most_of_a_device
    async with live(world.system), hearing(world, admin) as oldest:
        tabs = [hearing(world, admin) for _ in range(most)]
        for tab in tabs:
            await tab.__aenter__()
        await oldest.until(lambda one: bool(one.told))
        assert oldest.told[-1].data == {"reason": "replaced"}
        assert len(world.system.backoffice.devices.streams) == most
        for tab in tabs:
            await tab.__aexit__(None, None, None)
    assert len(world.system.backoffice.devices.streams) == 0


async def test_what_is_wrong_is_said_before_the_stream_begins(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    assert (await admin.get("/bff/v1/stream", **{"Last-Event-ID": "soon"})).status_code == 400
    assert (await admin.get("/bff/v1/stream?channels=gossip")).json()["errors"][0]["field"] == "channels"
    async with world.as_tenant(tenant.id) as key:
        assert (await key.get("/bff/v1/stream")).json()["code"] == "operators_only"


async def test_nothing_is_told_where_the_change_is_rolled_back(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    announcements = world.system.backoffice.parts.get(DeviceAnnouncements)
    async with live(world.system), hearing(world, admin) as heard:
        with pytest.raises(RuntimeError):
            async with world.db.tenant(tenant.id) as tx:
                await announcements.tell(tx, "alerts", tenant_id=tenant.id, facts={"n": -1})
                raise RuntimeError
        await tell(world, tenant.id)
        await heard.until(lambda one: bool(one.told))
        assert heard.told[0].data["facts"] == {"n": 0}
        assert heard.told[0].id == 1


async def test_workers_and_processes_of_the_api_run_what_devices_and_suggestions_need(
    fresh_database: TestDatabase,
) -> None:
    """What is written and never run is found here, and not by an operator."""
    async with system_over(fresh_database) as system:
        worker = {
            "device_streams",
            "device_sweep",
            "operator_approvals",
            "operator_identities",
            "ai_decisions",
            "suggestions",
            "operator_preferences",
        }
        assert worker <= set(system.jobs())
        assert "device_streams" in system.api_jobs()
