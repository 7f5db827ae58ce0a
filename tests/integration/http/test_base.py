"""What every address has in common: ids, problems, docs, health."""

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest

from tests.support.http import HttpWorld, http_world
from tidings.kernel.db import Database
from tidings.kernel.errors import DatabaseUnavailableError, NotConfiguredError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.bodies import decode
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.http.serve import HttpServer, address_of, listen
from tidings.notify.tenants.wire import StatusChange


async def test_an_unknown_address_is_a_problem_with_ids(world: HttpWorld) -> None:
    async with world.client(**{"X-Request-Id": "abc-1"}) as client:
        answer = await client.get("/api/v9/nothing")

    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == answer.json()["request_id"] == "abc-1"
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]", answer.headers["traceparent"])
    assert answer.json()["code"] == "no_route"


async def test_a_wrong_method_names_the_right_ones(world: HttpWorld) -> None:
    async with world.client() as client:
        answer = await client.put("/api/v1/api-keys/key_1/rotate", json={})

    assert (answer.status_code, answer.json()["code"]) == (405, "wrong_method")
    assert "POST" in answer.headers["allow"]


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/v1/api-keys", "GET, HEAD, OPTIONS, POST"),
        ("/api/v1/api-keys/key_01M7FCWEYJ9BT7FZN9XC66BV19", "DELETE, GET, HEAD, OPTIONS"),
        ("/internal/v1/tenants/tnt_01M7FCWEYJ9BT7FZN9XC66BV19", "GET, HEAD, OPTIONS, PATCH"),
        ("/healthz", "GET, HEAD, OPTIONS"),
    ],
)
async def test_options_names_every_method_of_an_address(world: HttpWorld, path: str, allowed: str) -> None:
    async with world.client() as client:
        answer = await client.options(path)
        nowhere = await client.options("/nowhere")

    assert (answer.status_code, answer.headers["allow"], answer.content) == (204, allowed, b"")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "no_route")


async def test_health_needs_no_key_and_no_database(db: Database) -> None:
    async def unreachable() -> None:
        raise DatabaseUnavailableError

    world = http_world(db, checks={"database": unreachable, "bus": db.ping})

    async with world.client() as client:
        alive = await client.get("/healthz")
        ready = await client.get("/readyz")
        metrics = await client.get("/metrics")

    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    assert ready.status_code == 503
    assert ready.json() == {
        "status": "not_ready",
        "parts": {"database": {"ok": False, "detail": "can't be reached"}, "bus": {"ok": True}},
    }
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "# TYPE tidings_http_requests_total counter" in metrics.text


async def test_answers_are_measured_by_route_and_not_by_path(world: HttpWorld) -> None:
    async with world.client() as client:
        await client.get("/api/v1/api-keys/key_01M7FCWEZGY7RA1S1WEQEEXX1W")
        await client.get("/secret/path")

    assert [(a.route, a.status) for a in world.answered] == [
        ("/api/v1/api-keys/{key_id}", 401),
        ("unmatched", 404),
    ]


async def test_the_docs_work_offline(world: HttpWorld) -> None:
    async with world.client() as client:
        page = await client.get("/docs")
        problems = await client.get("/docs/problems")

    for answer in (page, problems):
        assert answer.status_code == 200
        assert not re.search(r"(src|href)=[\"']?(https?:)?//", answer.text)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "width=device-width" in answer.text
        assert "prefers-color-scheme: dark" in answer.text
    assert 'id="tenant_frozen"' in problems.text
    assert 'id="key_already_rotated"' in problems.text


async def test_a_problem_is_explained_once(world: HttpWorld) -> None:
    """A title that asks keeps its question mark, one that says it all is not repeated, and code looks like code."""
    async with world.client() as client:
        page = (await client.get("/docs/problems")).text

    assert "?." not in page
    assert "The request is not in order.</b> The request is not in order" not in page
    assert "`" not in page[page.index("<main>") :]


async def test_the_root_leads_to_the_docs(world: HttpWorld) -> None:
    async with world.client() as client:
        answer = await client.get("/")

    assert (answer.status_code, answer.headers["location"]) == (307, "/docs")


