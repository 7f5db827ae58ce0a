"""What people do with their items: everything twice is once, and the counts are exact whoever changes at the same time."""

import asyncio
from datetime import timedelta
from typing import Any

import httpx2

from tests.support.inbox import HOME, feed, publish, send, settle, somebody, visitor
from tests.support.pipeline import PipelineWorld, Sender


async def exact(sender: Sender, recipient_id: str) -> dict[str, int]:
    """The counts as the rows have them."""
    [row] = await sender.rows(
        "SELECT count(*) FILTER (WHERE read_at IS NULL) AS unread, count(*) FILTER (WHERE seen_at IS NULL) AS unseen "
        "FROM notification.inbox_items WHERE recipient_id = $1 AND removed_at IS NULL AND archived_at IS NULL "
        "AND snoozed_until IS NULL",
        recipient_id,
    )
    return row


async def counts(client: httpx2.AsyncClient) -> dict[str, int]:
    found: dict[str, int] = (await client.get(f"{HOME}/counts")).json()
    return found


async def filled(sender: Sender, count: int) -> str:
    whom = await somebody(sender)
    for number in range(count):
        await send(sender, {"id": whom}, f"N-{number}")
    await settle(sender.world)
    return whom


async def test_every_change_twice_is_once(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 2)
        until = (world.clock.now() + timedelta(hours=3)).isoformat()
        ways: list[tuple[str, dict[str, Any] | None, tuple[int, int]]] = [
            ("seen", None, (2, 1)),
            ("read", None, (1, 1)),
            ("unread", None, (2, 1)),
            ("archive", None, (1, 1)),
            ("unarchive", None, (2, 1)),
            ("snooze", {"until": until}, (1, 1)),
            ("unsnooze", None, (2, 1)),
        ]
        async with visitor(sender, laila) as her:
            item = (await feed(her))["items"][0]
            for verb, body, expected in ways:
                for _ in range(2):
                    done = await her.post(f"{HOME}/{item['id']}/{verb}", json=body)
                    assert done.status_code == 200, done.text
                    assert (done.json()["unread"], done.json()["unseen"]) == expected, verb
            for _ in range(2):
                assert (await her.delete(f"{HOME}/{item['id']}")).status_code == 204
            gone = await her.get(f"{HOME}/{item['id']}")
            assert gone.status_code == 404
            assert await counts(her) == await exact(sender, laila) == {"unread": 1, "unseen": 1}
        [row] = await sender.rows(
            "SELECT content FROM notification.inbox_items WHERE id = $1 AND removed_at IS NOT NULL",
            item["id"],
        )
    assert row["content"] is None


async def test_everything_is_read_or_seen_at_once(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 4)
        await send(sender, {"id": laila}, "B-1", category="billing")
        await settle(world)
        async with visitor(sender, laila) as her:
            seen = (await her.post(f"{HOME}/see-all")).json()
            billing = (await her.post(f"{HOME}/read-all", json={"category": "billing"})).json()
            rest = (await her.post(f"{HOME}/read-all")).json()
            again = (await her.post(f"{HOME}/read-all")).json()
            assert await exact(sender, laila) == {"unread": 0, "unseen": 0}
        events = await sender.rows(
            "SELECT count(*) AS n FROM notification.notifications WHERE recipient_id = $1 AND read_at IS NOT NULL",
            laila,
        )

    assert seen == {"changed": 5, "unread": 5, "unseen": 0}
    assert billing == {"changed": 1, "unread": 4, "unseen": 0}
    assert rest == {"changed": 4, "unread": 0, "unseen": 0}
    assert again == {"changed": 0, "unread": 0, "unseen": 0}
    assert events == [{"n": 5}]


async def test_counts_are_exact_with_fifty_at_once(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 10)
        async with visitor(sender, laila) as her:
            ids = [item["id"] for item in (await feed(her))["items"]]
            verbs = ("read", "unread", "archive", "unarchive", "seen")
            calls = [her.post(f"{HOME}/{ids[n % 10]}/{verbs[(n // 10 + n) % 5]}") for n in range(44)]
            calls += [
                her.post(f"{HOME}/read-all"),
                her.post(f"{HOME}/see-all"),
                her.delete(f"{HOME}/{ids[0]}"),
            ]
            more = [send(sender, {"id": laila}, f"M-{n}") for n in range(3)]
            beside = asyncio.gather(*more, settle(world))
            answers = await asyncio.gather(*calls)
            await beside
            await settle(world)

            assert {answer.status_code for answer in answers} <= {200, 204, 404}
            assert await counts(her) == await exact(sender, laila)
            assert len((await feed(her, view="all"))["items"]) == 12


async def test_a_tenant_does_the_same_for_a_person(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 2)
        path = f"/api/v1/recipients/{laila}/inbox"
        item = (await sender.client.get(path)).json()["items"][0]
        for verb in ("read", "unread", "archive", "unarchive"):
            done = await sender.client.post(f"{path}/{item['id']}/{verb}")
            assert done.status_code == 200, done.text
        shown = (await sender.client.get(f"{path}/{item['id']}")).json()
        every = (await sender.client.post(f"{path}/read-all")).json()
        assert (await sender.client.delete(f"{path}/{item['id']}")).status_code == 204
        other = await somebody(sender)
        elsewhere = await sender.client.get(f"/api/v1/recipients/{other}/inbox/{item['id']}")

    assert shown["title"] == item["title"]
    assert every == {"changed": 2, "unread": 0, "unseen": 0}
    assert elsewhere.status_code == 404


async def test_a_viewer_reads_inboxes_and_changes_none(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 1)
        path = f"/api/v1/recipients/{laila}/inbox"
        async with world.http.as_tenant(sender.tenant_id, role="tenant.viewer") as viewer:
            found = await viewer.get(path)
            item = found.json()["items"][0]["id"]
            refused = [
                await viewer.post(f"{path}/{item}/read"),
                await viewer.post(f"/api/v1/recipients/{laila}/inbox-tokens"),
            ]
    assert found.status_code == 200
    assert {(one.status_code, one.json()["code"]) for one in refused} == {(403, "missing_scope")}


async def test_a_snooze_needs_a_moment_to_come(world: PipelineWorld) -> None:
    async with world.sender(channels=()) as sender:
        await publish(sender.client)
        laila = await filled(sender, 1)
        now = world.clock.now()
        async with visitor(sender, laila) as her:
            [item] = (await feed(her))["items"]
            for until in (now, now + timedelta(days=367)):
                answer = await her.post(f"{HOME}/{item['id']}/snooze", json={"until": until.isoformat()})
                assert answer.status_code == 400
                assert answer.json()["errors"][0]["field"] == "until"
