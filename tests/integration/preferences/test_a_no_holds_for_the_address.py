"""Who unsubscribes from a mailbox hears no more there: whichever recipient of the tenant has that address, now or later."""

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.preferences.visitors import Visitor, token_of, visitor
from tests.support.people import told, unused
from tests.support.pipeline import HOME, PipelineWorld, Sender, person
from tidings.contracts.tenants import NotificationPolicy
from tidings.sandbox.faults import FaultSpec

pytestmark = pytest.mark.xdist_group("preferences-pages")

ONE_CLICK = {"List-Unsubscribe": "One-Click"}


async def sent_to(world: PipelineWorld, sender: Sender, recipient: Any, category: str = "reminder") -> str:
    """What becomes of a mail to whoever this names."""
    order = await sender.send(recipient=recipient, category=category)
    await world.settle()
    return await sender.status(order["id"])


async def refusals(laila: Visitor, recipient_id: str | None = None) -> list[dict[str, Any]]:
    """What the API says was unsubscribed from their first address."""
    shown = await laila.sender.client.get(f"/api/v1/recipients/{recipient_id or laila.recipient_id}")
    found: list[dict[str, Any]] = shown.json()["addresses"][0]["unsubscribed"]
    return found


async def test_one_click_counts_for_everybody_who_has_the_address(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as stranger:
        laila = await visitor(world, sender)
        other = await sender.client.post("/api/v1/recipients", json=person(laila.to))
        before = await sent_to(world, sender, other.json()["id"])

        clicked = await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)

        address = [{"channel": "email", "address": laila.to.upper()}]
        after = {
            "the same identity": await sent_to(world, sender, laila.recipient_id),
            "the address alone": await sent_to(
                world, sender, {"identity": {"type": "anonymous"}, "addresses": address}
            ),
            "another identity": await sent_to(world, sender, other.json()["id"]),
            "somebody who gets the address later": await sent_to(world, sender, person(laila.to)),
            "another category": await sent_to(world, sender, other.json()["id"], "social"),
            "what nobody can say no to": await sent_to(world, sender, other.json()["id"], "transactional"),
            "another tenant": await sent_to(world, stranger, person(laila.to)),
        }
        shown = await refusals(laila, other.json()["id"])
        audited = await sender.rows(
            "SELECT action, actor FROM notification.audit WHERE entity_type = 'address_refusal'"
        )

    assert (before, clicked.status_code) == ("delivered", 200)
    assert after == {
        "the same identity": "suppressed",
        "the address alone": "suppressed",
        "another identity": "suppressed",
        "somebody who gets the address later": "suppressed",
        "another category": "delivered",
        "what nobody can say no to": "delivered",
        "another tenant": "delivered",
    }
    assert [(one["category"], one["source"]) for one in shown] == [("reminder", "one_click")]
    assert [(row["action"], row["actor"]) for row in audited] == [
        ("recorded", f"recipient:{laila.recipient_id}")
    ]


async def test_explain_says_when_and_how_they_said_no(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)
        own = await sender.send(recipient=laila.recipient_id, category="reminder")
        by_address = await sender.send(recipient=person(laila.to), category="reminder")
        await world.settle()
        stories = [
            (await sender.client.get(f"{HOME}/{order['id']}/explain")).json() for order in (own, by_address)
        ]

    when = f"{world.clock.now():%B %Y, %H:%M}"
    assert "The recipient unsubscribed from reminder messages by email on" in stories[0]["summary"]
    assert "The owner of this address unsubscribed from reminder messages by email" in stories[1]["summary"]
    for story, reason in zip(stories, ("category_declined", "address_unsubscribed"), strict=True):
        assert when in story["summary"]
        assert "(one click)" in story["summary"]
        [line] = [line for line in story["decision"] if line["verdict"] == "stop"]
        assert (line["reason"], line["said_no"]["source"], line["said_no"]["category"]) == (
            reason,
            "one_click",
            "reminder",
        )
        assert line["said_no"]["by_address"] is (reason == "address_unsubscribed")
        assert laila.to not in json.dumps(story)
        assert story["notification"]["status"] == "suppressed"


async def test_a_no_while_it_waits_to_be_tried_again_counts_at_the_moment_of_sending(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        world.sandbox.faults.set(FaultSpec(adapter="smtp", mode="reject_temporary", count=1))
        put_off = await sender.send(recipient=person(laila.to), category="reminder")
        await world.settle()
        assert await sender.status(put_off["id"]) == "dispatched"

        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)

        await world.clock.advance(timedelta(minutes=2))
        await world.settle()
        story = await sender.explain(put_off["id"])
        assert [a["reason"] for a in story["attempts"]][-1] == "address_unsubscribed"
        assert len(world.received(laila.to)) == 1


async def test_saying_yes_again_on_the_page_undoes_it_for_that_address(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        other = (await sender.client.post("/api/v1/recipients", json=person(laila.to))).json()["id"]
        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)
        assert await sent_to(world, sender, other) == "suppressed"

        page = await laila.browser.get(f"/p/{laila.token}")
        saved = await laila.save("reminder:email", "social:email")

        assert 'value="reminder:email" checked' not in page.text
        assert saved.status_code == 303
        assert await sent_to(world, sender, other) == "delivered"
        assert await sent_to(world, sender, laila.recipient_id) == "delivered"
        assert [one["category"] for one in await refusals(laila)] != ["reminder"]
        kept = await sender.rows(
            "SELECT category, withdrawn_by FROM notification.address_refusals WHERE category = 'reminder'"
        )
    assert [(row["category"], row["withdrawn_by"]) for row in kept] == [("reminder", "preference_page")]