async def test_the_docs_lead_with_what_people_look_for(world: HttpWorld) -> None:
    """Groups by how often they are wanted, then by name; a body shows how large it may be."""
    async with world.client() as client:
        document = (await client.get("/openapi.json")).json()

    tags = [tag["name"] for tag in document["tags"]]
    assert tags[:2] == ["notifications", "recipients"]
    rest = tags[tags.index("api keys") :]
    assert "adapters" in tags
    assert all(name == name.lower() for name in tags)
    assert rest == sorted(rest)
    sending = document["paths"]["/api/v1/notifications"]["post"]
    assert sending["x-max-body-bytes"] == 12 * 1024 * 1024
    assert document["paths"]["/api/v1/recipients"]["post"]["x-max-body-bytes"] == 1024 * 1024
    assert sending["requestBody"]["content"]["application/json"]["example"]["template"] == "otp"


async def test_the_openapi_document_is_whole(world: HttpWorld) -> None:
    async with world.client() as client:
        document = (await client.get("/openapi.json")).json()

    assert document["openapi"] == "3.1.0"
    text = json.dumps(document)
    for reference in set(re.findall(r'"#/components/schemas/([^"]+)"', text)):
        assert reference in document["components"]["schemas"], reference
    schemas = document["components"]["schemas"]
    for write_model in (
        "CreateKey",
        "RotateKey",
        "CreateTenant",
        "UpdateTenant",
        "StatusChange",
        "NotificationPolicy",
    ):
        assert schemas[write_model]["additionalProperties"] is False
    create = document["paths"]["/internal/v1/tenants"]["post"]
    assert create["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/CreateTenant")
    assert create["security"] == [{"bearer": []}]
    assert create["responses"]["409"]["content"]["application/problem+json"]
    assert "slug_taken" in create["responses"]["409"]["x-codes"]
    names = {p["name"] for p in document["paths"]["/api/v1/api-keys"]["get"]["parameters"]}
    assert names == {"limit", "cursor", "X-Tenant-Id"}
    assert not re.search(r'"#/(?!components/schemas/)', text)
    status = document["paths"]["/internal/v1/tenants"]["get"]["parameters"][-1]
    assert status["schema"] == {"$ref": "#/components/schemas/TenantStatus"}
    shown = document["paths"]["/internal/v1/tenants/{tenant_id}"]["get"]["parameters"][0]
    assert re.fullmatch(shown["schema"]["pattern"], "tnt_01M7FCWEYJ9BT7FZN9XC66BV19")
    freeze = document["paths"]["/internal/v1/tenants/{tenant_id}/freeze"]["post"]
    assert freeze["requestBody"]["required"] is False
    assert schemas["TenantView"]["properties"]["created_at"]["format"] == "date-time"
    assert schemas["RotateKey"]["properties"]["overlap_seconds"]["description"].startswith("For how long")
    assert "PageOfKeyView" in schemas
    assert "503" in document["paths"]["/readyz"]["get"]["responses"]
    ids = [op["operationId"] for methods in document["paths"].values() for op in methods.values()]
    assert len(ids) == len(set(ids))


async def test_every_route_but_the_public_ones_asks_who_is_calling(world: HttpWorld) -> None:
    public = {
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/asyncapi.json",
        "/",
        "/docs",
        "/docs/problems",
        # Scripts that any page may show.
        "/assets/tidings-inbox.js",
        "/assets/tidings-inbox-preferences.js",
    }
    # Whoever has the link is let in: it was sent to them alone.
    public |= {"/u/{token}", "/p/{token}", "/c/{token}"}
    public |= {route.path for route in world.app.routes if route.path.startswith("/portal/{token}")}
    # The signature is the key.
    public |= {"/hooks/{vendor}/{adapter}", "/t/o/{name}", "/t/c/{token}"}
    # The ways in; what else has to be a session leads there.
    public |= {"/bff/v1/openapi.json", "/console/static/{name}", "/console/sign-in", "/console/code"}
    public |= {"/console/passkey", "/console/passkey/challenge"}
    public |= {"/console/oidc", "/console/oidc/callback", "/console/oidc/choose"}
    public |= {"/console/join/{token}", "/console/open/{token}"}

    async with world.client() as client:
        for route in world.app.routes:
            if route.path.startswith("/console") and route.path not in public:
                answer = await client.request(route.method, route.path.replace("{", "").replace("}", ""))
                # An id that is none is told before anybody is asked for.
                assert answer.headers.get("location") == "/console/sign-in" or answer.status_code == 400, (
                    route
                )
                continue
            answer = await client.request(route.method, route.path.replace("{", "").replace("}", ""))
            assert (answer.status_code == 401) is (route.path not in public), route


