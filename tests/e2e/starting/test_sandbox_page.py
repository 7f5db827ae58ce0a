"""The sandbox's page in a real browser: a message and what its vendor told about it."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from tests.support.browser import Browser, browser, chromium_or_skip
from tests.support.played_http import answer, played_http
from tidings.kernel.clock import SystemClock
from tidings.sandbox import Sandbox


@pytest.fixture(scope="module")
async def chromium_tab() -> AsyncIterator[Browser]:
    """The tab of a Chromium."""
    program = chromium_or_skip("the sandbox's page")
    async with browser(program) as found:
        yield found


@pytest.fixture
async def somebody(chromium_tab: Browser) -> AsyncIterator[Browser]:
    """Somebody at it; a page that is left asks a sandbox that is gone for nothing more."""
    yield chromium_tab
    await chromium_tab.open("about:blank")


async def until(somebody: Browser, expression: str) -> None:
    """Look until it is so."""
    async with asyncio.timeout(30):
        while not await somebody.page.evaluate(expression):
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("width", [360, 1100])
async def test_receipts_are_seen_as_they_go(somebody: Browser, width: int) -> None:
    """The list says how far a message is, the message says why; nothing is wider than the window."""
    hostile = "<img src=x onerror=document.title='broken'>" + "long" * 50
    script = [
        {"status": "sent", "cost": {"micros": 7500, "currency": "USD"}},
        {"status": "failed", "after_seconds": 1, "code": "30003", "reason": hostile[:200]},
        {"status": "read", "after_seconds": 3600},
    ]
    async with (
        Sandbox(SystemClock()) as sandbox,
        played_http(answer("200 OK")) as hooked,
        httpx2.AsyncClient(base_url=sandbox.url) as web,
    ):
        hook = {"url": f"http://127.0.0.1:{hooked.port}/hooks/http_x/adcfg_1", "secret": "s"}
        await web.put("/hooks/http_x", json=hook)
        await web.put("/scripts/http_x", json={"script": script})
        await somebody.open(f"{sandbox.url}/", width=width)
        message = {"channel": "sms", "to": "+93700123456", "from": "Demo", "text": "042424 is your code"}
        kept = (await web.post("/vendors/http_x/messages", json=message)).json()["id"]

        await until(somebody, "document.querySelector('#list .course')?.textContent === 'Failed'")
        line = await somebody.page.evaluate("document.querySelector('#list button').innerText")
        await somebody.page.evaluate("document.querySelector('#list button').click()")
        await until(somebody, "!document.getElementById('view').hidden")
        await somebody.page.evaluate("document.getElementById('tab-receipts').click()")
        told = await somebody.page.evaluate("document.getElementById('receipts').innerText")
        course = await somebody.page.evaluate("document.getElementById('course').innerText")
        wide = await somebody.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        title = await somebody.page.evaluate("document.title")
        await web.delete("/messages")
        await until(somebody, "document.querySelectorAll('#list li').length === 0")

    assert kept.startswith("sbx_")
    assert "sms · http_x" in line
    assert course == "Failed"
    assert [line for line in told.splitlines() if line in {"Sent", "Failed", "Read"}] == [
        "Sent",
        "Failed",
        "Read",
    ]
    for words in ("the answer was 200", "0.0075 USD", "30003 · <img", "planned for"):
        assert words in told
    assert not wide
    assert title == "Sandbox · Tidings"


async def test_the_list_says_how_many_it_leaves_out(somebody: Browser) -> None:
    """It shows the newest 200; what was sent before is counted."""
    message = {"channel": "sms", "to": "+93700123456", "from": "Demo", "text": "042424 is your code"}
    async with Sandbox(SystemClock()) as sandbox, httpx2.AsyncClient(base_url=sandbox.url) as web:
        for _ in range(203):
            await web.post("/vendors/http_x/messages", json=message)
        await somebody.open(f"{sandbox.url}/", width=1100)

        await until(somebody, "document.getElementById('state').textContent === 'latest 200 of 203 messages'")


async def test_a_person_writes_back_from_the_page(somebody: Browser) -> None:
    """Where the vendor tells of it; what the hook says is seen."""
    async with (
        Sandbox(SystemClock()) as sandbox,
        played_http(answer("200 OK")) as hooked,
        httpx2.AsyncClient(base_url=sandbox.url) as web,
    ):
        hook = {"url": f"http://127.0.0.1:{hooked.port}/hooks/vonage/adcfg_1", "secret": "s"}
        await web.put("/hooks/vonage", json=hook)
        await web.put("/scripts/vonage", json={"script": "never"})
        text = {
            "message_type": "text",
            "channel": "sms",
            "to": "93700123456",
            "from": "447700900001",
            "text": "Hi",
        }
        sent = await web.post("/vonage/v1/messages", json=text, headers={"authorization": "Basic x"})
        await somebody.open(f"{sandbox.url}/", width=360)
        await until(somebody, "document.querySelectorAll('#list li').length === 1")
        await somebody.page.evaluate("document.querySelector('#list button').click()")
        await until(somebody, "!document.getElementById('answer').hidden")
        in_sight = await somebody.page.evaluate(
            "document.getElementById('answer').getBoundingClientRect().bottom <= innerHeight"
        )
        await somebody.page.evaluate("document.getElementById('words').value = 'سلام'")
        await somebody.page.evaluate("document.querySelector('#answer button').click()")
        await until(somebody, "document.getElementById('answered').textContent !== ''")
        told = await somebody.page.evaluate("document.getElementById('answered').textContent")
        wide = await somebody.page.evaluate("document.documentElement.scrollWidth > innerWidth")

    assert sent.status_code == 202
    assert in_sight
    assert told == "Wrote “سلام”; the hook’s answer was 200."
    assert not wide
    (_, body) = hooked.heard[0]
    assert '"from":"93700123456"' in body.decode()
    assert "سلام" in body.decode()


async def shown_in_frame(somebody: Browser) -> str:
    """Where the frame has come to: it is a process of its own."""
    found = await somebody.page.call("Target.getTargets", {"filter": [{"type": "iframe"}]})
    return " ".join(target["url"] for target in found["targetInfos"])


async def test_a_notification_is_shown_and_the_way_back_is_from_message_to_message(somebody: Browser) -> None:
    """Also where its vendor never tells what became of it."""
    alert = {"message": {"token": "lailas-phone", "notification": {"title": "Tea", "body": "Green"}}}
    odd = {"channel": "webhook", "to": "https://shop.example.test/hook", "event": "paid"}
    async with Sandbox(SystemClock()) as sandbox, httpx2.AsyncClient(base_url=sandbox.url) as web:
        sent = await web.post(
            "/fcm/v1/projects/green-shop/messages:send", json=alert, headers={"authorization": "Bearer x"}
        )
        other = (await web.post("/vendors/http/messages", json=odd)).json()["id"]
        notification = sent.json()["name"].rpartition(":")[2]
        await somebody.open(f"{sandbox.url}/#{notification}", width=390)
        await until(somebody, "!document.getElementById('view').hidden")
        facts = await somebody.page.evaluate("document.querySelector('#head dl').innerText")
        await somebody.page.evaluate("document.getElementById('tab-receipts').click()")
        told = await somebody.page.evaluate("document.getElementById('panel-receipts').innerText")
        await somebody.page.evaluate(f"location.hash = '{other}'")
        await until(somebody, "document.getElementById('subject').textContent === 'Webhook'")
        fromless = await somebody.page.evaluate("document.getElementById('fromname').hidden")
        await somebody.page.evaluate("history.back()")
        await until(somebody, "document.getElementById('subject').textContent === 'Tea'")
        async with asyncio.timeout(30):
            while not (await shown_in_frame(somebody)).endswith(f"/messages/{notification}/html"):
                await asyncio.sleep(0.02)
        wide = await somebody.page.evaluate("document.documentElement.scrollWidth > innerWidth")
        page = (await web.get(f"/messages/{notification}/html")).text
        as_it_came = (await web.get(f"/messages/{other}/html")).text

    assert "push · fcm" in facts
    assert told.strip() == "None: this vendor never tells what became of a message."
    assert fromless
    assert not wide
    assert page.index("green-shop") < page.index("Tea") < page.index("Green")
    assert "&quot;event&quot;: &quot;paid&quot;" in as_it_came
