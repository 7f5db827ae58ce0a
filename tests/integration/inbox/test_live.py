"""Live streams of an inbox, over SSE and WebSockets alike: what changes is told, to everybody who listens, and once."""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.support.inbox import feed, publish, send, settle, somebody, visitor
from tests.support.live_inbox import LiveProcess, by_socket, by_sse, live_process, token_of
from tests.support.pipeline import PipelineWorld, Sender

by_transport = pytest.mark.parametrize("connect", [by_socket, by_sse])


@pytest.fixture
async def process(world: PipelineWorld) -> AsyncIterator[LiveProcess]:
    async with live_process(world.system) as made:
        yield made


@pytest.fixture
async def sender(world: PipelineWorld) -> AsyncIterator[Sender]:
    async with world.sender(channels=()) as made:
        await publish(made.client)
        yield made


@by_transport
async def test_an_item_is_told_as_it_comes_and_what_becomes_of_it(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila)

    async with connect(process, token) as hearer:
        [hello] = await hearer.until_told(1, "counts")
        await send(sender, {"id": laila})
        await settle(world)
        [item] = await hearer.until_told(1, "item")
        async with visitor(sender, laila) as her:
            shown = (await feed(her))["items"][0]
            await her.post(f"/api/v1/inbox/{shown['id']}/read")
            [read] = await hearer.until_told(1, "change")
            await her.delete(f"/api/v1/inbox/{shown['id']}")
            [_, removed] = await hearer.until_told(2, "change")

    assert hello == {"type": "counts", "id": 0, "unread": 0, "unseen": 0}
    assert item["item"] == shown
    assert (item["id"], item["unread"], item["unseen"]) == (1, 1, 1)
    assert read["item"]["read_at"] is not None
    assert (read["id"], read["unread"], read["unseen"]) == (2, 0, 0)
    assert (removed["item_id"], removed["removed"], removed["id"]) == (shown["id"], True, 3)
    assert "item" not in removed