odd = Resource("odd", at="/api/v1", tag="test", owner=Owner.PUBLIC)


@odd.get("/broken")
async def broken() -> None:
    """Breaks."""
    raise RuntimeError("postgres://user:password@host")


@odd.get("/unset")
async def unset() -> None:
    """Is not set up."""
    raise NotConfiguredError("no AI endpoint is set up; set TIDINGS_AI_URL")


@odd.post("/echo")
async def echo(body: StatusChange) -> StatusChange:
    """Reads."""
    return body


raw = Resource("raw", at="/raw", tag="test", scope="notifications")


@raw.post(status=202)
async def read_raw(request: Request, caller: Caller) -> Reply:
    """Reads the request itself."""
    body = decode(await request.body(), StatusChange)
    return Reply(body=json.dumps({"who": caller.tenant_id, "reason": body.reason}).encode())


async def test_a_surprise_is_a_500_without_its_inside(db: Database) -> None:
    world = http_world(db, more_resources=[odd])

    async with world.client() as client:
        surprise = await client.get("/api/v1/broken")
        not_set_up = await client.get("/api/v1/unset")

    assert surprise.status_code == 500
    assert surprise.json()["code"] == "internal"
    assert surprise.json()["request_id"] == surprise.headers["x-request-id"]
    assert "password" not in surprise.text
    assert (not_set_up.status_code, not_set_up.json()["detail"]) == (
        501,
        "No AI endpoint is set up; set TIDINGS_AI_URL.",
    )


async def test_a_handler_that_reads_the_request_itself_passes_the_same_guard(db: Database) -> None:
    world = http_world(db, more_resources=[raw])
    tenant = await world.tenant()

    async with world.client() as nobody, world.as_tenant(tenant.id) as client:
        refused = await nobody.post("/api/v1/raw", json={})
        wrong = await client.post("/api/v1/raw", json={"reason": 3})
        fine = await client.post("/api/v1/raw", json={"reason": "x"})

    assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
    assert wrong.json()["errors"] == [{"field": "reason", "remedy": "must be a text or null"}]
    assert (fine.status_code, fine.json()) == (202, {"who": tenant.id, "reason": "x"})
    assert fine.headers["x-request-id"]
    assert world.answered[-1].route == "/api/v1/raw"


async def test_a_real_server_stops_a_chunked_flood_and_keeps_serving(db: Database) -> None:
    world = http_world(db, more_resources=[odd], body_limit=1024)
    listener = listen("127.0.0.1", 0)
    server = HttpServer(world.app, listener=listener)
    await server.start()

    async def flood() -> Any:
        for _ in range(100):
            yield b" " * 100
            await asyncio.sleep(0)

    try:
        async with httpx2.AsyncClient(base_url=address_of(listener)) as client:
            headers = {"content-type": "application/json"}
            chunked = await client.post("/api/v1/echo", content=flood(), headers=headers)
            announced = await client.post("/api/v1/echo", content=b" " * 1025, headers=headers)
            after = await client.post("/api/v1/echo", json={"reason": "fine"})
            ready = await client.get("/readyz")
    finally:
        await server.stop()

    assert [a.status_code for a in (chunked, announced)] == [413, 413]
    assert chunked.json()["code"] == announced.json()["code"] == "body_too_large"
    assert after.json() == {"reason": "fine"}
    assert ready.json()["status"] == "ready"


def test_a_taken_port_is_one_clear_error() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(NotConfiguredError, match=f"can't listen on 127.0.0.1:{port}.*--port"):
            listen("127.0.0.1", port)
