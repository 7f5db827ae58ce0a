"""The sandbox's vendors call our hooks over real HTTP: in order, out of order, twice, and with a forged signature."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import pytest

from tests.integration.router.callbacks.conftest import SECRET, CallbackWorld
from tidings.kernel.http.serve import HttpServer, address_of, listen
from tidings.kernel.ids import TenantId
from tidings.sandbox import Sandbox

VENDOR = "http_sms"


@pytest.fixture
async def hooks_url(world: CallbackWorld) -> AsyncIterator[str]:
    """Where our hooks are."""
    listener = listen("127.0.0.1", 0)
    server = HttpServer(world.http.app, listener=listener)
    await server.start()
    yield address_of(listener)
    await server.stop()


@pytest.fixture
async def sandbox(world: CallbackWorld) -> AsyncIterator[Sandbox]:
    async with Sandbox(world.clock, seed=1) as running:
        yield running


#: Each script with what stands with the attempt in the end.
TOLD = {
    "delivered": {"sent", "delivered"},
    "read": {"sent", "delivered", "delivered_read"},
    "repeated": {"sent", "delivered"},
    "out_of_order": {"sent", "delivered"},
    "unreachable": {"rejected_by_recipient"},
    "forged": set(),
    "never": set(),
}


@pytest.mark.parametrize("script", TOLD)
async def test_scripts(
    world: CallbackWorld, sandbox: Sandbox, hooks_url: str, tenant_id: TenantId, script: str
) -> None:
    """Each receipt stands with the attempt once, whatever the vendor does on the way."""
    account = await world.account(None, VENDOR)
    async with httpx2.AsyncClient(base_url=sandbox.url) as web:
        hook = {"url": f"{hooks_url}/hooks/{VENDOR}/{account}", "secret": SECRET}
        assert (await web.put(f"/hooks/{VENDOR}", json=hook)).status_code == 200
        told = await web.put(f"/scripts/{VENDOR}", json={"script": script})
        assert told.status_code == 200, told.text
        sent = await web.post(
            f"/vendors/{VENDOR}/messages",
            json={"channel": "sms", "to": "+93700123456", "from": "Shop", "text": "hello"},
        )
        attempt = await world.attempt(tenant_id, account, vendor=VENDOR, message_id=sent.json()["id"])
    for _ in range(60):
        await world.clock.advance(timedelta(seconds=1))
        async with asyncio.timeout(20):
            await sandbox.postman.settled()

    await world.job().drain()

    receipts = await world.receipts(tenant_id)
    assert sorted(row["status"] for row in receipts) == sorted(TOLD[script])
    assert {row["attempt_id"] for row in receipts} <= {attempt.id}
    assert [row["status"] for row in await world.events()] == ["applied"] * len(receipts)
