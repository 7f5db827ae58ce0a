"""Which messages carry links to say no, what those cost, and that they are the same when a body is shown again."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.integration.preferences.visitors import token_of, visitor
from tests.integration.templates.drafts import draft
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, order, person
from tests.support.statements import Asked, counting
from tidings.notify.preference_center.links import MessageLinks
from tidings.notify.preference_center.store import sweep_tokens
from tidings.notify.preference_center.tokens import OptOutScope

pytestmark = pytest.mark.xdist_group("preferences-links")

BODY = '<p>Hello {{name}}. <a href="{{@links.unsubscribe}}">No more</a> <a href="{{@links.preferences}}">Choose</a></p>'
#: What stands between two sends of one set, besides the sends themselves.
MANY = 50


async def test_mail_that_can_be_unsubscribed_from_says_how(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        fixed = f"{unused()}@example.test"
        await sender.send(fixed)
        await world.settle()
    [mail] = world.received(laila.to)
    assert {name.lower(): value for name, value in mail.headers.items()}["list-unsubscribe-post"] == (
        "List-Unsubscribe=One-Click"
    )
    [other] = world.received(fixed)
    assert not [name for name in other.headers if name.lower().startswith("list-unsubscribe")]


async def test_the_words_hold_the_same_links_and_again_when_they_are_shown(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        path = "/api/v1/templates/nudge/email/versions"
        locales = {"en": {"format": "html", "subject": "Nudge", "body": BODY}}
        made = await sender.client.post(path, json=draft("1.0.0", category="reminder", locales=locales))
        assert made.status_code == 201, made.text
        published = await sender.client.post(f"{path}/1.0.0/publish")
        assert published.status_code == 200, published.text
        wish: dict[str, Any] = {"template": "nudge", "variables": {"name": "Laila"}}
        sent = await sender.send(to, **wish)
        rehearsed = await sender.client.post(f"{HOME}/simulate", json=order(to, **wish))
        await world.settle()
        shown = await sender.client.get(f"{HOME}/{sent['id']}/body")
    [mail] = world.received(to)
    token = token_of(mail.headers)
    assert f"https://tidings.example/u/{token}" in (mail.html or "")
    assert f"https://tidings.example/p/{token}" in (mail.html or "")
    assert f"/p/{token}" in (mail.text or "")
    assert (shown.json()["exact"], token in shown.text) == (True, True)
    assert "https://tidings.example/u/example" in rehearsed.text
    assert token not in rehearsed.text


async def test_a_month_of_one_category_shares_a_link_and_only_its_hash_is_kept(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        for category in ("reminder", "social"):
            await sender.send(recipient=laila.recipient_id, category=category)
        await world.settle()
        rows = await sender.rows(
            "SELECT category, token_hash FROM notification.opt_out_tokens WHERE recipient_id = $1 ORDER BY 1",
            laila.recipient_id,
        )
    tokens = [token_of(mail.headers) for mail in world.received(laila.to)]
    assert (tokens.count(laila.token), len(set(tokens))) == (2, 2)
    assert [row["category"] for row in rows] == ["reminder", "social"]
    assert not any(laila.token in str(row) for row in rows)


async def test_a_guardian_who_reads_instead_gets_a_link_of_their_own(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        guardian = (await sender.client.post("/api/v1/recipients", json=person(to))).json()["id"]
        await sender.choose(laila.recipient_id, guardian_routing={"guardian_id": guardian, "mode": "instead"})
        await sender.send(recipient=laila.recipient_id, category="reminder")
        await world.settle()
        rows = await sender.rows(
            "SELECT 1 FROM notification.opt_out_tokens WHERE recipient_id = $1", guardian
        )
    [mail] = world.received(to)
    assert token_of(mail.headers) != laila.token
    assert len(rows) == 1


async def test_a_set_costs_one_statement_more_and_none_where_nobody_can_say_no(world: PipelineWorld) -> None:
    found: dict[tuple[str, int], Asked] = {}
    async with world.sender() as sender:
        for _ in ("warm", "measured"):
            for category in ("transactional", "reminder"):
                for count in (1, MANY):
                    orders = [order(category=category) for _ in range(count)]
                    answer = await sender.client.post(f"{HOME}/bulk", json={"notifications": orders})
                    assert answer.json()["accepted"] == count, answer.text
                    with counting(world.db) as found[category, count]:
                        await world.system.dispatch.job.drain()
                    await world.settle()
    of_tokens = {key: sum("opt_out_tokens" in text for text in asked.texts) for key, asked in found.items()}
    assert of_tokens == {
        ("transactional", 1): 0,
        ("transactional", MANY): 0,
        ("reminder", 1): 1,
        ("reminder", MANY): 1,
    }


async def test_two_workers_that_meet_the_same_people_do_not_block_each_other(world: PipelineWorld) -> None:
    links = world.system.notify.links
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        async with world.db.tenant(sender.tenant_id) as tx:
            pepper = await world.system.kernel.keyring.pepper(tx)
        for round_ in range(5):
            at = world.clock.now().replace(year=2027 + round_)
            made = [
                links.make(
                    sender.tenant_id,
                    OptOutScope(recipient_id=laila.recipient_id, channel="email", category=f"c{n}"),
                    pepper=pepper,
                    at=at,
                )
                for n in range(40)
            ]

            async def store(some: list[MessageLinks]) -> None:
                async with world.db.tenant(sender.tenant_id, by_index=True) as tx:
                    await links.store(tx, some)
                    await asyncio.sleep(0.005)

            await asyncio.gather(store(made), store(made[::-1]), store(made[20:] + made[:20]))
        rows = await sender.rows("SELECT count(*) AS n FROM notification.opt_out_tokens")
    assert rows[0]["n"] == 1 + 5 * 40


async def test_links_of_long_ago_are_swept(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        laila = await visitor(world, sender)
        count = "SELECT count(*) AS n FROM notification.opt_out_tokens WHERE recipient_id = $1"
        for days, left in ((0, 1), (450, 1), (500, 0)):
            async with world.db.worker() as tx:
                await sweep_tokens(tx, now=world.clock.now() + timedelta(days=days), limit=1000)
            assert (await sender.rows(count, laila.recipient_id))[0]["n"] == left, days
