"""`GET /api/v1/events`: what happened, heard outside: by pages, by a long poll, by a stream, from a place that is kept."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from tests.support.bus import DEADLINE
from tests.support.cloud_events import cloud_event
from tests.support.http import HttpWorld
from tidings.kernel.bus import SubjectFilter
from tidings.kernel.clock import SystemClock
from tidings.kernel.http import answers as answering
from tidings.kernel.http.serve import HttpServer, address_of, listen
from tidings.kernel.postgres_bus.feed import read_cursor, write_cursor
from tidings.notify.event_feed import read as reading
from tidings.notify.event_feed import routes as feed_routes
from tidings.notify.event_feed.read import FeedReader, Wanted
from tidings.notify.event_feed.stream import stream

PATH = "/api/v1/events"


async def relay(world: HttpWorld) -> None:
    jobs: Any = world.system.jobs()
    await jobs["relay_notification"].drain()


async def happened(world: HttpWorld, client: httpx2.AsyncClient, *ids: str) -> list[str]:
    """Send events, and have them on the bus; our ids of them."""
    sent = [(await client.post(PATH, json=cloud_event(id=id_))).json()["id"] for id_ in ids]
    await relay(world)
    return sent


async def page(client: httpx2.AsyncClient, **query: Any) -> dict[str, Any]:
    answer = await client.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids_of(found: dict[str, Any]) -> list[str]:
    return [event["data"]["event_id"] for event in found["events"] if "event_id" in event["data"]]


async def test_what_happened_is_read_page_by_page(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        sent = await happened(world, client, "a", "b", "c")
        first = await page(client, types="event.received.v1", limit=2)
        second = await page(client, types="event.received.v1", limit=2, after=first["next_cursor"])
        none = await page(client, types="event.received.v1", after=second["next_cursor"])
        more = await happened(world, client, "d")
        third = await page(client, types="event.*.v1,no.such.v1", after=none["next_cursor"])

    assert [ids_of(one) for one in (first, second, none, third)] == [sent[:2], sent[2:], [], more]
    event = first["events"][0]
    assert {name: event[name] for name in ("specversion", "source", "type", "tenantid", "partitionkey")} == {
        "specversion": "1.0",
        "source": "/tidings/notify",
        "type": "event.received.v1",
        "tenantid": tenant.id,
        "partitionkey": "/hotels/kabul reservation-1",
    }


async def test_a_tenant_hears_nothing_of_another(world: HttpWorld) -> None:
    here, there = await world.tenant(), await world.tenant()

    async with world.as_tenant(here.id) as mine, world.as_tenant(there.id) as theirs:
        sent = await happened(world, mine, "a")
        await happened(world, theirs, "b")
        heard = await page(mine, limit=500)
        borrowed = await page(
            theirs, after=(await page(mine, after="beginning", limit=1))["next_cursor"], limit=500
        )
        async with world.as_platform(**{"X-Tenant-Id": here.id}) as acting:
            acted = await page(acting, limit=500)

    assert {event["tenantid"] for event in heard["events"]} == {here.id}
    assert {event["tenantid"] for event in borrowed["events"]} == {there.id}
    assert ids_of(heard) == ids_of(acted) == sent


async def test_a_test_key_hears_of_tests_alone(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with (
        world.as_tenant(tenant.id) as live,
        world.as_tenant(tenant.id, environment="test") as test,
    ):
        [real] = await happened(world, live, "a")
        [played] = await happened(world, test, "a")
        heard = [ids_of(await page(client, limit=500)) for client in (live, test)]
        types = {event["type"] for event in (await page(test, limit=500))["events"]}

    assert heard == [[real, played], [played]]
    assert types == {"event.received.v1"}


async def test_who_waits_is_answered_when_it_happens(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client, asyncio.timeout(DEADLINE):
        now = (await page(client, after="now"))["next_cursor"]
        waiting = asyncio.create_task(page(client, after=now, wait=30))
        await _somebody_listens(world)
        sent = await happened(world, client, "a")

        assert ids_of(await waiting) == sent
    assert not feed_of(world)._waiting


async def test_who_waits_in_vain_gets_an_empty_page_and_a_cursor(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        found = await page(client, after="now", wait=1)

    assert found["events"] == []
    assert found["next_cursor"]


async def test_a_caller_who_hangs_up_waits_no_longer(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)

    async with (
        _connection(world, f"{PATH}?after=now&wait=30", credential) as opened,
        asyncio.timeout(DEADLINE),
    ):
        await _somebody_listens(world)
        opened.hang_up()
        await opened.over.wait()

    assert not feed_of(world)._waiting


async def test_so_many_wait_and_no_more(world: HttpWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = await world.tenant()
    monkeypatch.setattr(reading, "MOST_OF_A_TENANT", 1)

    async with world.as_tenant(tenant.id) as client:
        waiting = asyncio.create_task(client.get(PATH, params={"after": "now", "wait": 30}))
        await _somebody_listens(world)
        refused = await client.get(PATH, params={"after": "now", "wait": 1})
        at_once = await client.get(PATH, params={"after": "now"})
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    assert (refused.status_code, refused.json()["code"]) == (429, "too_many_listeners")
    assert at_once.status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"after": "nonsense"}, "after"),
        ({"after": "p1.1"}, "after"),
        ({"types": "a..b"}, "types"),
        ({"types": "Notification.*"}, "types"),
        ({"limit": "0"}, "limit"),
        ({"limit": "501"}, "limit"),
        ({"wait": "31"}, "wait"),
        ({"reader": "Not A Name"}, "name"),
        ({"unknown": "1"}, "unknown"),
    ],
)
async def test_what_is_asked_wrong_is_named(world: HttpWorld, query: dict[str, str], field: str) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.get(PATH, params=query)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field), answer.text


async def test_a_cursor_that_is_too_old_is_gone_with_a_remedy(world: HttpWorld) -> None:
    tenant = await world.tenant()
    long_ago = SystemClock().now() - timedelta(days=9)

    async with world.as_tenant(tenant.id) as client:
        now = read_cursor((await page(client, after="now"))["next_cursor"])
        cursor = write_cursor(replace(now, published_at=long_ago))
        await client.put(f"{PATH}/readers/crm", json={})
        async with world.db.tenant(tenant.id) as tx:
            await tx.connection.execute("UPDATE notification.event_readers SET cursor = $1", cursor)
        answers = [
            await client.get(PATH, params={"after": cursor}),
            await client.get(PATH, params={"reader": "crm"}),
            await client.get(f"{PATH}/stream", params={"after": cursor}),
            await client.put(f"{PATH}/readers/crm", json={"after": cursor}),
        ]
        mended = await client.put(f"{PATH}/readers/crm", json={"after": "beginning"})

    assert {(one.status_code, one.json()["code"]) for one in answers} == {(410, "events_expired")}
    assert "after=beginning" in answers[0].json()["detail"]
    assert mended.status_code == 200


async def test_a_reader_comes_back_to_its_place(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with (
        world.as_tenant(tenant.id, scopes=["events:read"]) as reader,
        world.as_tenant(tenant.id) as sender,
    ):
        made = await reader.put(f"{PATH}/readers/crm", json={"after": "now", "types": ["event.received.v1"]})
        sent = await happened(world, sender, "a", "b", "c")
        first = await page(reader, reader="crm", limit=2)
        again = await page(reader, reader="crm", limit=2)
        moved = await reader.put(f"{PATH}/readers/crm", json={"after": first["next_cursor"]})
        rest = await page(reader, reader="crm")
        listed = (await reader.get(f"{PATH}/readers")).json()["items"]
        shown = (await reader.get(f"{PATH}/readers/crm")).json()
        both = await reader.get(PATH, params={"reader": "crm", "after": "now"})
        deleted = await reader.delete(f"{PATH}/readers/crm")
        gone = [await reader.get(PATH, params={"reader": "crm"}), await reader.get(f"{PATH}/readers/crm")]

    assert made.status_code == 200, made.text
    assert ids_of(first) == ids_of(again) == sent[:2]
    assert ids_of(rest) == sent[2:]
    assert moved.json()["after"] == shown["after"] == first["next_cursor"]
    assert shown["types"] == ["event.received.v1"]
    assert [one["name"] for one in listed] == ["crm"]
    assert (both.status_code, both.json()["errors"][0]["field"]) == (400, "after")
    assert deleted.status_code == 204
    assert {(one.status_code, one.json()["code"]) for one in gone} == {(404, "event_reader_not_found")}


async def test_who_only_looks_moves_no_reader(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with (
        world.as_tenant(tenant.id) as client,
        world.as_tenant(tenant.id, role="tenant.viewer") as viewer,
    ):
        await client.put(f"{PATH}/readers/crm", json={})
        looked = await viewer.get(PATH, params={"reader": "crm"})
        moved = await viewer.put(f"{PATH}/readers/crm", json={"after": "now"})
        deleted = await viewer.delete(f"{PATH}/readers/crm")

    assert looked.status_code == 200
    assert (moved.status_code, moved.json()["code"]) == (403, "not_permitted")
    assert deleted.status_code in (403, 404)
    async with world.as_tenant(tenant.id) as client:
        assert (await client.get(f"{PATH}/readers/crm")).status_code == 200


async def test_readers_of_other_tenants_and_environments_are_apart(world: HttpWorld) -> None:
    here, there = await world.tenant(), await world.tenant()

    async with (
        world.as_tenant(here.id) as mine,
        world.as_tenant(here.id, environment="test") as test,
        world.as_tenant(there.id) as theirs,
    ):
        await mine.put(f"{PATH}/readers/crm", json={})
        seen = [await one.get(f"{PATH}/readers/crm") for one in (mine, test, theirs)]
        taken = await test.put(f"{PATH}/readers/crm", json={})
        own = await theirs.put(f"{PATH}/readers/crm", json={})

    assert [one.status_code for one in seen] == [200, 404, 404]
    assert (taken.status_code, own.status_code) == (404, 200)


async def test_a_tenant_has_so_many_readers_and_no_more(
    world: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await world.tenant()
    monkeypatch.setattr(feed_routes, "MOST_READERS", 2)

    async with world.as_tenant(tenant.id) as client:
        answers = [await client.put(f"{PATH}/readers/{name}", json={}) for name in ("a", "b", "c", "a")]

    assert [one.status_code for one in answers] == [200, 200, 409, 200]


async def test_a_stream_brings_events_as_they_come_and_is_taken_up_again(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)
    path = f"{PATH}/stream?types=event.received.v1"

    async with world.as_tenant(tenant.id) as client, asyncio.timeout(DEADLINE):
        async with _connection(world, path, credential) as opened:
            await _somebody_listens(world)
            sent = await happened(world, client, "a", "b")
            first = await opened.blocks(2)
            opened.hang_up()
            await opened.over.wait()
        missed = await happened(world, client, "c")
        async with _connection(world, path, credential, {"last-event-id": first[0]["id"]}) as again:
            rest = await again.blocks(2)

    assert opened.status == 200
    assert opened.headers["content-type"].startswith("text/event-stream")
    assert [json.loads(one["data"])["data"]["event_id"] for one in first] == sent
    assert {one["event"] for one in first} == {"event.received.v1"}
    assert [json.loads(one["data"])["data"]["event_id"] for one in rest] == [sent[1], *missed]
    assert not feed_of(world)._waiting


async def test_over_a_real_connection_events_come_one_by_one_and_all_waiting_ends_with_the_process(
    world: HttpWorld,
) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)
    listener, stop = listen("127.0.0.1", 0), asyncio.Event()
    server = HttpServer(world.app, listener=listener, drain_seconds=60)
    await server.start()
    ending = asyncio.create_task(world.system.events.api_jobs()["event_feed"].run(stop))
    headers = {"Authorization": f"Bearer {credential}"}
    heard: list[bytes] = []

    async with (
        asyncio.timeout(DEADLINE),
        httpx2.AsyncClient(base_url=address_of(listener), headers=headers, timeout=60) as client,
        client.stream("GET", f"{PATH}/stream?types=event.received.v1") as streaming,
    ):
        pieces = streaming.aiter_raw()
        await _somebody_listens(world)
        waiting = asyncio.create_task(client.get(PATH, params={"after": "now", "wait": 30}))
        for id_ in ("a", "b"):
            [sent] = await happened(world, client, id_)
            while sent.encode() not in b"".join(heard):
                heard.append(await anext(pieces))
        assert (await waiting).json()["events"]
        waiting = asyncio.create_task(client.get(PATH, params={"after": "now", "wait": 30}))
        while len(feed_of(world)._waiting) < 2:
            await asyncio.sleep(0.005)
        stop.set()
        assert (await waiting).json()["events"] == []
        async for piece in pieces:
            heard.append(piece)
        await server.stop()
        await ending


async def test_a_stream_shows_that_it_lives_and_ends(world: HttpWorld) -> None:
    tenant = await world.tenant()
    feed = world.system.kernel.bus.feed
    wanted = Wanted(
        tenant_id=tenant.id,
        types=SubjectFilter(["event.received.v1"]),
        tests_only=False,
        after=await feed.cursor("now"),
        limit=10,
    )
    pieces = [
        piece
        async for piece in await stream(FeedReader(feed=feed), always, wanted, heartbeat=0.01, longest=0.1)
    ]

    assert pieces[0] == b"retry: 1000\n\n"
    assert pieces[1].startswith(b": still here\nid: ")


async def always() -> None:
    """Whoever listens may."""


async def test_a_stream_with_much_behind_it_brings_all_of_it_at_once(world: HttpWorld) -> None:
    tenant = await world.tenant()
    feed = world.system.kernel.bus.feed
    async with world.as_tenant(tenant.id) as client:
        begins = await feed.cursor("now")
        sent = await happened(world, client, "a", "b", "c", "d", "e")
    wanted = Wanted(
        tenant_id=tenant.id,
        types=SubjectFilter(["event.received.v1"]),
        tests_only=False,
        after=begins,
        limit=2,
    )

    pieces = await stream(FeedReader(feed=feed), always, wanted, heartbeat=3600)
    body = b""
    async with asyncio.timeout(DEADLINE):
        while sent[-1].encode() not in body:
            body += await anext(pieces)
    await pieces.aclose()

    assert all(id_.encode() in body for id_ in sent)
    assert b"still here" not in body


async def test_a_stream_too_many_is_refused_before_it_begins(
    world: HttpWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)
    monkeypatch.setattr(reading, "MOST_OF_A_TENANT", 1)

    async with asyncio.timeout(DEADLINE):
        async with _connection(world, f"{PATH}/stream", credential) as first:
            await _somebody_listens(world)
            async with _connection(world, f"{PATH}/stream", credential) as second:
                await second.over.wait()
        async with _connection(world, f"{PATH}/stream", credential) as third:
            await _somebody_listens(world)

    assert (second.status, json.loads(second.body)["code"]) == (429, "too_many_listeners")
    assert (first.status, third.status) == (200, 200)
    assert not feed_of(world)._waiting


async def test_who_hangs_up_before_the_first_piece_listens_no_longer(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)

    async with asyncio.timeout(DEADLINE):
        async with _connection(world, f"{PATH}/stream", credential) as opened:
            opened.hang_up()
            await opened.over.wait()

    assert not feed_of(world)._waiting


async def test_who_takes_nothing_listens_no_longer(world: HttpWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)
    monkeypatch.setattr(answering, "PATIENCE", 0.05)

    async with asyncio.timeout(DEADLINE):
        async with _connection(world, f"{PATH}/stream", credential) as opened:
            opened.takes.clear()
            await opened.over.wait()

    assert not feed_of(world)._waiting


async def test_a_stream_of_a_tenant_that_is_suspended_ends(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)

    async with (
        world.as_platform() as platform,
        asyncio.timeout(DEADLINE),
        _connection(world, f"{PATH}/stream", credential) as opened,
    ):
        await _somebody_listens(world)
        await platform.post(f"/internal/v1/tenants/{tenant.id}/suspend")
        await relay(world)
        await opened.over.wait()

    assert b"event: error\ndata: tenant_suspended\n\n" in opened.body


async def test_a_stream_may_begin_where_a_reader_stands(world: HttpWorld) -> None:
    tenant = await world.tenant()
    _, credential = await world.key(tenant.id)

    async with world.as_tenant(tenant.id) as client, asyncio.timeout(DEADLINE):
        await client.put(f"{PATH}/readers/crm", json={"after": "now", "types": ["event.>"]})
        sent = await happened(world, client, "a")
        async with _connection(world, f"{PATH}/stream?reader=crm", credential) as opened:
            [block] = await opened.blocks(1)

    assert json.loads(block["data"])["data"]["event_id"] == sent[0]


async def test_what_tidings_does_is_heard_without_addresses(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        made = await client.post(
            "/api/v1/suppressions",
            json={"channel": "email", "address": "laila@example.test", "reason": "manual"},
        )
        await relay(world)
        found = await page(client, types="suppression.>")

    assert [event["data"]["suppression_id"] for event in found["events"]] == [made.json()["id"]]
    assert "laila" not in json.dumps(found)


class _Connection:
    """A request to the application, whose answer is read as it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.over = asyncio.Event()
        #: Unset: it takes no piece of the answer.
        self.takes = asyncio.Event()
        self.takes.set()
        self._came = asyncio.Event()
        self._left = asyncio.Event()

    def hang_up(self) -> None:
        self._left.set()

    async def receive(self) -> dict[str, Any]:
        if not getattr(self, "_asked", False):
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            await self.takes.wait()
            self.body += message.get("body", b"")
        self._came.set()

    async def blocks(self, count: int) -> list[dict[str, str]]:
        """The first so many events of a stream."""
        while True:
            self._came.clear()
            parts = [
                dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
                for block in self.body.decode().split("\n\n")[:-1]
            ]
            found = [part for part in parts if "data" in part]
            if len(found) >= count:
                return found[:count]
            await self._came.wait()


@asynccontextmanager
async def _connection(
    world: HttpWorld, target: str, credential: str, headers: dict[str, str] | None = None
) -> AsyncIterator[_Connection]:
    connection = _Connection()
    path, _, query = target.partition("?")
    given = {"authorization": f"Bearer {credential}", **(headers or {})}
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
        "scheme": "http",
        "server": ("tidings.test", 80),
    }

    async def answer() -> None:
        await world.app(scope, connection.receive, connection.send)
        connection.over.set()

    task = asyncio.create_task(answer())
    try:
        yield connection
    finally:
        connection.hang_up()
        async with asyncio.timeout(DEADLINE):
            await task


def feed_of(world: HttpWorld) -> Any:
    return world.system.kernel.bus.feed


async def _somebody_listens(world: HttpWorld) -> None:
    async with asyncio.timeout(DEADLINE):
        while not feed_of(world)._waiting:
            await asyncio.sleep(0.005)
