"""A session that is bound to a key is taken from nobody: each request is signed, once, for what it is."""

from datetime import timedelta

import pytest

from tests.integration.backoffice.test_devices import alerts
from tests.support.clock import ManualClock
from tests.support.device_keys import DeviceApp
from tests.support.device_streams import hearing, live
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant

OWN = "/bff/v1/session"


@pytest.fixture
async def app(world: HttpWorld, admin: SignedIn) -> DeviceApp:
    """An application whose session is bound to its key."""
    made = DeviceApp(admin)
    shaken = await made.shake_hands()
    assert (shaken.status_code, shaken.json()["needs_proof"]) == (200, True), shaken.text
    return made


async def test_each_request_is_signed(app: DeviceApp, tenant: Tenant, world: HttpWorld) -> None:
    assert (await app.get(OWN)).status_code == 200
    assert (await app.get("/bff/v1/devices?limit=5")).status_code == 200
    assert (await app.post(f"/bff/v1/devices/{app.who.device_id}/heartbeat", {})).status_code == 200
    assert (await app.get("/api/v1/templates")).status_code == 200
    assert await alerts(world, tenant) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "none",
        "other key",
        "other method",
        "other path",
        "other session",
        "used before",
    ],
)
async def test_without_a_proof_or_with_a_wrong_one_the_session_ends(
    app: DeviceApp, world: HttpWorld, tenant: Tenant, wrong: str
) -> None:
    """Both cookies were carried off: they open nothing."""
    good = app.proof("GET", OWN)
    if wrong == "used before":
        assert (await app.who.get(OWN, **{"Device-Proof": good})).status_code == 200
    proof = {
        "none": None,
        "other key": DeviceApp(app.who).proof("GET", OWN),
        "other method": app.proof("POST", OWN),
        "other path": app.proof("GET", "/bff/v1/sessions"),
        "other session": app.proof("GET", OWN, sid="bos_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        "used before": good,
    }[wrong]

    refused = await app.who.get(OWN, **({"Device-Proof": proof} if proof else {}))

    assert (refused.status_code, refused.json()["code"]) == (401, "session_of_another_device")
    assert (await app.get(OWN)).json()["code"] == "session_ended"
    assert await alerts(world, tenant) == [("session_on_other_device", "raised", None)]


async def test_a_wrong_clock_ends_nothing(app: DeviceApp, world: HttpWorld, tenant: Tenant) -> None:
    assert isinstance(world.clock, ManualClock)
    made_then = app.proof("GET", OWN)
    await world.clock.advance(timedelta(seconds=61))

    late = await app.who.get(OWN, **{"Device-Proof": made_then})
    assert (late.status_code, late.json()["code"]) == (401, "device_proof_late")
    assert (await app.get(OWN)).status_code == 200
    assert await alerts(world, tenant) == []


async def test_an_address_that_is_typed_ends_nothing_and_opens_nothing(app: DeviceApp) -> None:
    typed = await app.who.get("/console", **{"Sec-Fetch-Mode": "navigate"})
    assert typed.status_code == 403
    assert "application that opened it" in typed.text
    assert (await app.get(OWN)).status_code == 200


async def test_a_stream_is_asked_for_its_proof_once(app: DeviceApp, world: HttpWorld) -> None:
    proof = {"device-proof": app.proof("GET", "/bff/v1/stream")}
    async with live(world.system), hearing(world, app.who, headers=proof) as heard:
        assert heard.status == 200
        assert heard.said[0].kind == "hello"


async def test_the_first_key_stays_and_the_next_session_may_have_another(
    app: DeviceApp, world: HttpWorld
) -> None:
    path = f"/bff/v1/devices/{app.who.device_id}/handshake"
    assert (await app.post(path, {"public_key": app.public_key})).status_code == 200
    other = await app.post(path, {"public_key": DeviceApp(app.who).public_key})
    assert (other.status_code, other.json()["code"]) == (409, "device_key_registered")

    again = await app.who.who.sign_in(app.who.browser)
    assert (await again.get(OWN)).status_code == 200
    assert (await DeviceApp(again).shake_hands()).status_code == 200


async def test_a_key_that_another_program_wrote_opens_nothing(
    world: HttpWorld, tenant: Tenant, db: Database
) -> None:
    """Whoever can write to the database puts no key of their own in its place."""
    clerk = await an_operator(world, tenant.id, email="clerk")
    thief = DeviceApp(clerk)
    key = thief.public_key
    async with db.tenant(tenant.id) as tx:
        await tx.connection.execute(
            "INSERT INTO bff_backoffice.device_keys (tenant_id, session_id, device_id, public_key, key_hash, registered_at, expires_at)"
            " VALUES ($1, $2, $3, $4, 'sha256:0', now(), now() + interval '1 hour')",
            tenant.id,
            clerk.session_id,
            clerk.device_id,
            f"{key['x']}.{key['y']}",
        )
    world.system.backoffice.authenticator.forget_all()
    assert (await thief.get(OWN)).json()["code"] == "session_ended"


async def test_a_key_off_the_curve_is_refused(admin: SignedIn) -> None:
    app = DeviceApp(admin)
    off = {**app.public_key, "x": "A" * 43}
    path = f"/bff/v1/devices/{admin.device_id}/handshake"
    refused = await admin.post(path, {"public_key": off})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "public_key")
    assert (await admin.get(OWN)).status_code == 200
