"""Made-up keys cost little, are limited where they come from, and keep nobody out who has a key."""

import asyncio

import httpx2
import pytest

from tests.support.http import HttpWorld
from tests.support.statements import counting
from tidings.kernel.http.callers import MOST_FAILED
from tidings.notify.access.model import credential, new_secret
from tidings.notify.ids import API_KEY

WHO = "/api/v1/tenant"


def made_up(world: HttpWorld) -> str:
    """A credential of the right form that is nobody's."""
    return credential(API_KEY.new(world.clock.now()), new_secret())


async def ask(client: httpx2.AsyncClient, carried: str) -> httpx2.Response:
    return await client.get(WHO, headers={"Authorization": f"Bearer {carried}"})


async def test_a_flood_of_made_up_keys_costs_a_few_statements_and_good_keys_work_throughout(
    world: HttpWorld,
) -> None:
    """One that this process has seen, and one that it has not, from the same address as the flood."""
    tenant = await world.tenant()
    (_, seen), (_, unseen) = await world.key(tenant.id), await world.key(tenant.id)
    async with world.client() as client:
        assert (await ask(client, seen)).status_code == 200
        with counting(world.db) as asked:
            answers = await asyncio.gather(
                *(ask(client, made_up(world)) for _ in range(250)),
                ask(client, seen),
                ask(client, unseen),
                *(ask(client, made_up(world)) for _ in range(250)),
            )
        after = await ask(client, seen)

    assert [answers[250].status_code, answers[251].status_code, after.status_code] == [200] * 3
    refused = [answer for n, answer in enumerate(answers) if n not in (250, 251)]
    assert [answer.status_code for answer in refused].count(401) == MOST_FAILED
    assert [answer.status_code for answer in refused].count(429) == len(refused) - MOST_FAILED
    limited = next(answer for answer in refused if answer.status_code == 429)
    assert limited.json()["code"] == "too_many_failed_logins"
    assert 1 <= int(limited.headers["retry-after"]) <= 60
    assert len([text for text in asked.texts if "api_keys" in text]) < len(refused) / 3


async def test_the_same_made_up_key_again_costs_nothing(world: HttpWorld) -> None:
    carried = made_up(world)
    async with world.client() as client:
        await ask(client, carried)
        with counting(world.db) as asked:
            answers = [await ask(client, carried) for _ in range(20)]

    assert {answer.status_code for answer in answers} == {401}
    assert asked.statements <= 1


@pytest.mark.parametrize("header", [None, "Basic eDp5", "Bearer"])
async def test_who_sends_no_key_at_all_is_not_counted(world: HttpWorld, header: str | None) -> None:
    async with world.client() as client:
        sent = {"Authorization": header} if header else {}
        answers = [await client.get(WHO, headers=sent) for _ in range(MOST_FAILED + 5)]

    assert {answer.status_code for answer in answers} == {401}
