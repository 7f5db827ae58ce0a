"""Inboxes whose API and workers are killed (`kill -9`) while messages come in and their readers listen."""

import asyncio
import os
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import pytest
from bench.house import House, Program, Resident

from tests.support.live_inbox import DEADLINE, Hearer, hear_events
from tests.support.prepared_house import prepared_house

pytestmark = pytest.mark.xdist_group("surviving")

SEED = int(os.environ.get("TIDINGS_TEST_SEED", "7"))
PEOPLE = 6
#: To each person, before every kill.
MESSAGES = 12
VERSION: dict[str, Any] = {
    "semver": "1.0.0",
    "category": "transactional",
    "variables_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    "locales": {"en": {"format": "json", "body": '{"title": "{{n}}"}'}},
    "preview_samples": {"usual": {"n": 1}},
}


def test_every_item_is_there_once_and_every_reader_hears_it_once() -> None:
    with prepared_house(workers=1, vendors={}) as house:
        resident = house.resident("read")
        house.publish(resident, "counted", "inapp", VERSION)
        asyncio.run(_live_through(house, resident))


async def _live_through(house: House, resident: Resident) -> None:
    luck = random.Random(SEED)
    [worker] = house.workers
    kills: Sequence[Sequence[Program]] = ((worker,), (house.api,), (house.api, worker))
    headers = {"Authorization": f"Bearer {resident.api_key}"}
    async with httpx2.AsyncClient(base_url=house.base_url, headers=headers, timeout=DEADLINE) as client:
        people = await _send(client, range(PEOPLE))
        tokens = [await _token(client, person) for person in people]
        async with asyncio.timeout(DEADLINE):
            while not all([await _feed(house, token) for token in tokens]):
                await asyncio.sleep(0.05)
        async with _listening(house, tokens) as hearers:
            for hearer in hearers:
                await hearer.until_told(1, "counts")
            sent = PEOPLE
            for killed in kills:
                heard = _heard(hearers)
                await _send(client, range(sent, sent + PEOPLE * MESSAGES))
                sent += PEOPLE * MESSAGES
                await _until_heard(hearers, heard + luck.randrange(PEOPLE * MESSAGES // 2))
                for program in killed:
                    program.kill()
                for program in killed:
                    program.launch()
                house.api.await_ready()
            await _until_heard(hearers, sent - PEOPLE)
            feeds = [await _feed(house, token) for token in tokens]

    for place, (hearer, feed) in enumerate(zip(hearers, feeds, strict=True)):
        wanted = list(range(place, sent, PEOPLE))
        assert sorted(int(item["title"]) for item in feed) == wanted
        told = [int(one["item"]["title"]) for one in hearer.of("item")]
        # All but the first, which was there before they listened.
        assert sorted(told) == wanted[1:]
        assert hearer.of("reset", "change") == []
    assert len({item["id"] for feed in feeds for item in feed}) == sent


async def _send(client: httpx2.AsyncClient, numbers: Sequence[int]) -> list[str]:
    """One message each, to the people in turn; who they are."""
    wanted = [
        {
            "recipient": {"identity": {"type": "guest", "id": f"g-{n % PEOPLE}"}, "locale": "en"},
            "template": "counted",
            "channel": "inapp",
            "variables": {"n": n},
        }
        for n in numbers
    ]
    answer = await client.post("/api/v1/notifications/bulk", json={"notifications": wanted})
    answer.raise_for_status()
    return [one["recipient_id"] for one in answer.json()["results"]]


async def _token(client: httpx2.AsyncClient, person: str) -> str:
    made = await client.post(f"/api/v1/recipients/{person}/inbox-tokens")
    made.raise_for_status()
    return str(made.json()["token"])


@asynccontextmanager
async def _listening(house: House, tokens: Sequence[str]) -> AsyncIterator[list[Hearer]]:
    """A reader for each token, who comes back with the last id whenever the stream breaks."""
    hearers = [Hearer() for _ in tokens]
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(_keep_hearing(house.base_url, token, hearer))
            for token, hearer in zip(tokens, hearers, strict=True)
        ]
        yield hearers
        for task in tasks:
            task.cancel()


async def _keep_hearing(base_url: str, token: str, hearer: Hearer) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(base_url=base_url, headers=headers, timeout=DEADLINE) as client:
        while True:
            after = {} if hearer.last_id is None else {"Last-Event-ID": str(hearer.last_id)}
            with suppress(httpx2.HTTPError):
                async with client.stream("GET", "/api/v1/inbox/stream", headers=after) as answer:
                    if answer.status_code == 200:
                        await hear_events(answer, hearer)
            await asyncio.sleep(0.05)


def _heard(hearers: Sequence[Hearer]) -> int:
    return sum(len(hearer.of("item")) for hearer in hearers)


async def _until_heard(hearers: Sequence[Hearer], count: int) -> None:
    async with asyncio.timeout(DEADLINE):
        while _heard(hearers) < count:
            await asyncio.sleep(0.01)


async def _feed(house: House, token: str) -> list[dict[str, Any]]:
    async with httpx2.AsyncClient(
        base_url=house.base_url, headers={"Authorization": f"Bearer {token}"}, timeout=DEADLINE
    ) as client:
        answer = await client.get("/api/v1/inbox", params={"limit": 100})
        answer.raise_for_status()
        items: list[dict[str, Any]] = answer.json()["items"]
        assert answer.json()["next_cursor"] is None
        assert answer.json()["unread"] == len(items)
    return items
