"""The stream of an inbox: items as they come, the counts whenever they change, and what came while nobody listened."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld
from tidings.contracts.ids import RecipientId
from tidings.kernel.refusals import TooBusyError
from tidings.notify.inbox.desk import InboxVisitor
from tidings.notify.inbox.model import InboxKey
from tidings.notify.inbox.news import InboxNews
from tidings.notify.inbox.stream import InboxStreamer


@pytest.fixture
async def streamer(world: PipelineWorld) -> InboxStreamer:
    """The one of the API."""
    assert world.system.app is not None
    return world.system.notify.parts.get(InboxStreamer)


@asynccontextmanager
async def stream(
    world: PipelineWorld, streamer: InboxStreamer, key: InboxKey, after: int | None = None
) -> AsyncIterator[AsyncIterator[tuple[str, int, Any]]]:
    """The events: kind, id, data."""
    pieces = await streamer.open(
        lambda: world.db.tenant(key.tenant_id), InboxVisitor(key=key, since=world.clock.now()), after
    )

    async def events() -> AsyncIterator[tuple[str, int, Any]]:
        async for piece in pieces:
            for block in piece.decode().split("\n\n"):
                lines = dict(line.partition(": ")[::2] for line in block.splitlines())
                if "event" in lines:
                    yield lines["event"], int(lines.get("id", 0)), _data(lines["data"])

    try:
        yield events()
    finally:
        await pieces.aclose()


def _data(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


@asynccontextmanager
async def listening(world: PipelineWorld) -> AsyncIterator[None]:
    """Notifications of the database come through."""
    stop = asyncio.Event()
    job = asyncio.create_task(world.system.kernel.bus.wakeups.run(stop))
    try:
        await world.system.kernel.bus.wakeups.listening.wait()
        yield
    finally:
        stop.set()
        await job


async def test_items_and_counts_come_as_they_change(world: PipelineWorld, streamer: InboxStreamer) -> None:
    async with world.sender(channels=()) as sender, listening(world):
        await publish(sender.client)
        laila = await somebody(sender)
        key = InboxKey(tenant_id=sender.tenant_id, recipient_id=RecipientId(laila))
        async with stream(world, streamer, key) as events, asyncio.timeout(60):
            first = await anext(events)
            await send(sender, {"id": laila}, "one")
            await settle(world)
            item, counted = await anext(events), await anext(events)
            async with visitor(sender, laila) as her:
                await her.post(f"{HOME}/{item[2]['id']}/read")
            read = await anext(events)
        for title in ("two", "three"):
            await send(sender, {"id": laila}, title)
            await settle(world)
        async with stream(world, streamer, key, after=read[1]) as events, asyncio.timeout(60):
            missed = [await anext(events) for _ in range(3)]

    assert (first[0], first[2]) == ("counts", {"unread": 0, "unseen": 0})
    assert (item[0], item[2]["title"]) == ("item", "one")
    assert (counted[0], counted[2]) == ("counts", {"unread": 1, "unseen": 1})
    assert (read[0], read[2]) == ("counts", {"unread": 0, "unseen": 0})
    assert [(kind, data.get("title")) for kind, _, data in missed] == [
        ("item", "two"),
        ("item", "three"),
        ("counts", None),
    ]
    assert first[1] < item[1] <= counted[1] < read[1] < missed[0][1] < missed[1][1] <= missed[2][1]


async def test_a_stream_ends_with_its_token(world: PipelineWorld, streamer: InboxStreamer) -> None:
    async with world.sender(channels=()) as sender, listening(world):
        await publish(sender.client)
        laila = await somebody(sender)
        key = InboxKey(tenant_id=sender.tenant_id, recipient_id=RecipientId(laila))
        async with stream(world, streamer, key) as events, asyncio.timeout(60):
            assert (await anext(events))[0] == "counts"
            await world.clock.advance(timedelta(seconds=1))
            await sender.client.delete(f"/api/v1/recipients/{laila}/inbox-tokens")
            await send(sender, {"id": laila}, "one")
            await settle(world)
            rest = [event async for event in events]

    assert rest == [("error", 0, "unauthenticated")]


async def test_a_stream_over_http_begins_with_the_counts(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await somebody(sender)
        await send(sender, {"id": laila})
        await settle(world)
        async with visitor(sender, laila) as her:
            assert (await feed(her))["unread"] == 1
            unknown = await sender.client.get(f"{HOME}/stream")
    assert unknown.status_code == 403


async def test_so_many_listen_and_no_more(world: PipelineWorld) -> None:
    news = InboxNews(world.system.kernel.bus.wakeups, most=1)
    async with world.sender(channels=()) as sender:
        key = InboxKey(tenant_id=sender.tenant_id, recipient_id=RecipientId("rcp_01M7FH87G06QQE67ATFGNQ1BJ2"))
        with news.listening(key), pytest.raises(TooBusyError), news.listening(key):
            pass
        with news.listening(key) as called:
            stop = asyncio.Event()
            stop.set()
            await news.run(stop)
            assert called.is_set()
            assert news.stopping
