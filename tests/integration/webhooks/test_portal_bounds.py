"""What a portal link never does: reach further than it was made for, outlive its end, or show one customer's events to another."""

import asyncio
from typing import Any

import pytest

from tests.integration.webhooks.arranging import DELIVERED, HOME, Subscriber
from tests.integration.webhooks.portal import PortalVisitor, visitor_of
from tests.support.webhook_receiver import WebhookReceiver
from tidings.notify.webhook_portal.desk import PortalDesk
from tidings.notify.webhooks import redeliver, store
from tidings.notify.webhooks.portal_link_wire import CreateWebhookPortalLink
from tidings.notify.webhooks.portal_links import WebhookPortalLinks
from tidings.notify.webhooks.trial import WebhookTrier

pytestmark = pytest.mark.xdist_group("webhook-portal")

ACME = "data.category = 'acme'"
URL = "http://127.0.0.1:9"


async def test_an_endpoint_without_the_condition_is_offered_no_new_types(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    first = await subscriber.webhook(receiver.url("/a"), customer="acme", condition=ACME)
    bare = await subscriber.webhook(receiver.url("/b"), customer="acme", events=["batch.completed.v1"])
    same = await subscriber.webhook(
        receiver.url("/c"), customer="acme", events=["batch.completed.v1"], condition=ACME
    )
    visitor = await visitor_of(subscriber, first["id"], event_types=[DELIVERED, "batch.completed.v1"])

    async def ticks(webhook: dict[str, Any], *events: str) -> int:
        version = await visitor.version(webhook["id"])
        form = {"url": webhook["url"], "name": "x", "events": list(events), "version": version}
        return (await visitor.sends(f"/endpoints/{webhook['id']}/change", **form)).status_code

    form = (await visitor.look(f"/endpoints/{bare['id']}/change")).text
    assert f'value="{DELIVERED}"' not in form
    assert 'value="batch.completed.v1"' in form
    assert await ticks(bare, DELIVERED, "batch.completed.v1") == 303
    assert await ticks(same, DELIVERED, "batch.completed.v1") == 303
    await subscriber.told("x", category="somebody-else")

    assert receiver.heard == []
    assert (await subscriber.show(bare["id"]))["events"] == ["batch.completed.v1"]
    assert set((await subscriber.show(same["id"]))["events"]) == {DELIVERED, "batch.completed.v1"}


async def test_a_link_ends_with_the_webhook_that_it_was_made_for(subscriber: Subscriber) -> None:
    first = await subscriber.webhook(f"{URL}/a", customer="acme")
    second = await subscriber.webhook(f"{URL}/b", customer="acme")
    thief = await visitor_of(subscriber, first["id"])

    assert "Deleted." in (await thief.sends(f"/endpoints/{first['id']}/delete")).text

    assert (await thief.look()).status_code == 404
    assert (await thief.does(second["id"], "pause")).status_code == 404
    assert (await subscriber.show(second["id"]))["status"] == "active"


@pytest.mark.parametrize("how", ["rotate", "close", "condition"])
async def test_a_link_that_shows_a_sibling_ends_by_it(subscriber: Subscriber, how: str) -> None:
    first = await subscriber.webhook(f"{URL}/a", customer="acme")
    second = await subscriber.webhook(f"{URL}/b", customer="acme")
    other = await subscriber.webhook(f"{URL}/c", customer="globex")
    leaked = await visitor_of(subscriber, first["id"])
    theirs = await visitor_of(subscriber, other["id"])

    if how == "rotate":
        await subscriber.do(second["id"], "rotate-secret")
    elif how == "close":
        await subscriber.client.delete(f"{HOME}/{second['id']}/portal-links")
    else:
        await subscriber.change(second["id"], condition=ACME)

    assert (await leaked.look(f"/endpoints/{second['id']}")).status_code == 404
    assert (await leaked.look()).status_code == 404
    assert (await theirs.look()).status_code == 200


async def test_a_webhook_stays_with_its_customer(subscriber: Subscriber, receiver: WebhookReceiver) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    alone = await visitor_of(subscriber, mine["id"])
    assert (await subscriber.change(mine["id"], customer="beta"))["customer"] == "beta"
    assert (await alone.look()).status_code == 404

    for wish in ("acme", None):
        answer = await subscriber.client.patch(f"{HOME}/{mine['id']}", json={"customer": wish})
        assert answer.status_code == 400
        [wrong] = answer.json()["errors"]
        assert wrong["field"] == "customer"
        assert "make a new one" in str(wrong)
    assert (await subscriber.change(mine["id"], customer="beta", name="Same"))["name"] == "Same"


async def test_a_link_that_is_made_while_its_webhook_changes_is_ended_by_the_change(
    subscriber: Subscriber,
) -> None:
    mine = await subscriber.webhook(f"{URL}/a", customer="acme")
    world = subscriber.world
    links = world.system.notify.parts.get(WebhookPortalLinks)
    async with world.db.tenant(subscriber.tenant_id) as tx:
        # What the route holds: the change waits for the link, and ends it.
        webhook = await store.find_webhook(tx, mine["id"], is_test=False, lock=True)
        assert webhook is not None
        made = await links.make(tx, webhook, CreateWebhookPortalLink().plan(), actor="me")
        change = asyncio.create_task(subscriber.change(mine["id"], condition=ACME))
        asked = asyncio.create_task(subscriber.client.post(f"{HOME}/{mine['id']}/portal-links", json={}))
        await asyncio.sleep(0.3)
        assert not change.done()
        assert not asked.done()
    await change
    assert (await asked).status_code == 201
    visitor = PortalVisitor(link={"url": made.url, "id": made.link.id}, browser=world.http.client())

    assert (await visitor.look()).status_code == 404


async def test_a_form_of_a_link_that_has_just_ended_does_nothing(
    subscriber: Subscriber, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await subscriber.webhook(f"{URL}/a", customer="acme")
    visitor = await visitor_of(subscriber, mine["id"])
    add, pause = PortalDesk.add, PortalDesk.pause

    async def end(*_: object) -> None:
        await subscriber.client.delete(f"{HOME}/{mine['id']}/portal-links")

    async def late_add(self: PortalDesk, *given: Any) -> Any:
        await end()
        return await add(self, *given)

    async def late_pause(self: PortalDesk, *given: Any) -> None:
        await end()
        await pause(self, *given)

    monkeypatch.setattr(PortalDesk, "add", late_add)
    monkeypatch.setattr(PortalDesk, "pause", late_pause)
    added = await visitor.sends("/new", url=f"{URL}/evil", events=[DELIVERED])
    visitor = await visitor_of(subscriber, mine["id"])
    paused = await visitor.does(mine["id"], "pause")

    assert (added.status_code, paused.status_code) == (404, 404)
    listed = (await subscriber.client.get(HOME)).json()["items"]
    assert [(one["id"], one["status"]) for one in listed] == [(mine["id"], "active")]


async def test_what_waits_is_discarded_with_a_line_in_the_audit(
    subscriber: Subscriber, receiver: WebhookReceiver
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    receiver.status = 500
    await subscriber.told("x", "y")
    visitor = await visitor_of(subscriber, mine["id"])

    await visitor.does(mine["id"], "resume_without")

    rows = await subscriber.rows(
        "SELECT actor, after FROM notification.audit WHERE action = 'webhook.discarded'"
    )
    assert [row["actor"] for row in rows] == [f"portal:{visitor.link['id']}"]
    assert {one["status"] for one in await subscriber.deliveries(mine["id"])} == {"dlq"}


async def test_two_links_of_a_customer_add_no_more_than_one(subscriber: Subscriber) -> None:
    first = await subscriber.webhook(f"{URL}/a", customer="acme")
    second = await subscriber.webhook(f"{URL}/b", customer="acme")
    visitors = [await visitor_of(subscriber, one["id"]) for one in (first, second)]

    answers = await asyncio.gather(
        *(
            visitor.sends("/new", url=f"{URL}/{place}{number}", events=[DELIVERED])
            for number in range(12)
            for place, visitor in enumerate(visitors)
        )
    )

    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), statuses.count(409)) == (18, 6)


async def test_an_endpoint_that_goes_while_it_is_tested_is_a_page(
    subscriber: Subscriber, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await subscriber.webhook(receiver.url("/a"))
    visitor = await visitor_of(subscriber, mine["id"])
    try_webhook = WebhookTrier.try_webhook

    async def gone(self: WebhookTrier, *given: Any, **named: Any) -> Any:
        await subscriber.client.delete(f"{HOME}/{mine['id']}")
        return await try_webhook(self, *given, **named)

    monkeypatch.setattr(WebhookTrier, "try_webhook", gone)
    answer = await visitor.sends(f"/endpoints/{mine['id']}/test")

    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")


async def test_what_is_too_much_for_one_press_is_said(
    subscriber: Subscriber, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redeliver, "MOST_AT_ONCE", 2)
    mine = await subscriber.webhook(receiver.url("/a"))
    receiver.status = 500
    await subscriber.told("a", "b", "c")
    visitor = await visitor_of(subscriber, mine["id"])
    await visitor.does(mine["id"], "resume_without")

    notes = []
    for _ in range(2):
        answer = await visitor.does(mine["id"], "redeliver")
        page = await visitor.browser.get(answer.headers["location"])
        notes.append("There are more" in page.text)

    assert notes == [True, False]
