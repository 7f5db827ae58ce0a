"""The feed of a person: pages, views, counts, and who may look."""

from datetime import timedelta

import pytest

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import HOME as NOTIFICATIONS
from tests.support.pipeline import PipelineWorld, Sender


async def filled(sender: Sender, count: int, **wish: object) -> tuple[str, list[str]]:
    """Somebody with so many items; their titles count from 0."""
    whom = await somebody(sender)
    ids = []
    for number in range(count):
        ids.append(await send(sender, {"id": whom}, f"N-{number}", **wish))
        await settle(sender.world)
    return whom, ids


async def test_pages_go_on_where_they_ended_while_items_arrive(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, _ = await filled(sender, 5)
        async with visitor(sender, laila) as her:
            first = await feed(her, limit=2)
            await send(sender, {"id": laila}, "N-5")
            await settle(world)
            second = await feed(her, limit=2, cursor=first["next_cursor"])
            third = await feed(her, limit=2, cursor=second["next_cursor"])
            whole = await feed(her)

    titles = [[item["title"] for item in page["items"]] for page in (first, second, third)]
    assert titles == [["N-4", "N-3"], ["N-2", "N-1"], ["N-0"]]
    assert third["next_cursor"] is None
    assert whole["items"][0]["title"] == "N-5"
    assert (whole["unread"], second["unread"]) == (6, 6)


async def test_views_tabs_and_tags(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, _ = await filled(sender, 3)
        await send(sender, {"id": laila}, "N-3", category="billing")
        await settle(world)
        async with visitor(sender, laila) as her:
            three, two, one, zero = [item["id"] for item in (await feed(her))["items"]]
            await her.post(f"{HOME}/{zero}/archive")
            await her.post(f"{HOME}/{one}/read")
            until = (world.clock.now() + timedelta(hours=3)).isoformat()
            assert (await her.post(f"{HOME}/{two}/snooze", json={"until": until})).status_code == 200
            seen = {
                view: [item["title"] for item in (await feed(her, view=view))["items"]]
                for view in ("inbox", "unread", "archived", "snoozed", "all")
            }
            billing = await feed(her, category="billing")
            tagged = await feed(her, tag="parcels")
            other = await feed(her, tag="invoices")
            counts = (await her.get(f"{HOME}/counts")).json()
            alone = (await her.get(f"{HOME}/{three}")).json()

    assert seen == {
        "inbox": ["N-3", "N-1"],
        "unread": ["N-3"],
        "archived": ["N-0"],
        "snoozed": ["N-2"],
        "all": ["N-3", "N-2", "N-1", "N-0"],
    }
    assert [item["title"] for item in billing["items"]] == ["N-3"]
    assert [item["title"] for item in tagged["items"]] == ["N-3", "N-1"]
    assert other["items"] == []
    assert counts == {"unread": 1, "unseen": 1}
    assert alone["title"] == "N-3"


async def test_a_token_opens_the_inbox_of_its_recipient_and_nothing_else(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender, world.sender(channels=()) as other:
        await publish(sender.client)
        await publish(other.client)
        laila, [sent] = await filled(sender, 1)
        omar = await somebody(sender)
        stranger = await somebody(other)
        [hers] = (await feed_of(sender, laila))["items"]
        for who, whose in ((sender, omar), (other, stranger)):
            async with visitor(who, whose) as them:
                assert (await feed(them))["items"] == []
                for answer in (
                    await them.get(f"{HOME}/{hers['id']}"),
                    await them.post(f"{HOME}/{hers['id']}/read"),
                    await them.delete(f"{HOME}/{hers['id']}"),
                ):
                    assert answer.status_code == 404, answer.text
                    assert answer.json()["code"] == "inbox_item_not_found"
                for path in (
                    f"{NOTIFICATIONS}/{sent}",
                    f"/api/v1/recipients/{whose}",
                    f"/api/v1/recipients/{whose}/inbox",
                    "/api/v1/tenant",
                    "/api/v1/imports",
                ):
                    refused = await them.get(path)
                    assert (refused.status_code, refused.json()["code"]) == (403, "not_allowed"), path
        async with visitor(sender, laila) as her:
            assert len((await feed(her))["items"]) == 1
        with_key = await sender.client.get(HOME)
    assert (with_key.status_code, with_key.json()["code"]) == (403, "not_allowed")
    assert "inbox-tokens" in with_key.json()["detail"]


async def feed_of(sender: Sender, recipient_id: str) -> dict[str, list[dict[str, str]]]:
    """As the tenant sees it."""
    answer = await sender.client.get(f"/api/v1/recipients/{recipient_id}/inbox")
    assert answer.status_code == 200, answer.text
    return answer.json()  # type: ignore[no-any-return]


async def test_tests_have_an_inbox_of_their_own(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, _ = await filled(sender, 1)
        async with world.http.as_tenant(sender.tenant_id, environment="test") as tester:
            trial = Sender(world=world, tenant_id=sender.tenant_id, client=tester)
            await send(trial, {"id": laila}, "T-1")
            await settle(world)
            async with visitor(trial, laila) as in_test, visitor(sender, laila) as live:
                tests, real = await feed(in_test), await feed(live)
            seen = await feed_of(trial, laila)

    assert [item["title"] for item in tests["items"]] == ["T-1"]
    assert [item["title"] for item in real["items"]] == ["N-0"]
    assert [item["title"] for item in seen["items"]] == ["T-1"]
    assert (tests["unread"], real["unread"]) == (1, 1)


async def test_a_token_ends_and_can_be_voided(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, _ = await filled(sender, 1)
        omar = await somebody(sender)
        path = f"/api/v1/recipients/{laila}/inbox-tokens"
        async with (
            visitor(sender, laila) as long,
            visitor(sender, laila, expires_in=60) as short,
            visitor(sender, omar) as his,
        ):
            assert (await feed(short))["unread"] == 1
            await world.clock.advance(timedelta(seconds=61))
            ended = await short.get(HOME)
            voided = await sender.client.delete(path)
            void = await long.get(HOME)
            moved = await long.post(f"{HOME}/read-all")
            assert (await feed(his))["unread"] == 0
        await world.clock.advance(timedelta(seconds=1))
        async with visitor(sender, laila) as again:
            assert (await feed(again))["unread"] == 1
        nobody = await sender.client.post("/api/v1/recipients/rcp_01M7FH87G06QQE67ATFGNQ1BJ2/inbox-tokens")
        too_long = await sender.client.post(path, json={"expires_in": 86_401})

    assert (ended.status_code, voided.status_code) == (401, 204)
    assert "expired" in ended.json()["detail"]
    assert (void.status_code, moved.status_code) == (401, 401)
    assert "voided" in void.json()["detail"]
    assert nobody.status_code == 404
    assert too_long.json()["errors"][0]["field"] == "expires_in"


@pytest.mark.parametrize(
    "spoil", [lambda text: text[:-2] + "AA", lambda text: text + "A", lambda text: "tdi_x"]
)
async def test_a_token_that_was_changed_opens_nothing(world: PipelineWorld, spoil) -> None:  # type: ignore[no-untyped-def]
    async with world.sender(channels=()) as sender:
        laila = await somebody(sender)
        made = await sender.client.post(f"/api/v1/recipients/{laila}/inbox-tokens")
        async with world.http.client(spoil(made.json()["token"])) as client:
            answer = await client.get(HOME)

    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


async def test_a_frozen_tenants_people_read_and_change_nothing(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila, _ = await filled(sender, 1)
        async with visitor(sender, laila) as her, world.http.as_platform() as platform:
            [item] = (await feed(her))["items"]
            tenant = f"/internal/v1/tenants/{sender.tenant_id}"
            for act, looks, writes in (("freeze", 200, 423), ("unfreeze", 200, 200), ("suspend", 403, 403)):
                done = await platform.post(f"{tenant}/{act}", json={})
                assert done.status_code == 200, done.text
                assert (await her.get(HOME)).status_code == looks
                assert (await her.post(f"{HOME}/{item['id']}/read")).status_code == writes
