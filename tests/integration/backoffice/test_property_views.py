"""Dashboards and boards over the API: what they show, who may see them, and what they say when a service is away."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.support.clock import ManualClock
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.upstreams import HOTEL, OTHER_HOTEL, fault
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator

_BOARDS = {
    "today": {"occupancy", "room_counts", "ticket_counts", "stays"},
    "arrivals": {"stays"},
    "departures": {"stays"},
    "in-house": {"stays"},
    "housekeeping": {"rooms", "room_counts"},
    "maintenance": {"tickets", "ticket_counts"},
}
#: Far beyond the time-out, and far below what a service that hangs would take.
_DEADLINE = 30.0
_PARTS = {"occupancy", "room_counts", "ticket_counts", "stays", "rooms", "tickets"}


def _path(property_id: str, rest: str) -> str:
    return f"/bff/v1/properties/{property_id}/{rest}"


async def _read(somebody: SignedIn, rest: str, property_id: str = HOTEL) -> Any:
    answer = await somebody.get(_path(property_id, rest))
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


async def _advance(world: HttpWorld, seconds: float) -> None:
    assert isinstance(world.clock, ManualClock)
    await world.clock.advance(timedelta(seconds=seconds))


async def test_every_board_shows_its_parts_and_no_others(
    admin: SignedIn, simulator: PropertySimulator
) -> None:
    for view, parts in _BOARDS.items():
        board = await _read(admin, f"workbench/{view}")
        assert {part for part in _PARTS if board[part] is not None} == parts, view
        assert board["property"]["name"] == "Kabul Garden Hotel"
        assert (board["partial"], board["missing"]) == (False, [])
    arrivals = await _read(admin, "workbench/arrivals?date=2026-12-01")
    assert arrivals["date"] == "2026-12-01"
    assert [stay["room_status"] for stay in arrivals["stays"] if stay["room_status"]] == []
    today = await _read(admin, "workbench/arrivals")
    assert all(stay["room_status"] for stay in today["stays"])


async def test_a_dashboard_shows_what_the_role_looks_after(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, simulator: PropertySimulator
) -> None:
    viewer = await an_operator(world, tenant.id, role="tenant.viewer", email="viewer")

    everything, little = await _read(admin, "dashboard"), await _read(viewer, "dashboard")

    assert everything["sections"] == ["occupancy", "rooms", "tickets", "locks", "suggestions"]
    assert everything["suggestions"]["open"] >= 0
    assert little["sections"] == ["occupancy", "rooms"]
    assert little["locks"] is None
    assert simulator.site.calls[f"locks/properties/{HOTEL}/summary"] == 1


async def test_an_operator_of_one_property_finds_no_other(
    world: HttpWorld, tenant: Tenant, simulator: PropertySimulator
) -> None:
    one = await an_operator(world, tenant.id, properties=(HOTEL,), role="tenant.support")
    admin = await an_operator(world, tenant.id, email="admin")
    await _read(admin, "dashboard", OTHER_HOTEL)

    for rest in ("dashboard", "workbench/today", "workbench/arrivals?date=2026-12-01"):
        refused = await one.get(_path(OTHER_HOTEL, rest))
        assert (refused.status_code, refused.json()["code"]) == (404, "property_not_found")
        unknown = await admin.get(_path("nowhere", rest))
        assert (unknown.status_code, unknown.json()["code"]) == (404, "property_not_found")

    assert [item["id"] for item in (await one.get("/bff/v1/properties")).json()["items"]] == [HOTEL]
    none = await an_operator(world, tenant.id, properties=(), email="none")
    assert (await none.get("/bff/v1/properties")).json()["items"] == []


async def test_properties_are_listed_in_pages_with_names(
    admin: SignedIn, simulator: PropertySimulator
) -> None:
    first = (await admin.get("/bff/v1/properties?limit=3")).json()
    second = (await admin.get(f"/bff/v1/properties?limit=3&cursor={first['next_cursor']}")).json()

    assert [item["id"] for item in first["items"] + second["items"]] == [
        "herat-school", "kabul-garden", "lagos-marina", "muscat-harbour",
    ]  # fmt: skip
    assert first["items"][0]["kind"] == "school"
    assert second["next_cursor"] is None


async def test_api_keys_and_the_platform_see_no_property(
    world: HttpWorld, tenant: Tenant, simulator: PropertySimulator
) -> None:
    async with world.as_tenant(tenant.id) as key:
        assert (await key.get(_path(HOTEL, "dashboard"))).json()["code"] == "operators_only"
    platform = await an_operator(world, None)

    assert (await platform.get("/bff/v1/properties")).json()["code"] == "needs_tenant"
    assert (await platform.get(_path(HOTEL, "dashboard"))).status_code == 404
    listed = await platform.get("/bff/v1/properties", **{"X-Tenant-Id": tenant.id})
    assert len(listed.json()["items"]) == 4


@pytest.mark.parametrize(
    ("rest", "field"),
    [
        ("workbench/kitchen", "view"),
        ("workbench/arrivals?date=tomorrow", "date"),
        ("workbench/maintenance?date=2026-12-01", "date"),
        ("workbench/arrivals?date=2099-12-01", "date"),
    ],
)
async def test_what_can_not_be_asked_is_named(
    admin: SignedIn, simulator: PropertySimulator, rest: str, field: str
) -> None:
    refused = await admin.get(_path(HOTEL, rest))

    assert refused.status_code in (400, 422), refused.text
    assert field in refused.text


async def test_a_service_that_hangs_makes_a_view_partial_within_the_time_and_it_recovers_by_itself(
    world: HttpWorld, admin: SignedIn, simulator: PropertySimulator
) -> None:
    fault(simulator, "hang", "housekeeping")

    async with asyncio.timeout(_DEADLINE):
        dashboard = await _read(admin, "dashboard")

    assert dashboard["partial"]
    assert [(one["upstream"], one["reason"]) for one in dashboard["missing"]] == [("housekeeping", "timeout")]
    assert dashboard["missing"][0]["since"]
    assert dashboard["rooms"] is None
    assert dashboard["occupancy"]["rooms_total"] == 48

    simulator.faults.clear()
    assert (await _read(admin, "dashboard"))["partial"], "it is kept for a moment"
    await _advance(world, 3.1)
    assert not (await _read(admin, "dashboard"))["partial"]


async def test_services_that_are_killed_leave_a_partial_dashboard_that_recovers_by_itself(
    world: HttpWorld, admin: SignedIn, simulator: PropertySimulator
) -> None:
    """All of them go while the operator looks; what is known meanwhile is that nothing is."""
    whole = await _read(admin, "dashboard")
    await simulator.stop()
    await _advance(world, 31)

    async with asyncio.timeout(_DEADLINE):
        dashboard = await _read(admin, "dashboard")

    assert {one["upstream"] for one in dashboard["missing"]} == {
        "reservations", "housekeeping", "maintenance", "locks", "assistant",
    }  # fmt: skip
    assert dashboard["occupancy"] is None

    await simulator.start()
    await _advance(world, 6)
    again = await _read(admin, "dashboard")
    assert (again["partial"], again["property"]) == (False, whole["property"])


async def test_while_reservations_are_away_what_rights_name_is_still_shown(
    world: HttpWorld, tenant: Tenant, simulator: PropertySimulator
) -> None:
    one = await an_operator(world, tenant.id, properties=(HOTEL,), role="tenant.support")
    fault(simulator, "close", "reservations")

    listed = (await one.get("/bff/v1/properties")).json()
    board = await _read(one, "workbench/arrivals")

    assert listed["items"] == [{"id": HOTEL, "name": None, "kind": None, "timezone": None, "rooms": None}]
    assert listed["missing"]["upstream"] == "reservations"
    assert board["stays"] is None
    assert [one["upstream"] for one in board["missing"]] == ["reservations"]
    assert (await _read(one, "workbench/housekeeping"))["rooms"]


async def test_without_addresses_views_say_that_nothing_is_connected(admin: SignedIn) -> None:
    board = await _read(admin, "workbench/today")

    assert {one["reason"] for one in board["missing"]} == {"not_connected"}
    assert {one["upstream"] for one in board["missing"]} == {"reservations", "housekeeping", "maintenance"}


async def test_views_are_shared_by_all_who_ask_within_their_time(
    world: HttpWorld, admin: SignedIn, simulator: PropertySimulator
) -> None:
    path = f"reservations/properties/{HOTEL}/in-house"

    await asyncio.gather(*(_read(admin, "workbench/in-house") for _ in range(30)))
    assert simulator.site.calls[path] == 1

    # In the last third of its time it is shown, and made anew beside that.
    await _advance(world, 11)
    await _read(admin, "workbench/in-house")
    async with asyncio.timeout(_DEADLINE):
        while simulator.site.calls[path] < 2:
            await asyncio.sleep(0.01)
    assert simulator.site.calls[path] == 2

    await _advance(world, 16)
    await _read(admin, "workbench/in-house")
    assert simulator.site.calls[path] == 3
    metrics = world.system.kernel.metrics.render().decode()
    assert 'tidings_views_total{result="stale",view="in-house"} 1.0' in metrics
    assert 'tidings_views_total{result="made",view="in-house"} 2.0' in metrics
