"""Receivers of webhooks over HTTP: what they show, how they fail when told to, what they ask of Tidings."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from tests.support.played_http import answer, played_http
from tidings.kernel.clock import SystemClock
from tidings.sandbox import Sandbox
from tidings.sandbox.tenant_api import TenantAccess


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(SystemClock()) as running:
        yield running


@pytest.fixture
async def web(sandbox: Sandbox) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=sandbox.url, timeout=20) as client:
        yield client


async def calls(web: httpx2.AsyncClient, name: str = "demo") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await web.get(f"/receivers/{name}/calls")).json()["calls"]
    return found


async def test_a_call_is_shown_as_it_came(web: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    """Its headers, its body indented without a figure changed, and what it was answered."""
    body = b'{"type":"order.paid.v1","data":{"micros":12345678901234567890}}'
    taken = await web.post("/receiver/demo", content=body, headers={"webhook-id": "evt_1", "X-Own": "yes"})
    await web.put("/receiver/demo", content=b"no json")

    assert taken.status_code == 204
    first, second = await calls(web)
    assert (first["type"], first["webhook_id"], first["attempt"], first["answer"]) == (
        "order.paid.v1",
        "evt_1",
        1,
        204,
    )
    assert first["headers"]["x-own"] == "yes"
    assert first["body"] == body.decode()
    assert first["pretty"] == json.dumps(json.loads(body), indent=2)
    assert first["signature"] is None
    assert (second["method"], second["type"], second["pretty"], second["body"]) == (
        "PUT",
        None,
        None,
        "no json",
    )
    (shown,) = (await web.get("/receivers")).json()["receivers"]
    assert shown["url"] == f"{sandbox.url}/receiver/demo" == sandbox.receiver_url
    assert (shown["heard"], shown["verifies"], shown["makes_webhooks"]) == (2, False, False)
    assert (await web.delete("/receivers/demo/calls")).json() == {"deleted": 2}
    assert await calls(web) == []
    assert (await web.delete("/receivers/demo")).status_code == 204
    assert (await web.get("/receivers/demo")).status_code == 404


@pytest.mark.parametrize(
    ("mode", "status", "header"),
    [
        ("error", 500, None),
        ("reject_temporary", 503, ("retry-after", "30")),
        ("throttle", 429, ("retry-after", "30")),
        ("reject_permanent", 400, None),
        ("gone", 410, None),
        ("redirect", 307, ("location", "/receiver/demo")),
    ],
)
async def test_it_fails_for_so_many_calls(
    web: httpx2.AsyncClient, mode: str, status: int, header: tuple[str, str] | None
) -> None:
    fault = {"adapter": "receiver", "vendor": "demo", "mode": mode, "count": 2, "seconds": 30}
    set_to = await web.post("/faults", json=fault)
    answers = [await web.post("/receiver/demo", json={}) for _ in range(3)]
    other = await web.post("/receiver/other", json={})

    assert set_to.status_code == 201
    assert [one.status_code for one in answers] == [status, status, 204]
    assert other.status_code == 204
    if header is not None:
        assert answers[0].headers[header[0]].endswith(header[1])
    assert [call["answer"] for call in await calls(web)] == [status, status, 204]


async def test_it_hangs_until_that_is_changed(web: httpx2.AsyncClient, sandbox: Sandbox) -> None:
    """What was never answered is shown all the same; faults of others stay."""
    for vendor in ("demo", "other"):
        await web.post("/faults", json={"adapter": "receiver", "vendor": vendor, "mode": "hang"})
    hanging = asyncio.ensure_future(web.post("/receiver/demo", json={}))
    async with asyncio.timeout(20):
        await sandbox.webhooks.bell.watch().wait()
    left = (await web.delete("/faults", params={"adapter": "receiver", "vendor": "demo"})).json()
    again = await web.post("/receiver/demo", json={})
    is_hanging = not hanging.done()
    hanging.cancel()

    assert is_hanging
    assert [one["vendor"] for one in left["faults"]] == ["other"]
    assert again.status_code == 204
    assert [call["answer"] for call in await calls(web)] == ["hang", 204]


@pytest.mark.parametrize("mode", ["close", "garbage"])
async def test_it_breaks_off(web: httpx2.AsyncClient, mode: str) -> None:
    await web.post("/faults", json={"adapter": "receiver", "mode": mode, "count": 1})
    with pytest.raises(httpx2.TransportError):
        await web.post("/receiver/demo", json={})
    assert [call["answer"] for call in await calls(web)] == [mode]


@pytest.mark.parametrize(
    ("fault", "field"),
    [
        ({"adapter": "http", "mode": "gone"}, "mode"),
        ({"adapter": "smtp", "mode": "error"}, "mode"),
        ({"adapter": "smtp", "vendor": "x", "mode": "hang"}, "vendor"),
    ],
)
async def test_faults_that_go_with_receivers_alone(
    web: httpx2.AsyncClient, fault: dict[str, str], field: str
) -> None:
    refused = await web.post("/faults", json=fault)
    assert refused.status_code == 400
    assert [one["field"] for one in refused.json()["errors"]] == [field]


async def test_wrong_requests_name_what_is_wrong(web: httpx2.AsyncClient) -> None:
    cases = [
        (await web.put("/receivers/demo", json={"secret": "whsec_!!"}), 400, "secret"),
        (await web.put("/receivers/demo", json={}), 400, "secret"),
        (await web.post("/receiver/No", json={}), 400, "name"),
        (await web.post("/receivers/demo/webhook", json={"events": []}), 400, "events"),
    ]
    for answered, status, field in cases:
        assert (answered.status_code, [one["field"] for one in answered.json()["errors"]]) == (
            status,
            [field],
        )
    assert (await web.get("/receivers/nobody/calls")).status_code == 404
    assert (await web.get("/receivers/demo/calls/9")).status_code == 404
    assert (await web.post("/receiver", json={})).status_code == 404
    elsewhere = await web.post("/receiver/demo", json={}, headers={"Origin": "https://elsewhere.example"})
    assert elsewhere.status_code == 403


async def test_its_secret_is_never_shown(web: httpx2.AsyncClient) -> None:
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    put = await web.put("/receivers/demo", json={"secret": secret})
    said = [put.text, (await web.get("/receivers")).text, (await web.get("/receivers/demo")).text]

    assert put.json()["verifies"] is True
    assert not [text for text in said if secret in text]


async def test_a_webhook_is_made_and_its_secret_handed_over(
    web: httpx2.AsyncClient, sandbox: Sandbox
) -> None:
    """By the demo tenant's key; what Tidings refuses is handed on."""
    refused = await web.post("/receivers/demo/webhook", json={"events": ["notification.>"]})
    made = {"id": "whs_1", "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
    body = json.dumps(made).encode()
    async with played_http(answer("201 Created", body), answer("422 Unprocessable", b"{}")) as tidings:
        url = f"http://127.0.0.1:{tidings.port}"
        sandbox.api.open(TenantAccess(base_url=url, api_key="tdk_demo", may_call_loopback=True))
        done = await web.post("/receivers/demo/webhook", json={"events": ["notification.>"]})
        again = await web.post("/receivers/demo/webhook", json={"events": ["nonsense"]})
        [(head, asked), _] = tidings.heard

    assert (refused.status_code, refused.json()["code"]) == (501, "not_configured")
    assert (done.status_code, done.json()) == (201, {"id": "whs_1"})
    assert again.status_code == 422
    assert b"/receiver/demo" in asked
    assert "Bearer tdk_demo" in head
    shown = (await web.get("/receivers/demo")).json()
    assert (shown["verifies"], shown["makes_webhooks"]) == (True, True)


async def test_what_comes_is_told_live(web: httpx2.AsyncClient) -> None:
    """Calls as they come, what the receiver does now, and that all were deleted."""
    await web.post("/receiver/demo", json={"type": "first.v1"})
    said: list[tuple[str, Any]] = []
    async with asyncio.timeout(20), web.stream("GET", "/receivers/demo/events") as stream:
        event = ""
        async for line in stream.aiter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                event = value
            if name != "data":
                continue
            said.append((event, json.loads(value)))
            if event == "receiver" and len(said) == 3:
                await web.post("/receiver/demo", json={"type": "second.v1"})
            if event == "receiver" and said[-1][1]["heard"] == 2:
                break
    assert [kind for kind, _ in said] == ["cleared", "call", "receiver", "call", "receiver"]
    assert [told["type"] for kind, told in said if kind == "call"] == ["first.v1", "second.v1"]


async def test_the_page_has_no_foreign_script(web: httpx2.AsyncClient) -> None:
    for path in ("/receiver", "/receiver/demo"):
        page = await web.get(path)
        assert "Webhook receiver" in page.text
        assert "unsafe" not in page.headers["content-security-policy"]


async def test_one_that_was_ended_stays_away_from_a_page_that_is_still_open(web: httpx2.AsyncClient) -> None:
    """Its browser asks for the stream again; only who opens the page anew has the receiver back."""
    assert (await web.get("/receiver/demo")).status_code == 200
    assert [one["name"] for one in (await web.get("/receivers")).json()["receivers"]] == ["demo"]
    async with asyncio.timeout(20), web.stream("GET", "/receivers/demo/events") as stream:
        assert stream.status_code == 200
        await web.delete("/receivers/demo")
        async for _ in stream.aiter_lines():
            pass
    again = await web.get("/receivers/demo/events")

    assert again.status_code == 204
    assert (await web.get("/receivers")).json()["receivers"] == []
