"""What could outlive a session: API keys, which operators attest, and streams, which end with it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.bus import DEADLINE
from tests.support.http import HttpWorld
from tests.support.operators import SignedIn, an_operator
from tidings.backoffice.attestations.actions import ACTIONS
from tidings.bootstrap.surface import resources_of
from tidings.kernel.db import Database
from tidings.notify.tenants.model import Tenant

KEY = {"name": "Left behind", "role": "tenant.viewer"}


async def test_an_operator_attests_an_api_key(world: HttpWorld, admin: SignedIn) -> None:
    for attested in (None, "operator.invite"):
        refused = await admin.post("/api/v1/api-keys", KEY, attested=attested)
        assert (refused.status_code, refused.json()["code"]) == (403, "attestation_required")
    assert (await admin.get("/api/v1/api-keys")).json()["items"] == []

    made = await admin.post("/api/v1/api-keys", KEY, attested="api_key.make")
    assert made.status_code == 201
    path = f"/api/v1/api-keys/{made.json()['key']['id']}/rotate"
    assert (await admin.post(path, {"overlap_seconds": 60})).json()["code"] == "attestation_required"
    assert (await admin.post(path, {"overlap_seconds": 60}, attested="api_key.make")).status_code == 201


async def test_what_is_wrong_with_a_body_uses_no_attestation_up(admin: SignedIn) -> None:
    one = {"X-Attestation": await admin.attest("api_key.make")}
    assert (await admin.post("/api/v1/api-keys", {"name": ""}, **one)).status_code == 400
    assert (await admin.post("/api/v1/api-keys", KEY, **one)).status_code == 201
    assert (await admin.post("/api/v1/api-keys", KEY, **one)).json()["code"] == "attestation_required"


async def test_a_repeated_request_gets_its_answer_with_the_attestation_that_is_used(admin: SignedIn) -> None:
    headers = {"X-Attestation": await admin.attest("api_key.make"), "Idempotency-Key": "again"}
    first = await admin.post("/api/v1/api-keys", KEY, **headers)
    again = await admin.post("/api/v1/api-keys", KEY, **headers)

    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json()["key"]["id"] == first.json()["key"]["id"]
    assert again.headers["idempotency-replayed"] == "true"


async def test_keys_make_keys_without(world: HttpWorld, tenant: Tenant) -> None:
    async with world.as_tenant(tenant.id) as key:
        assert (await key.post("/api/v1/api-keys", json=KEY)).status_code == 201


async def test_every_action_that_a_route_wants_attested_can_be(world: HttpWorld) -> None:
    wanted = {
        declared.attested
        for _, resources in resources_of(world.system)
        for resource in resources
        for declared in resource.operations
    } - {None}

    assert {"api_key.make", "credential.change", "tenant.close", "raw.read"} <= wanted <= set(ACTIONS)


async def test_who_made_a_key_is_known_when_they_are_erased(
    world: HttpWorld, tenant: Tenant, admin: SignedIn
) -> None:
    other = await an_operator(world, tenant.id, email="o")
    await other.post("/api/v1/api-keys", KEY, attested="api_key.make")
    await admin.post(f"/bff/v1/operators/{other.who.id}/erase", attested="operator.erase")

    [left] = (await admin.get("/api/v1/api-keys")).json()["items"]
    assert left["created_by"] == other.who.id
    assert (await admin.send("DELETE", f"/api/v1/api-keys/{left['id']}")).json()["revoked_at"] is not None


@asynccontextmanager
async def listening(
    world: HttpWorld, who: SignedIn
) -> AsyncIterator[tuple["asyncio.Task[Any]", list[bytes]]]:
    """A stream of events that goes on, and what it has said."""
    cookies = "; ".join(
        f"{name}={who.browser.cookie(name)}" for name in ("tidings_session", "tidings_device")
    )
    path = "/api/v1/events/stream"
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"cookie", cookies.encode())],
        "client": ("127.0.0.1", 1),
        "server": ("localhost", 80),
    }
    said: list[bytes] = []
    begun = asyncio.Event()
    asked = 0

    async def receive() -> dict[str, Any]:
        nonlocal asked
        asked += 1
        if asked == 1:
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        said.append(message.get("body", b""))
        if said[-1].startswith(b"retry"):
            begun.set()

    stream = asyncio.ensure_future(world.app(scope, receive, send))
    try:
        async with asyncio.timeout(DEADLINE):
            await begun.wait()
        yield stream, said
    finally:
        stream.cancel()
        await asyncio.gather(stream, return_exceptions=True)


async def test_a_stream_ends_with_its_session(world: HttpWorld, admin: SignedIn) -> None:
    other = await admin.who.sign_in()
    async with listening(world, admin) as (stream, said), listening(world, other) as (goes_on, _):
        await admin.post(f"/bff/v1/sessions/{admin.session_id}/revoke")

        # Shorter than the heartbeat, before which nothing would be asked otherwise.
        async with asyncio.timeout(10):
            await stream
        assert b"".join(said).endswith(b"event: error\ndata: session_ended\n\n")
        assert not goes_on.done()


async def test_a_stream_ends_with_the_right_to_hear_it(
    world: HttpWorld, tenant: Tenant, admin: SignedIn, db: Database
) -> None:
    other = await an_operator(world, tenant.id, email="o")
    async with listening(world, other) as (stream, said):
        await admin.post(f"/bff/v1/operators/{other.who.id}/disable", attested="operator.status")
        async with asyncio.timeout(10):
            await stream
        assert b"event: error" in said[-1] or b"event: error" in said[-2]
