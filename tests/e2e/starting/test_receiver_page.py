"""The page of a receiver of webhooks in a real browser: calls as they come, what they are answered, hostile bodies."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx2
import pytest
from standardwebhooks import Webhook

from tests.support.browser import Browser, browser, chromium_or_skip
from tidings.kernel.clock import SystemClock
from tidings.sandbox import Sandbox

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOSTILE = (
    '{"type":"<img src=x onerror=document.title=\'broken\'>","data":"</pre><script>faults.push(1)</script>"}'
)


@pytest.fixture
async def somebody() -> AsyncIterator[Browser]:
    """Somebody at a Chromium."""
    async with browser(chromium_or_skip("the page of webhook receivers")) as found:
        await found.watch_for_faults()
        yield found


async def tell(web: httpx2.AsyncClient, body: str, number: int = 1) -> int:
    """A call as others' libraries sign it; what it was answered."""
    now = datetime.now(UTC)
    headers = {
        "webhook-id": f"evt_{number}",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(SECRET).sign(f"evt_{number}", now, body),
    }
    return (await web.post("/receiver/orders", content=body, headers=headers)).status_code


async def text(somebody: Browser, place: str) -> str:
    """What stands there."""
    found: str = await somebody.see(f"document.querySelector({place!r}).innerText")
    return found


async def submit(somebody: Browser, form: str, **values: str) -> None:
    """Fill in a form, and send it."""
    for name, value in values.items():
        await somebody.see(f"document.getElementById({name!r}).value = {value!r}")
    await somebody.see(f"document.getElementById({form!r}).requestSubmit()")


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1100, True)])
async def test_calls_are_seen_verified_and_answered(somebody: Browser, width: int, dark: bool) -> None:
    """A secret is typed in, an answer is chosen; every body is a text, and nothing is wider than the window."""
    async with Sandbox(SystemClock()) as sandbox, httpx2.AsyncClient(base_url=sandbox.url) as web:
        await somebody.open(f"{sandbox.url}/receiver/orders", width=width, dark=dark)
        await somebody.until("document.getElementById('state').textContent.includes('nothing yet')")
        command = await text(somebody, "#words")
        await submit(somebody, "verify", secret=SECRET)
        await somebody.until("document.getElementById('said').textContent.includes('are verified')")
        await submit(somebody, "behave", mode="error", count="1")
        await somebody.until(
            "document.getElementById('behaves').textContent.includes('500, for 1 more call')"
        )
        answers = [await tell(web, HOSTILE), await tell(web, HOSTILE)]
        await web.post("/receiver/orders", content=b'{"type":"forged.v1"}')
        await somebody.until("document.querySelectorAll('#list li').length === 3")
        lines = await somebody.see("[...document.querySelectorAll('#list li')].map((one) => one.innerText)")
        behaves = await text(somebody, "#behaves")
        wide = [await somebody.see("document.documentElement.scrollWidth > innerWidth")]

        await somebody.click("document.querySelectorAll('#list button')[1]")
        await somebody.until("!document.getElementById('view').hidden")
        shown = await text(somebody, "#view")
        wide.append(await somebody.see("document.documentElement.scrollWidth > innerWidth"))
        title = await somebody.see("document.title")
        faults = await somebody.faults()
        background = await somebody.see("getComputedStyle(document.body).backgroundColor")
        await web.delete("/receivers/orders/calls")
        await somebody.until("document.querySelectorAll('#list li').length === 0")
        await somebody.until("document.getElementById('view').hidden")

    assert (
        command == f"tidings webhook create --webhook {sandbox.url}/receiver/orders --event 'notification.>'"
    )
    assert answers == [500, 204]
    forged, second, first = lines
    assert "not signed" in forged
    assert "verified" in second
    assert "attempt 2, " in second
    assert "answered 500" in first
    assert behaves == "It takes every call: 204."
    for words in ("<img src=x", "</pre><script>", "webhook-signature: v1,", "verified", "evt_1"):
        assert words in shown
    assert wide == [False, False]
    assert title == "orders · Webhook receiver · Tidings"
    assert faults == []
    assert background == ("rgb(18, 22, 28)" if dark else "rgb(246, 247, 249)")


async def test_its_parts_have_names(somebody: Browser) -> None:
    """Each field and button is called something."""
    async with Sandbox(SystemClock()) as sandbox:
        await somebody.open(f"{sandbox.url}/receiver", width=900)
        await somebody.until("document.getElementById('state').textContent.includes('“demo”')")
        fields = await somebody.names("textbox") + await somebody.names("spinbutton")
        choices = [*await somebody.names("combobox"), *await somebody.names("Combobox")]
        buttons = await somebody.names("button")

    assert "Verify with the secret" in fields
    assert {"Calls", "Seconds"} <= set(fields)
    assert {"Answer", "Receiver"} <= {*choices, *fields}
    assert "" not in buttons
