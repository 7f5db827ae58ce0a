"""Pages of suggestions and of devices do what the API does, and say what to do next."""

from tests.integration.backoffice.test_ai_inbox import INBOX, drafted, drain, first, listed
from tests.integration.backoffice.test_devices import say, sweep
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tests.support.upstreams import HOTEL, fault
from tidings.notify.tenants.model import Tenant
from tidings.sandbox.property.simulator import PropertySimulator

__all__ = ["drafted"]
PAGE = "/console/ai-inbox"
DEVICES = "/console/devices"


async def test_an_operator_works_through_the_suggestions_of_a_house(
    world: HttpWorld, simulator: PropertySimulator, tenant: Tenant, admin: SignedIn
) -> None:
    entry = await first(admin)
    at = admin.browser
    await at.open(f"{PAGE}?property_id={HOTEL}")
    assert entry["title"] in at.html
    assert "simulated-planner" in at.html
    assert "data-row" in at.html

    await at.post(
        f"{PAGE}/{entry['id']}/decide",
        outcome="accepted",
        note="Agreed",
        back=f"{PAGE}?property_id={HOTEL}",
    )
    assert "Accepted." in at.html
    assert entry["title"] not in at.html or f'id="{entry["id"]}"' not in at.html
    await drain(world)
    await at.open(f"{PAGE}?status=decided&property_id={HOTEL}")
    assert "Decided by <bdi>Laila Noor</bdi>" in at.html
    assert "The service knows." in at.html

    again = await at.post(f"{PAGE}/{entry['id']}/decide", outcome="rejected", back="//elsewhere.example")
    assert again.status_code == 409
    assert "Somebody has decided already." in at.html


async def test_a_change_is_typed_beside_what_was_proposed(
    simulator: PropertySimulator, admin: SignedIn
) -> None:
    entry = next(
        one
        for one in (await listed(admin, limit="50"))["items"]
        if any(isinstance(value, int) for value in one["proposal"].values())
    )
    name, value = next((name, value) for name, value in entry["proposal"].items() if isinstance(value, int))
    at = admin.browser
    await at.open(f"{PAGE}/{entry['id']}")
    typed = {f"set.{key}": str(was) for key, was in entry["proposal"].items()}
    refused = await at.post(f"{PAGE}/{entry['id']}/decide", True, outcome="modified", **typed)
    assert refused.status_code == 400
    assert "Change at least one value" in at.html

    typed[f"set.{name}"] = str(value + 1)
    await at.post(f"{PAGE}/{entry['id']}/decide", True, outcome="modified", back=PAGE, **typed)
    assert "Accepted with your changes." in at.html
    assert (await admin.get(f"{INBOX}/{entry['id']}")).json()["status"] == "modified"


async def test_what_is_missing_is_said(
    world: HttpWorld, simulator: PropertySimulator, admin: SignedIn
) -> None:
    at = admin.browser
    fault(simulator, "error", "assistant")
    await at.open(f"{PAGE}?property_id={HOTEL}")
    assert f"The service gives no answer for <bdi>{HOTEL}</bdi>" in at.html
    assert "No suggestion fits." in at.html


async def test_a_draft_leads_to_the_template(admin: SignedIn, drafted: str) -> None:
    at = admin.browser
    await at.open(PAGE)
    assert "A machine has drafted “welcome” for Email" in at.html
    assert "/console/templates/welcome/email" in at.html


async def test_devices_are_listed_and_signed_out(world: HttpWorld, tenant: Tenant, admin: SignedIn) -> None:
    at = admin.browser
    await at.open(DEVICES)
    assert "No device has said anything yet" in at.html
    clerk = await an_operator(world, tenant.id, email="clerk", name="Omar")
    await say(clerk, "handshake", app_version="4.2.0", app_platform="Android 15", property_id="hotel-1")
    hints = [{"kind": "housekeeping.room_done", "count": 3, "resource_ids": ["room-101"]}]
    await say(clerk, "offline-hints", hints=hints, app_version="4.2.0")
    await sweep(world, 6)

    await at.open(f"{DEVICES}?status=offline")
    assert "Android 15" in at.html
    assert "<bdi>Omar</bdi>" in at.html
    page = f"{DEVICES}/{clerk.device_id}"
    await at.open(page)
    assert "has given no sign of life" in at.html
    assert "room-101" in at.html
    refused = await at.post(f"{page}/revoke", code="000000")
    assert refused.status_code == 403
    await at.post(f"{page}/revoke", code=await admin.who.code())
    assert "Nobody is signed in on it any more." in at.html
    assert (await clerk.get("/bff/v1/session")).json()["code"] == "session_ended"
