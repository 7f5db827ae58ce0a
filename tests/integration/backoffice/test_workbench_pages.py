"""The workbench in the console: boards of a property as pages, without a browser."""

import re

from tests.support.http import HttpWorld
from tests.support.operators import AtBrowser, SignedIn, an_operator
from tests.support.upstreams import HOTEL, OTHER_HOTEL, fault
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator

_HERE = "/console/workbench"


async def _open(somebody: SignedIn, path: str) -> AtBrowser:
    answer = await somebody.browser.open(_HERE + path)
    assert answer.status_code == 200, answer.text
    return somebody.browser


def _text(at: AtBrowser) -> str:
    main = at.html.partition("<main")[2]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


async def test_it_opens_with_the_first_property_and_every_board_is_a_tab(
    admin: SignedIn, simulator: PropertySimulator
) -> None:
    at = await _open(admin, "")
    assert "Herat Boarding School: At a glance" in _text(at)
    tabs = re.findall(r'href="/console/workbench/herat-school/([a-z-]+)"', at.html)
    assert {"glance", "today", "arrivals", "departures", "in-house", "housekeeping", "maintenance"} <= set(
        tabs
    )

    for view in sorted(set(tabs)):
        at = await _open(admin, f"/{HOTEL}/{view}")
        assert 'data-live="15"' in at.html
        assert "Some of this is missing" not in at.html

    at = await _open(admin, f"/{HOTEL}/glance")
    assert f'href="/console/ai-inbox?property_id={HOTEL}"' in at.html


async def test_choices_lead_to_an_address_of_their_own(admin: SignedIn, simulator: PropertySimulator) -> None:
    answer = await admin.get(f"{_HERE}?property={HOTEL}&view=arrivals&date=2026-12-01")
    assert answer.headers["location"] == f"{_HERE}/{HOTEL}/arrivals?date=2026-12-01"
    answer = await admin.get(f"{_HERE}?property=..%2Foperators&view=../x&date=2026-12-01")
    assert answer.headers["location"] == f"{_HERE}/..%2Foperators/glance"

    at = await _open(admin, f"/{HOTEL}/arrivals?date=2026-12-01")
    assert 'value="2026-12-01"' in at.html
    assert "Back to today" in at.html


async def test_housekeeping_shows_the_rooms_of_one_state(
    admin: SignedIn, simulator: PropertySimulator
) -> None:
    rooms = (await admin.get(f"/bff/v1/properties/{HOTEL}/workbench/housekeeping")).json()["rooms"]
    status = rooms[0]["status"]

    at = await _open(admin, f"/{HOTEL}/housekeeping?status={status}")

    assert len(re.findall(r'<ul class="chips">', at.html)) >= 1
    shown = len(re.findall(r"<li class=\"\w+\"><strong>", at.html))
    assert shown == sum(room["status"] == status for room in rooms)


async def test_what_is_missing_is_said_with_the_reason_and_the_remedy(
    admin: SignedIn, world: HttpWorld, simulator: PropertySimulator
) -> None:
    fault(simulator, "error", "maintenance")

    at = await _open(admin, f"/{HOTEL}/today")

    assert "Some of this is missing." in _text(at)
    assert "Maintenance : no usable answer" in _text(at)
    assert "Not known at the moment" in _text(at)
    assert "Arrivals" in _text(at)


async def test_without_addresses_it_says_what_to_set(admin: SignedIn) -> None:
    at = await _open(admin, "")

    assert "TIDINGS_UPSTREAM_RESERVATIONS_URL" in at.html


async def test_an_operator_sees_their_properties_and_no_other(
    world: HttpWorld, tenant: Tenant, simulator: PropertySimulator
) -> None:
    clerk = await an_operator(world, tenant.id, properties=(HOTEL,), role="tenant.support")
    at = await _open(clerk, "")
    assert "Kabul Garden Hotel: At a glance" in _text(at)
    assert OTHER_HOTEL not in at.html

    refused = await clerk.browser.open(f"{_HERE}/{OTHER_HOTEL}/today")
    assert refused.status_code == 404
    nobody = await an_operator(world, tenant.id, properties=(), email="nobody")
    assert "No property yet" in _text(await _open(nobody, ""))


async def test_it_reads_from_right_to_left(
    world: HttpWorld, admin: SignedIn, simulator: PropertySimulator
) -> None:
    admin.browser.client.headers["accept-language"] = "ar"
    at = await _open(admin, f"/{HOTEL}/departures")
    assert 'dir="rtl"' in at.html
    assert "المغادرة" in at.html
    # Times and names keep their own direction.
    assert re.search(r'<span dir="ltr" class="when" title="[^"]+">\d\d-\d\d \d\d:\d\d</span>', at.html)