@by_transport
async def test_who_comes_back_is_told_what_was_missed_and_nothing_twice(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token, rolls = await token_of(sender, laila), random.Random(7)
    last_id: int | None = None
    heard: list[dict[str, Any]] = []
    sent = 0

    async with visitor(sender, laila) as her:
        for turn in range(12):
            async with connect(process, token, after=last_id) as hearer:
                await hearer.until(lambda it: it.heard)
                sent += await _something_happens(world, sender, laila, her, rolls)
                # Sometimes it leaves before it has heard of it.
                if rolls.random() < 0.6:
                    count = sent
                    await hearer.until(
                        lambda it, n=count, known=tuple(heard): len(_items([*known, *it.heard])) == n
                    )
            if turn == 6:
                sent += await _something_happens(world, sender, laila, her, rolls)
            heard += hearer.heard
            last_id = hearer.last_id if hearer.last_id is not None else last_id
        async with connect(process, token, after=last_id) as hearer:
            await hearer.until(lambda it: len(_items([*heard, *it.heard])) == sent and it.of("counts"))
        heard += hearer.heard
        page = await feed(her, limit=100)

    changes = [one["id"] for one in heard if one["type"] in ("item", "change")]
    assert changes == sorted(set(changes))
    assert len(_items(heard)) == sent
    states = {one["item_id"]: one["item"] for one in heard if "item" in one}
    assert {item["id"]: item for item in page["items"]} == states
    assert not [one for one in heard if one["type"] == "reset"]


async def _something_happens(
    world: PipelineWorld, sender: Sender, recipient: str, her: httpx2.AsyncClient, rolls: random.Random
) -> int:
    """Items come, and some are read; how many came."""
    count = rolls.randint(0, 3)
    for number in range(count):
        await send(sender, {"id": recipient}, title=f"A-{number}")
    await settle(world)
    for item in (await feed(her))["items"]:
        if rolls.random() < 0.3:
            await her.post(f"/api/v1/inbox/{item['id']}/{rolls.choice(['read', 'unread', 'seen'])}")
    return count


def _items(heard: list[dict[str, Any]]) -> list[str]:
    """What came, as a client understands it: an item that it did not know."""
    return list(dict.fromkeys(one["item_id"] for one in heard if one["type"] == "item"))


@by_transport
async def test_who_was_away_too_long_is_told_to_reload(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila)
    await send(sender, {"id": laila})
    await settle(world)
    async with visitor(sender, laila) as her:
        [item] = (await feed(her))["items"]
        for _ in range(60):
            for verb in ("read", "unread"):
                await her.post(f"/api/v1/inbox/{item['id']}/{verb}")
    for _ in range(101):
        await send(sender, {"id": laila})
    await settle(world)

    async with connect(process, token, after=1) as hearer:
        [reset] = await hearer.until_told(1, "reset")
    async with connect(process, token, after=10_000) as stranger:
        await stranger.until_told(1, "reset")

    assert reset == {"type": "reset", "id": 222, "unread": 102, "unseen": 101}
    assert [one["type"] for one in hearer.heard] == ["reset"]
    assert [one["type"] for one in stranger.heard] == ["reset"]


async def test_every_tab_of_a_person_hears_and_nobody_else_does(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    laila, omar = await somebody(sender), await somebody(sender)
    hers, his = await token_of(sender, laila), await token_of(sender, omar)

    async with (
        by_socket(process, hers) as one,
        by_sse(process, hers) as two,
        by_socket(process, hers, as_browser=False) as three,
        by_socket(process, his) as other,
    ):
        for hearer in (one, two, three, other):
            await hearer.until_told(1, "counts")
        await send(sender, {"id": laila})
        await settle(world)
        told = [await hearer.until_told(1, "item") for hearer in (one, two, three)]
        await send(sender, {"id": omar})
        await settle(world)
        await other.until_told(1, "item")

    assert told[0] == told[1] == told[2]
    assert len(other.of("item")) == 1
    assert other.of("item")[0]["item"]["title"] == "A-1001"


async def test_a_client_says_over_its_socket_what_was_read(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    laila = await somebody(sender)
    for _ in range(3):
        await send(sender, {"id": laila})
    await settle(world)

    async with by_socket(process, await token_of(sender, laila), after=0) as hearer:
        items = await hearer.until_told(3, "item")
        await hearer.say(read=items[0]["item_id"])
        [read] = await hearer.until_told(1, "change")
        await hearer.say(seen="all")
        await hearer.until_told(3, "change")
        await hearer.say(archive=items[1]["item_id"])
        await hearer.until_told(4, "change")
        await hearer.say(read="inb_01M7ZZZZZZZZZZZZZZZZZZZZZZ")
        [unknown] = await hearer.until_told(1, "error")
        await hearer.say(read="nonsense")
        [_, nonsense] = await hearer.until_told(2, "error")

    assert read["item_id"] == items[0]["item_id"]
    assert read["item"]["read_at"] is not None
    assert (hearer.heard[-3]["unread"], hearer.heard[-3]["unseen"]) == (1, 0)
    assert (unknown["code"], unknown["of"]) == (
        "inbox_item_not_found",
        {"read": "inb_01M7ZZZZZZZZZZZZZZZZZZZZZZ"},
    )
    assert nonsense["code"] == "bad_value"


@by_transport
async def test_two_processes_tell_the_same(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila)

    async with AsyncExitStack() as stack:
        second = await stack.enter_async_context(world.another_worker())
        elsewhere = await stack.enter_async_context(live_process(second))
        here = await stack.enter_async_context(connect(process, token))
        there = await stack.enter_async_context(connect(elsewhere, token))
        for hearer in (here, there):
            await hearer.until_told(1, "counts")
        await send(sender, {"id": laila})
        await settle(world)
        told = [await hearer.until_told(1, "item") for hearer in (here, there)]

    assert told[0] == told[1]


@by_transport
async def test_a_stream_ends_with_its_token(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila, expires_in=60)

    async with connect(process, token) as hearer:
        await hearer.until_told(1, "counts")
        await world.clock.advance(timedelta(seconds=61))
        closed = await hearer.until_over()

    if connect is by_socket:
        assert closed == (4401, "token_expired")
    else:
        assert hearer.of("end") == [{"type": "end", "reason": "token_expired"}]


@by_transport
async def test_voiding_the_tokens_of_a_person_ends_their_streams(
    process: LiveProcess, sender: Sender, world: PipelineWorld, connect: Any
) -> None:
    laila, omar = await somebody(sender), await somebody(sender)
    token, his = await token_of(sender, laila), await token_of(sender, omar)
    await world.clock.advance(timedelta(seconds=1))

    async with connect(process, token) as hearer, connect(process, his) as other:
        for one in (hearer, other):
            await one.until_told(1, "counts")
        voided = await sender.client.delete(f"/api/v1/recipients/{laila}/inbox-tokens")
        assert voided.status_code == 204, voided.text
        closed = await hearer.until_over()
        assert not other.over.is_set()

    if connect is by_socket:
        assert closed == (4401, "token_voided")
        async with by_socket(process, token) as again:
            assert await again.until_over() == (4401, "token_voided")
    else:
        async with httpx2.AsyncClient(base_url=process.url) as client:
            headers = {"Authorization": f"Bearer {token}"}
            refused = await client.get("/api/v1/inbox/stream", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated")
