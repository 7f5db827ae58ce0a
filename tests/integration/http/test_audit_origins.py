"""Every audit row that a request has caused says from where, without saying it to anybody else."""

import re
from typing import Any

import httpx2
import pytest

from tests.integration.router.policies.world import OTP
from tests.support.http import HttpWorld
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.http.serve import HttpServer, address_of, listen

AUDIT, ROUTER_AUDIT = "/api/v1/audit", "/api/v1/router/audit"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
BROWSER = {"user-agent": "Mozilla/5.0 (Otto)", "traceparent": PARENT}


async def make_a_key(client: httpx2.AsyncClient) -> httpx2.Response:
    return await client.post("/api/v1/api-keys", json={"name": "x", "role": "tenant.viewer"})


async def suppress(client: httpx2.AsyncClient) -> httpx2.Response:
    wish = {"channel": "email", "address": "ada@example.org", "reason": "manual"}
    return await client.post("/api/v1/suppressions", json=wish)


async def write_a_policy(client: httpx2.AsyncClient) -> httpx2.Response:
    return await client.post("/api/v1/router/policies", json=OTP)


@pytest.mark.parametrize(
    ("act", "log"), [(make_a_key, AUDIT), (suppress, AUDIT), (write_a_policy, ROUTER_AUDIT)]
)
async def test_rows_name_the_request_behind_them(world: HttpWorld, act: Any, log: str) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        client.headers.update(BROWSER)
        done = await act(client)
        assert done.status_code in (200, 201), done.text
        rows = [row for row in (await client.get(log)).json()["items"] if row["actor"] != "test"]

    assert rows
    for row in rows:
        assert row["trace_id"] == TRACE
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", row["ip_hash"])
        assert re.fullmatch(r"sha256:[0-9a-f]{64}", row["user_agent_hash"])
        assert "Otto" not in str(row)
        assert "127.0.0.1" not in str(row)


async def test_the_same_place_has_the_same_hash_within_a_tenant_only(world: HttpWorld) -> None:
    found: list[list[dict[str, Any]]] = []
    for _ in range(2):
        tenant = await world.tenant()
        async with world.as_tenant(tenant.id) as client:
            client.headers.update(BROWSER)
            await make_a_key(client)
            client.headers["user-agent"] = "curl/8"
            await make_a_key(client)
            rows = (await client.get(AUDIT, params={"entity_type": "api_key"})).json()["items"]
            found.append([row for row in rows if row["actor"] != "test"])
    (curl, otto), (curl_of_another, _) = found

    assert curl["ip_hash"] == otto["ip_hash"]
    assert curl["user_agent_hash"] != otto["user_agent_hash"]
    assert curl["ip_hash"] != curl_of_another["ip_hash"]
    assert curl["user_agent_hash"] != curl_of_another["user_agent_hash"]


async def test_that_the_platform_acted_names_its_request_too(world: HttpWorld) -> None:
    tenant = await world.tenant()
    async with world.as_platform(**BROWSER) as client:
        rows = (await client.get(AUDIT, headers={"X-Tenant-Id": tenant.id})).json()["items"]

    assert (rows[0]["action"], rows[0]["trace_id"]) == ("platform.acted", TRACE)
    assert rows[0]["ip_hash"]


async def test_nothing_is_made_up_where_no_request_is_behind_it(world: HttpWorld) -> None:
    tenant = await world.tenant()
    entry = Entry(entity_type="thing", entity_id="x", action="swept", actor="system")
    log: AuditLog = world.system.kernel.audit
    async with world.db.tenant(tenant.id) as tx:
        await log.append(tx, [entry])
        row = (await log.read_recent(tx, entity_type="thing"))[0]

    assert (row.trace_id, row.ip_hash, row.user_agent_hash) == (None, None, None)


async def test_a_proxy_is_believed_only_where_it_is_trusted(world: HttpWorld) -> None:
    """Whom a trusted proxy saw is the caller; what the caller wrote before it, or writes without one, is not."""
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)
    headers = {"authorization": f"Bearer {credential}"}
    hashes: dict[tuple[str, str], str] = {}
    for name, proxies in (("trusted", ["127.0.0.1/32"]), ("untrusted", [])):
        listener = listen("127.0.0.1", 0)
        server = HttpServer(world.app, listener=listener, trusted_proxies=proxies)
        await server.start()
        try:
            async with httpx2.AsyncClient(base_url=address_of(listener), headers=headers) as client:
                for forwarded in ("203.0.113.7", "198.51.100.1, 203.0.113.7", "203.0.113.8"):
                    client.headers["x-forwarded-for"] = forwarded
                    await make_a_key(client)
                    rows = (await client.get(AUDIT, params={"entity_type": "api_key"})).json()["items"]
                    hashes[name, forwarded] = rows[0]["ip_hash"]
        finally:
            await server.stop()

    trusted = [hash_ for (name, _), hash_ in hashes.items() if name == "trusted"]
    untrusted = {hash_ for (name, _), hash_ in hashes.items() if name == "untrusted"}
    assert trusted[0] == trusted[1] != trusted[2]
    assert len(untrusted) == 1
    assert not untrusted & set(trusted)
