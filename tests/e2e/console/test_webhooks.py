"""A webhook's endpoint fails: an operator reads the answer, tells it again once it is well, and makes a link for the customer."""

import httpx2
import pytest

from tests.support.browser import Browser
from tests.support.console_browser import keep, to, type_
from tests.support.running import RunningTidings
from tests.support.webhook_receiver import webhook_receiver

pytestmark = pytest.mark.xdist_group("console")


async def test_an_operator_reads_the_answer_tells_it_again_and_makes_a_link(
    up: RunningTidings, inside: Browser
) -> None:
    at, base = inside, up.demo["base_url"]
    async with webhook_receiver() as receiver:
        receiver.status = 503

        # The endpoint of a customer, made by hand.
        await at.open(f"{base}/console/webhooks/new", width=1280, height=900, mobile=False)
        await to(at, "input[name=url]")
        await type_(at, receiver.url("/hotel"))
        await to(at, "input[name=name]")
        await type_(at, "Grand Hotel")
        await to(at, "input[name=customer]")
        await type_(at, "grand-hotel")
        secret = await at.submit("document.querySelector('code.secret').textContent")
        assert secret.startswith("whsec_")
        await to(at, "main a.button")
        assert await at.submit("document.querySelector('h1').textContent") == "Grand Hotel"
        page = await at.see("location.pathname")

        # It hears of a message, and answers 503.
        sent = {"recipient": PERSON, "template": "otp", "channel": "email", "variables": {"code": "481516"}}
        async with httpx2.AsyncClient(
            base_url=base, headers={"Authorization": f"Bearer {up.demo['api_key']}"}
        ) as api:
            assert (await api.post("/api/v1/notifications", json=sent)).status_code == 202
        failed = "[...document.querySelectorAll('#deliveries tbody tr')].some((row) => row.textContent.includes('503'))"
        for _ in range(40):
            await at.open(f"{base}{page}", width=1280, height=900, mobile=False)
            if await at.see(failed):
                break
        await keep(at, "webhook")
        await at.page.evaluate(
            "[...document.querySelectorAll('#deliveries tbody tr')].find((row) => row.textContent.includes('503'))"
            ".querySelector('a').focus()"
        )
        await at.submit("true")
        assert "503" in await at.see("document.querySelector('#answers').textContent")
        assert '"type": "notification' in await at.see("document.querySelector('#request').textContent")
        await keep(at, "webhook-delivery")

        # It is well again, and is told once more.
        receiver.status = 204
        await to(at, ".head .actions button")
        assert "told once more" in await at.submit("document.querySelector('[role=status]').textContent")
        await at.until("document.querySelector('#answers').textContent.includes('204')")

        # What the message cost stands under its template.
        await at.open(f"{base}/console/spend", width=1280, height=900, mobile=False)
        assert "otp" in await at.see("document.querySelector('#spend-template').textContent")

        # Its customer sees for themselves.
        await at.open(f"{base}{page}", width=1280, height=900, mobile=False)
        await at.page.evaluate("document.querySelector('#portal > form button').focus()")
        link = await at.submit("document.querySelector('code.secret').textContent")
        await at.open(link, width=1280, height=900, mobile=False)
        assert await at.see("document.body.textContent.includes('Grand Hotel')")


PERSON = {
    "identity": {"type": "guest", "id": "g-webhook"},
    "locale": "en",
    "addresses": [{"channel": "email", "address": "nadia@example.test"}],
}
