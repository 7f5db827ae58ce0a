"""Double opt-in: consent that somebody told us of counts once the person has confirmed it."""

import re
from datetime import timedelta

import pytest

from tests.support.people import told, unused
from tests.support.pipeline import PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy
from tidings.notify.preference_center.strings import languages

pytestmark = pytest.mark.xdist_group("preferences-double")

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
    await world.system.consumers.confirmations.drain()
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
        whole = (await sender.client.get(f"/api/v1/recipients/{recipient_id}")).json()
        assert [address["verified"] for address in whole["addresses"]] == [True], "they read that mailbox"
        profile = (await sender.client.get(f"/api/v1/router/profiles/{recipient_id}")).json()
        assert profile["email_verified"] is True
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
        assert (await browser.get(link)).status_code == 410
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


async def test_an_old_link_does_not_confirm_what_was_asked_for_later(world: PipelineWorld) -> None:
    browser = world.http.client()
    async with world.sender(DOUBLE) as sender:
        to, recipient_id = await _laila(sender)
        await sender.choose(recipient_id, marketing_consent=YES)
        [old] = await _asked(world, to)
        await sender.choose(recipient_id, marketing_consent={"granted": False})
        await world.clock.advance(timedelta(days=2))
        await sender.choose(recipient_id, marketing_consent=YES | {"evidence": "form 8"})
        [_, new] = await _asked(world, to)
        waits = await _consent(sender, recipient_id)
        assert (await browser.get(old)).status_code == 410
        assert (await browser.post(old)).status_code == 410
        assert await _consent(sender, recipient_id) == waits
        assert waits["granted"] is False
        assert await _hears(world, sender, recipient_id) == "suppressed"
        assert (await browser.post(new)).status_code == 200
        assert (await _consent(sender, recipient_id))["granted"] is True


async def test_what_waited_in_vain_can_be_asked_for_again_in_the_same_words(world: PipelineWorld) -> None:
    browser = world.http.client()
    async with world.sender(DOUBLE) as sender:
        to, recipient_id = await _laila(sender)
        await sender.choose(recipient_id, marketing_consent=YES)
        [old] = await _asked(world, to)
        await world.clock.advance(timedelta(days=14))
        await sender.choose(recipient_id, marketing_consent=YES)
        [_, new] = await _asked(world, to)
        assert [(await browser.post(link)).status_code for link in (old, new)] == [410, 200]
        assert (await _consent(sender, recipient_id))["granted"] is True


async def test_who_wants_nothing_is_not_promised_messages(world: PipelineWorld) -> None:
    browser = world.http.client()
    async with world.sender(DOUBLE) as sender:
        to, recipient_id = await _laila(sender)
        await sender.choose(recipient_id, marketing_consent=YES)
        [link] = await _asked(world, to)
        await sender.choose(recipient_id, global_unsubscribed_at=world.clock.now().isoformat())
        pages = [await browser.post(link) for _ in range(2)]
        assert [page.status_code for page in pages] == [200, 200]
        assert all(
            languages()["ps"].confirmed_but_off in page.text and 'role="status"' not in page.text
            for page in pages
        )
        assert await _hears(world, sender, recipient_id) == "suppressed"
        [way_on] = {path for page in pages for path in re.findall(r'href="(/p/[\w-]{54})"', page.text)}
        choices = await browser.get(way_on)
        assert (choices.status_code, languages()["ps"].off_note in choices.text) == (200, True)
        form = {
            name: re.findall(rf'name="{name}" value="([\w:]+)"', choices.text)
            for name in ("version", "shown")
        }
        saved = await browser.post(way_on, data=form | {"hear": ["marketing:email"]})
        assert saved.status_code == 303
        assert await _hears(world, sender, recipient_id) == "delivered"
        assert 'role="status"' in (await browser.post(link)).text
        assert (await browser.get(link)).status_code == 200
        await world.clock.advance(timedelta(days=14))
        assert [(await browser.get(path)).status_code for path in (link, way_on)] == [410, 410]


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