async def test_the_page_of_another_recipient_shows_and_undoes_it(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        other = (await sender.client.post("/api/v1/recipients", json=person(laila.to))).json()["id"]
        await sender.send(recipient=other, category="social")
        await world.settle()
        theirs = token_of(world.received(laila.to)[-1].headers)
        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)

        page = await laila.browser.get(f"/p/{theirs}")
        assert 'value="social:email" checked' in page.text
        assert 'value="reminder:email" checked' not in page.text
        visit = Visitor(sender=sender, to=laila.to, recipient_id=other, token=theirs, browser=laila.browser)
        assert (await visit.save("reminder:email", "social:email")).status_code == 303

        assert await sent_to(world, sender, other) == "delivered"
        # Who said it keeps their own word, until they say otherwise themself.
        assert await sent_to(world, sender, laila.recipient_id) == "suppressed"


async def test_everything_off_is_for_the_address_and_a_tick_leaves_the_rest_off(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        other = (await sender.client.post("/api/v1/recipients", json=person(laila.to))).json()["id"]

        assert (await laila.save(do="all_off")).status_code == 303

        assert await sent_to(world, sender, other, "social") == "suppressed"
        assert await sent_to(world, sender, other, "transactional") == "delivered"
        assert (await laila.save("social:email")).status_code == 303
        assert await sent_to(world, sender, other, "social") == "delivered"
        assert await sent_to(world, sender, other, "reminder") == "suppressed"


async def test_consent_that_is_withdrawn_on_the_page_counts_for_the_address(world: PipelineWorld) -> None:
    yes = {"granted": True, "source": "front desk form"}
    async with world.sender() as sender:
        laila = await visitor(world, sender, category="marketing")
        other = (await sender.client.post("/api/v1/recipients", json=person(laila.to))).json()["id"]
        await sender.choose(other, marketing_consent=yes)
        assert await sent_to(world, sender, other, "marketing") == "delivered"
        form = await laila.form()
        ticked = [pair for pair in form["shown"] if not pair.startswith("marketing:")]

        assert (await laila.save(*ticked, form=form)).status_code == 303

        assert await sent_to(world, sender, other, "marketing") == "suppressed"
        # A consent that is given after it, and told over the API, is their newest word.
        await sender.choose(laila.recipient_id, marketing_consent=yes | {"evidence": "form 8"})
        assert await sent_to(world, sender, other, "marketing") == "delivered"


async def test_a_link_speaks_for_the_address_that_it_was_sent_to(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        second = f"laila-{unused()}@example.test"
        path = f"/api/v1/recipients/{laila.recipient_id}/addresses"
        await sender.client.post(path, json={"channel": "email", "address": second, "primary": True})
        await sender.send(recipient=laila.recipient_id, category="reminder")
        await world.settle()
        [received] = world.received(second)
        assert token_of(received.headers) != laila.token

        await laila.browser.post(f"/u/{token_of(received.headers)}", data=ONE_CLICK)

        assert await sent_to(world, sender, person(second)) == "suppressed"
        assert await sent_to(world, sender, person(laila.to)) == "delivered"


async def test_a_link_from_before_links_knew_their_address_speaks_for_all_of_them(
    world: PipelineWorld,
) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        async with world.db.tenant(sender.tenant_id) as tx:
            await tx.connection.execute("UPDATE notification.opt_out_tokens SET address_hash = NULL")

        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)

        assert await sent_to(world, sender, person(laila.to)) == "suppressed"


async def test_a_no_that_changes_no_choice_is_told_of_once(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await sender.choose(laila.recipient_id, channels={"email": {"categories": {"reminder": False}}})

        for _ in range(3):
            await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)

        events = await told(world.db, sender.tenant_id, "optout.")
        assert sorted((event["category"], event["source"]) for _, event in events) == [
            ("reminder", "api"),
            ("reminder", "one_click"),
        ]
        assert await sent_to(world, sender, person(laila.to)) == "suppressed"


async def test_it_outlives_an_erasure_and_is_in_what_a_person_is_shown(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        await laila.browser.post(f"/u/{laila.token}", data=ONE_CLICK)
        path = f"/api/v1/recipients/{laila.recipient_id}"
        exported = await sender.client.post(f"{path}/export")
        with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
            [refusal] = json.loads(archive.read("refusals.json"))

        assert (await sender.client.post(f"{path}/erase")).status_code == 200

        assert (refusal["category"], refusal["source"]) == ("reminder", "one_click")
        assert await sent_to(world, sender, person(laila.to)) == "suppressed"
        [kept] = await sender.rows("SELECT evidence FROM notification.address_refusals")
        assert kept["evidence"] is None


async def test_defaults_of_the_tenant_are_no_refusal(world: PipelineWorld) -> None:
    policy = NotificationPolicy(preference_defaults={"social": {"email": False}})
    async with world.sender(policy) as sender:
        laila = await visitor(world, sender)
        form = await laila.form()
        ticked = [pair for pair in form["shown"] if pair.startswith("reminder:")]

        assert (await laila.save(*ticked, form=form)).status_code == 303

        assert "social" not in [one["category"] for one in await refusals(laila)]
