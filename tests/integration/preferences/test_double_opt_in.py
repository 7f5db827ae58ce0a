"""Double opt-in: consent that somebody told us of counts once the person has confirmed it."""

import re
from datetime import timedelta

import pytest

from tests.support.people import told, unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.xdist_group("preferences-double")]

DOUBLE = NotificationPolicy(double_opt_in=True)
YES = {"granted": True, "source": "signup_form", "evidence": "form 7"}


async def _laila(sender: Sender) -> tuple[str, str]:
    to = f"laila-{unused()}@example.test"
    made = await sender.client.post("/api/v1/recipients", json=person(to, locale="ps-AF"))
    return to, made.json()["id"]


async def _consent(sender: Sender, recipient_id: str) -> dict[str, object]:
    answer = await sender.client.get(f"/api/v1/recipients/{recipient_id}/preferences")
    found: dict[str, object] = answer.json()["marketing_consent"]
    return found


async def _asked(world: PipelineWorld, to: str) -> list[str]:
    """The links of the confirmations that reached them."""
    for relay in world.relays:
        await relay.drain()
    await world.system.confirmations.drain()
    await world.settle()
    return [
        found[1]
        for mail in world.received(to)
        if (found := re.search(r'"https://tidings\.example(/c/[\w-]{54})"', mail.html or ""))
    ]


async def _hears(world: PipelineWorld, sender: Sender, recipient_id: str) -> str:
    sent = await sender.send(recipient=recipient_id, category="marketing")
    await world.settle()
    return await sender.status(sent["id"])


async def test_consent_counts_once_it_is_confirmed(world: PipelineWorld) -> None:
    browser = world.http.client()
    async with world.sender(DOUBLE) as sender:
        to, recipient_id = await _laila(sender)
        await sender.choose(recipient_id, marketing_consent=YES)
        waits = await _consent(sender, recipient_id)
        assert (waits["granted"], "pending_since" in waits) == (False, True)
        assert await _hears(world, sender, recipient_id) == "suppressed"
        [link] = await _asked(world, to)
        await sender.choose(recipient_id, marketing_consent=YES)
        await sender.choose(recipient_id, marketing_consent=waits, timezone="Asia/Kabul")
        assert await _consent(sender, recipient_id) == waits
        assert await _asked(world, to) == [link], "asked once"
        page = await browser.get(link)
        assert (page.status_code, 'dir="rtl"' in page.text) == (200, True)
        assert await _hears(world, sender, recipient_id) == "suppressed"
        for other in ("/u/", "/p/"):
            assert (await browser.post(link.replace("/c/", other))).status_code == 404
        for _ in range(2):
            assert (await browser.post(link)).status_code == 200
        granted = await _consent(sender, recipient_id)
        assert (granted["granted"], granted["source"]) == (True, "confirmation_page")
        assert await _hears(world, sender, recipient_id) == "delivered"
        lines = (await sender.client.get(f"/api/v1/recipients/{recipient_id}/consents")).json()["items"]
        lines.sort(key=lambda line: line["preferences_version"])
    assert [(line["kind"], line["source"]) for line in lines] == [
        ("consent_requested", "signup_form"),
        ("consent_granted", "confirmation_page"),
    ]


async def test_what_was_withdrawn_or_waits_too_long_can_not_be_confirmed(world: PipelineWorld) -> None:
    browser = world.http.client()
    async with world.sender(DOUBLE) as sender:
        to, recipient_id = await _laila(sender)
        await sender.choose(recipient_id, marketing_consent=YES)
        [link] = await _asked(world, to)
        await sender.choose(recipient_id, marketing_consent={"granted": False})
        assert (await browser.post(link)).status_code == 410
        await world.clock.advance(timedelta(seconds=5))
        await sender.choose(recipient_id, marketing_consent=YES)
        [_, second] = await _asked(world, to)
        assert second != link
        before = world.clock.now()
        await world.clock.advance(timedelta(days=15))
        assert (await browser.post(second)).status_code == 410
        await world.clock.advance(before - world.clock.now())
        assert (await browser.post(second)).status_code == 200


async def test_nobody_sets_the_waiting_by_hand_and_other_tenants_need_none(world: PipelineWorld) -> None:
    async with world.sender(DOUBLE) as sender:
        _, recipient_id = await _laila(sender)
        path = f"/api/v1/recipients/{recipient_id}/preferences"
        body = {"marketing_consent": {"granted": False, "pending_since": "2026-11-01T00:00:00Z"}}
        refused = await sender.client.patch(path, json=body, headers={"If-Match": '"v0"'})
        assert refused.json()["errors"][0]["field"] == "marketing_consent.pending_since"
    async with world.sender() as plain:
        _, recipient_id = await _laila(plain)
        await plain.choose(recipient_id, marketing_consent=YES)
        assert (await _consent(plain, recipient_id))["granted"] is True
        assert await told(world.db, plain.tenant_id, "consent.") == []
