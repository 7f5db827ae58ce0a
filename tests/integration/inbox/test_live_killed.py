"""A process that serves live streams is killed: its clients lose nothing at another one, and are not online there for long."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import httpx2
import pytest

from tests.support.free_port import free_port
from tests.support.inbox import publish, send, settle, somebody
from tests.support.live_inbox import DEADLINE, LiveProcess, by_socket, live_process, token_of
from tests.support.pipeline import PipelineWorld, pipeline_world, prepared_database
from tests.support.postgres import TestServer
from tests.support.running import clean_environment
from tidings.kernel.clock import SystemClock


@pytest.fixture(scope="module")
async def world(server: TestServer, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[PipelineWorld]:
    """A world at the present moment, as the process that is killed has no other."""
    now = SystemClock().now()
    async with (
        prepared_database(server, tmp_path_factory.mktemp("killed"), now, now + timedelta(days=31)) as made,
        pipeline_world(made, now) as opened,
    ):
        yield opened


@asynccontextmanager
async def _another_process(world: PipelineWorld) -> AsyncIterator[tuple[LiveProcess, int]]:
    """`tidings serve` over the same database, and its process id."""
    port = free_port()
    environment = clean_environment(
        TIDINGS_DATA_DIR=str(world.folder),
        TIDINGS_DATABASE_URL=world.database.runtime_url,
        TIDINGS_OWNER_DATABASE_URL=world.database.owner_url,
        TIDINGS_PORT=str(port),
        PYTHONPATH=os.environ.get("PYTHONPATH", ""),
    )
    quiet = asyncio.subprocess.DEVNULL
    serving = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tidings", "serve", env=environment, stdout=quiet, stderr=quiet
    )
    url = f"http://127.0.0.1:{port}"
    try:
        async with httpx2.AsyncClient(base_url=url) as client, asyncio.timeout(DEADLINE):
            while True:
                try:
                    await client.get("/healthz")
                    break
                except httpx2.TransportError:
                    assert serving.returncode is None, "it has ended"
                    await asyncio.sleep(0.05)
        yield LiveProcess(system=world.system, url=url, stop=asyncio.Event()), serving.pid
    finally:
        if serving.returncode is None:
            with suppress(ProcessLookupError):
                serving.kill()
        await serving.wait()


async def test_what_comes_while_a_process_is_killed_is_told_by_another(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender, _another_process(world) as (doomed, pid):
        await publish(sender.client)
        laila = await somebody(sender)
        token, path = await token_of(sender, laila), f"/api/v1/recipients/{laila}/presence"

        async with by_socket(doomed, token) as hearer:
            await hearer.until_told(1, "counts")
            await send(sender, {"id": laila}, "first")
            await settle(world)
            await hearer.until_told(1, "item")
            async with asyncio.timeout(DEADLINE):
                while not (await sender.client.get(path)).json()["online"]:
                    await asyncio.sleep(0.05)
            os.kill(pid, signal.SIGKILL)
            await hearer.until_over()
        for title in ("second", "third"):
            await send(sender, {"id": laila}, title)
        await settle(world)
        async with live_process(world.system) as other:
            async with by_socket(other, token, after=hearer.last_id) as again:
                await again.until_told(1, "counts")
            left = (await sender.client.get(path)).json()
            await world.clock.advance(timedelta(minutes=3))
            forgotten = (await sender.client.get(path)).json()

    assert sorted(one["item"]["title"] for one in again.of("item")) == ["second", "third"]
    assert [one["type"] for one in again.heard] == ["item", "item", "counts"]
    assert left["online"]
    assert forgotten == {"online": False, "streams": []}
