"""What live streams refuse, when they end, and who is known to be online."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect as open_socket
from websockets.exceptions import InvalidStatus
from websockets.typing import Subprotocol

from tests.support.inbox import publish, send, settle, somebody
from tests.support.live_inbox import DEADLINE, LiveProcess, by_socket, by_sse, live_process, token_of
from tests.support.pipeline import PipelineWorld, Sender
from tidings.contracts.ids import RECIPIENT

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


@pytest.fixture
def limits(world: PipelineWorld) -> Iterator[Any]:
    """Sets other limits for one test."""
    hub = world.system.inbox.live
    before = hub.limits

    def change(**limits: Any) -> None:
        hub.limits = replace(hub.limits, **limits)

    yield change
    hub.limits = before


async def _stream_status(process: LiveProcess, token: str, **headers: str) -> tuple[int, dict[str, Any], Any]:
    async with httpx2.AsyncClient(base_url=process.url) as client:
        asked = {"Authorization": f"Bearer {token}"} | headers
        answer = await client.get("/api/v1/inbox/stream", headers=asked)
    return answer.status_code, answer.json(), answer.headers


@pytest.mark.parametrize("limit", ["most_of_a_person", "most_of_a_tenant", "most"])
async def test_a_stream_too_many_is_refused_with_what_to_do(
    process: LiveProcess, sender: Sender, limits: Any, limit: str
) -> None:
    token = await token_of(sender, await somebody(sender))
    limits(**{limit: 1})

    async with by_socket(process, token) as first:
        await first.until_told(1, "counts")
        status, problem, headers = await _stream_status(process, token)
        async with by_socket(process, token) as second:
            code, reason = await second.until_over() or (None, "")
        still_open = not first.over.is_set()
    async with by_sse(process, token) as again:
        await again.until_told(1, "counts")

    assert (status, problem["code"], headers["retry-after"]) == (429, "too_many_inbox_streams", "30")
    assert code == 4429
    assert reason.startswith("too_many_inbox_streams: 1 ")
    assert still_open


async def test_a_silent_stream_is_given_signs_of_life(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    token = await token_of(sender, await somebody(sender))

    async with by_socket(process, token) as one, by_sse(process, token) as two:
        for hearer in (one, two):
            await hearer.until_told(1, "counts")
        await world.clock.advance(timedelta(seconds=21))
        for hearer in (one, two):
            await hearer.until(lambda it: it.beats == 1)
        await world.clock.advance(timedelta(seconds=21))
        for hearer in (one, two):
            await hearer.until(lambda it: it.beats == 2)


async def test_a_client_that_takes_nothing_is_told_to_reload_and_then_let_go(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    laila, hub = await somebody(sender), world.system.inbox.live
    woken = asyncio.Event()
    key = await _key(world, process, await token_of(sender, laila))
    listener = hub.join(key, transport="sse", since=None, until=None, after=None, wake=woken.set)

    for _ in range(3):
        for _ in range(90):
            await send(sender, {"id": laila})
        await settle(world)
        async with asyncio.timeout(DEADLINE):
            while listener.position != await _latest(world, key):
                await asyncio.sleep(0.01)
    waiting = listener.waiting
    await world.clock.advance(timedelta(seconds=61))
    async with asyncio.timeout(DEADLINE):
        while listener.ended is None:
            await asyncio.sleep(0.01)
    frames = listener.take()
    hub.leave(listener)

    assert waiting <= 200
    assert "reset" in [frame.kind for frame in frames]
    assert listener.ended == "too_slow"


async def _key(world: PipelineWorld, process: LiveProcess, token: str) -> Any:
    async with by_socket(process, token) as hearer:
        await hearer.until_told(1, "counts")
        [listener] = list(world.system.inbox.live.listeners())
        return listener.key


async def _latest(world: PipelineWorld, key: Any) -> int:
    async with world.db.tenant(key.tenant_id) as tx:
        found = await tx.connection.fetchval(
            "SELECT latest FROM notification.inboxes WHERE recipient_id = $1 AND NOT is_test",
            key.recipient_id,
        )
    return int(found)


@by_transport
async def test_a_suspended_tenant_and_an_erased_person_hear_no_more(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    laila, omar = await somebody(sender), await somebody(sender)
    hers, his = await token_of(sender, laila), await token_of(sender, omar)
    await world.clock.advance(timedelta(seconds=1))

    async with connect(process, hers) as erased, connect(process, his) as suspended:
        for hearer in (erased, suspended):
            await hearer.until_told(1, "counts")
        gone = await sender.client.post(f"/api/v1/recipients/{laila}/erase", json={"reason": "asked for it"})
        assert gone.status_code < 300, gone.text
        first = await erased.until_over()
        async with world.http.as_platform() as operator:
            done = await operator.post(
                f"/internal/v1/tenants/{sender.tenant_id}/suspend", json={"reason": "unpaid"}
            )
            assert done.status_code < 300, done.text
        second = await suspended.until_over()

    if connect is by_socket:
        assert (first, second) == ((4401, "token_voided"), (4403, "tenant_closed"))
    else:
        assert [one["reason"] for one in (*erased.of("end"), *suspended.of("end"))] == [
            "token_voided",
            "tenant_closed",
        ]


async def test_streams_of_a_frozen_tenant_go_on_and_say_why_nothing_is_changed(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    token = await token_of(sender, await somebody(sender))

    async with by_socket(process, token) as hearer, world.http.as_platform() as operator:
        await hearer.until_told(1, "counts")
        path = f"/internal/v1/tenants/{sender.tenant_id}/freeze"
        frozen = await operator.post(path, json={"reason": "looked into"})
        assert frozen.status_code < 300, frozen.text
        await hearer.say(read="all")
        [refused] = await hearer.until_told(1, "error")
        async with by_sse(process, token) as other:
            await other.until_told(1, "counts")
        still_open = not hearer.over.is_set()

    assert (refused["code"], refused["of"]) == ("tenant_frozen", {"read": "all"})
    assert still_open


@by_transport
async def test_a_token_that_was_being_made_during_an_erasure_opens_nothing(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    """Its maker has read before that the person is there; it is sealed when they are gone."""
    laila = await somebody(sender)
    gone = await sender.client.post(f"/api/v1/recipients/{laila}/erase", json={"reason": "asked for it"})
    assert gone.status_code < 300, gone.text
    # Voiding once more makes it no weaker.
    await sender.client.delete(f"/api/v1/recipients/{laila}/inbox-tokens")
    await world.clock.advance(timedelta(seconds=5))
    late = await world.system.inbox.tokens.make(
        sender.tenant_id,
        RECIPIENT.parse(laila),
        is_test=False,
        until=world.clock.now() + timedelta(hours=1),
    )
    async with world.http.client(late.text) as her:
        asked = [
            (await her.get(f"/api/v1/inbox{path}")).status_code for path in ("", "/counts", "/preferences")
        ]

    if connect is by_socket:
        async with by_socket(process, late.text) as hearer:
            assert await hearer.until_over() == (4401, "token_voided")
    else:
        assert (await _stream_status(process, late.text))[0] == 401
    assert asked == [401, 401, 401]


@by_transport
async def test_what_expires_while_somebody_looks_is_told_as_gone(
    world: PipelineWorld, process: LiveProcess, sender: Sender, connect: Any
) -> None:
    until = (world.clock.now() + timedelta(minutes=5)).isoformat()
    await publish(sender.client, "offer", document={"title": "{{title}}", "expires_at": until})
    laila = await somebody(sender)

    async with connect(process, await token_of(sender, laila)) as hearer:
        await hearer.until_told(1, "counts")
        await send(sender, {"id": laila}, template="offer")
        await settle(world)
        [came] = await hearer.until_told(1, "item")
        await world.clock.advance(timedelta(minutes=6))
        await world.system.inbox.due.drain()
        [gone] = await hearer.until_told(1, "change")

    assert (gone["item_id"], gone["removed"], gone["unread"]) == (came["item_id"], True, 0)


@by_transport
async def test_when_the_process_ends_streams_are_sent_elsewhere(
    world: PipelineWorld, sender: Sender, connect: Any
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila)

    async with live_process(world.system) as process, connect(process, token) as hearer:
        await hearer.until_told(1, "counts")
        process.stop.set()
        closed = await hearer.until_over()
    shown = (await sender.client.get(f"/api/v1/recipients/{laila}/presence")).json()

    if connect is by_socket:
        assert closed == (1012, "restarting")
    else:
        assert hearer.of("end") == [{"type": "end", "reason": "restarting"}]
        assert len(hearer.retries) == 2
    assert shown == {"online": False, "streams": []}


async def test_what_is_not_understood_ends_a_socket_with_a_code(process: LiveProcess, sender: Sender) -> None:
    token = await token_of(sender, await somebody(sender))
    closes = []
    for said in (b"\x00\x01", "no JSON", '{"read":"a","seen":"b"}', "{}", json.dumps({"read": "x" * 5000})):
        async with by_socket(process, token) as hearer:
            await hearer.until_told(1, "counts")
            assert hearer.socket is not None
            await hearer.socket.send(said)
            closes.append((await hearer.until_over() or (None, ""))[0])

    assert closes == [1003, 4400, 4400, 4400, 1009]


async def test_a_socket_without_a_good_token_is_refused_and_no_token_stands_in_an_address(
    process: LiveProcess, sender: Sender
) -> None:
    laila = await somebody(sender)
    token = await token_of(sender, laila)
    async with by_socket(process, "tdi_" + "A" * 80) as browser:
        in_browser = await browser.until_over()
    refused: list[tuple[int, str]] = []
    shown: list[str] = []
    for url, headers in (
        (process.socket_url, {}),
        (process.socket_url, {"Authorization": "Bearer tdi_" + "A" * 80}),
        (process.socket_url, {"Authorization": sender.client.headers["Authorization"]}),
        (f"{process.socket_url}?token={token}", {}),
        (f"{process.socket_url}?after=x", {"Authorization": f"Bearer {token}"}),
        (process.socket_url.replace("/ws", "/nowhere"), {"Authorization": f"Bearer {token}"}),
    ):
        try:
            async with open_socket(url, additional_headers=headers) as socket:
                await socket.wait_closed()
                refused.append((socket.close_code or 0, ""))
        except InvalidStatus as error:
            problem = json.loads(error.response.body or b"{}")
            refused.append((error.response.status_code, problem["code"]))
            shown.append((error.response.body or b"").decode())
    stream = await _stream_status(process, "tdi_" + "A" * 80)

    assert in_browser == (4401, "unauthenticated")
    assert token not in "".join(shown)
    assert refused == [
        (401, "unauthenticated"),
        (401, "unauthenticated"),
        (403, "not_allowed"),
        (400, "bad_value"),
        (4400, ""),
        (404, "no_route"),
    ]
    assert stream[0] == 401


async def test_a_page_of_another_origin_needs_a_token_as_any_other_and_cookies_mean_nothing(
    process: LiveProcess, sender: Sender
) -> None:
    token = await token_of(sender, await somebody(sender))
    strange = {"Origin": "https://strange.example", "Cookie": f"token={token}; session={token}"}

    with pytest.raises(InvalidStatus) as refused:
        async with open_socket(process.socket_url, additional_headers=strange):
            pass
    spoken = [Subprotocol("tidings.inbox"), Subprotocol(token)]
    async with open_socket(process.socket_url, additional_headers=strange, subprotocols=spoken) as socket:
        first = json.loads(await socket.recv())

    assert refused.value.response.status_code == 401
    assert socket.subprotocol == "tidings.inbox"
    assert token not in str(socket.response.headers if socket.response else "")
    assert first["type"] == "counts"


async def test_a_bad_last_event_id_is_named(process: LiveProcess, sender: Sender) -> None:
    token = await token_of(sender, await somebody(sender))

    status, problem, _ = await _stream_status(process, token, **{"Last-Event-ID": "yesterday"})

    assert (status, problem["errors"][0]["field"]) == (400, "Last-Event-ID")


async def test_who_has_the_inbox_open_is_known_and_forgotten(
    world: PipelineWorld, process: LiveProcess, sender: Sender
) -> None:
    laila = await somebody(sender)
    token, path = await token_of(sender, laila), f"/api/v1/recipients/{laila}/presence"

    async def presence(count: int) -> dict[str, Any]:
        async with asyncio.timeout(DEADLINE):
            while True:
                shown: dict[str, Any] = (await sender.client.get(path)).json()
                if len(shown["streams"]) == count:
                    return shown
                await asyncio.sleep(0.05)

    none = await presence(0)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(by_socket(process, token))
        await presence(1)
        await stack.enter_async_context(by_sse(process, token))
        two = await presence(2)
        await world.clock.advance(timedelta(seconds=45))
        await asyncio.wait_for(world.system.inbox.live.tick(), DEADLINE)
        await world.clock.advance(timedelta(seconds=45))
        renewed = (await sender.client.get(path)).json()
    gone = await presence(0)
    unknown = await sender.client.get("/api/v1/recipients/rcp_01M7ZZZZZZZZZZZZZZZZZZZZZZ/presence")

    assert none == gone == {"online": False, "streams": []}
    assert sorted(one["transport"] for one in two["streams"]) == ["sse", "ws"]
    assert len({one["process"] for one in two["streams"]}) == 1
    assert renewed["online"]
    assert unknown.status_code == 404


async def test_a_ladder_goes_by_who_has_the_inbox_open(world: PipelineWorld, process: LiveProcess) -> None:
    async with world.sender(channels=("sms",)) as sender:
        await publish(sender.client)
        await publish(sender.client, channel="sms", source={"format": "text", "body": "{{title}}"})
        ladder = [
            {"channel": "inapp", "deadline_seconds": 600, "conditions": {"online": True}},
            {"channel": "sms", "deadline_seconds": 600, "conditions": {"online": False}},
        ]
        policy = {"use_case": "txn", "ladder": ladder}
        made = await sender.client.post("/api/v1/router/policies", json=policy)
        assert made.status_code == 201, made.text
        there, away = await somebody(sender, "+4915123400011"), await somebody(sender, "+4915123400012")

        async with by_socket(process, await token_of(sender, there)) as hearer:
            await hearer.until_told(1, "counts")
            await asyncio.wait_for(world.system.inbox.live.tick(), DEADLINE)
            sent = [await send(sender, {"id": one}, channel="auto") for one in (there, away)]
            await settle(world)
            await hearer.until_told(1, "item")
        told = [await sender.explain(one) for one in sent]

    assert world.received("+4915123400011") == []
    assert len(world.received("+4915123400012")) == 1
    assert "condition_online" in json.dumps(told[1])
