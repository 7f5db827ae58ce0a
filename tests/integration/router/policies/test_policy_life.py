"""A policy's life: versions, roll-backs, deletion with a grace period, and the audit of it all."""

import asyncio
from datetime import timedelta

import httpx2

from tests.integration.router.policies.world import AUDIT, HOME, OTP, PolicyWorld, made, wish


async def put(client: httpx2.AsyncClient, policy: dict[str, object], **more: object) -> dict[str, object]:
    answer = await client.put(
        f"{HOME}/{policy['id']}", json=wish(policy, **more), headers={"If-Match": f'"v{policy["version"]}"'}
    )
    assert answer.status_code == 200, answer.text
    changed: dict[str, object] = answer.json()
    return changed


async def test_every_version_stays_as_it_was(client: httpx2.AsyncClient) -> None:
    first = await made(client)
    second = await put(client, first, cost_cap_micros=None)
    await put(client, second, strategy="PARALLEL")

    kept = (await client.get(f"{HOME}/{first['id']}/versions")).json()["items"]
    one = (await client.get(f"{HOME}/{first['id']}/versions/1")).json()

    assert [version["version"] for version in kept] == [3, 2, 1]
    assert [version["policy"]["strategy"] for version in kept] == ["PARALLEL", "SEQUENTIAL", "SEQUENTIAL"]
    assert one["policy"]["cost_cap_micros"] == 150_000
    assert kept[-1] == one
    assert one["changed_by"].startswith("key_")


async def test_versions_come_in_pages(client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    for cap in range(1, 6):
        policy = await put(client, policy, cost_cap_micros=cap)

    numbers: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await client.get(f"{HOME}/{policy['id']}/versions", params={"limit": "2", **cursor})).json()
        numbers += [version["version"] for version in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert numbers == [6, 5, 4, 3, 2, 1]


async def test_rolling_back_is_a_new_version(client: httpx2.AsyncClient) -> None:
    first = await made(client)
    await put(client, first, ladder=[{"channel": "sms", "deadline_seconds": 9}])
    where = f"{HOME}/{first['id']}"

    stale = await client.post(f"{where}/rollback", json={"version": 1}, headers={"If-Match": '"v1"'})
    back = await client.post(f"{where}/rollback", json={"version": 1})
    nowhere = await client.post(f"{where}/rollback", json={"version": 9})

    assert stale.status_code == 412
    assert (back.json()["version"], back.json()["ladder"]) == (3, first["ladder"])
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "policy_version_not_found")


async def test_a_deleted_policy_can_be_restored_for_a_while(
    world: PolicyWorld, client: httpx2.AsyncClient
) -> None:
    policy = await made(client)
    where = f"{HOME}/{policy['id']}"

    gone = (await client.delete(where, headers={"If-Match": '"v1"'})).json()
    twice = await client.delete(where)
    changed = await client.put(where, json=wish(policy), headers={"If-Match": "*"})
    listed = (await client.get(HOME)).json()["items"]
    with_deleted = (await client.get(HOME, params={"deleted": "true"})).json()["items"]
    await world.clock.advance(timedelta(days=29))
    back = await client.post(f"{where}/restore")
    in_force = await client.post(f"{where}/restore")

    assert gone["deleted_at"] is not None
    assert gone["grace_period_ends_at"] > gone["deleted_at"]
    assert (twice.json()["code"], changed.json()["code"]) == ("policy_deleted", "policy_deleted")
    assert listed == []
    assert [one["id"] for one in with_deleted] == [policy["id"]]
    assert (back.status_code, back.json()["version"], back.json()["deleted_at"]) == (200, 3, None)
    assert in_force.json()["code"] == "policy_in_force"


async def test_after_the_grace_period_it_stays_deleted(
    world: PolicyWorld, client: httpx2.AsyncClient
) -> None:
    policy = await made(client)
    await client.delete(f"{HOME}/{policy['id']}")
    await world.clock.advance(timedelta(days=30))

    answer = await client.post(f"{HOME}/{policy['id']}/restore")

    assert (answer.status_code, answer.json()["code"]) == (409, "policy_grace_over")


async def test_a_use_case_is_free_again_at_once(client: httpx2.AsyncClient) -> None:
    """And the deleted one stays deleted while another is in force."""
    first = await made(client)
    await client.delete(f"{HOME}/{first['id']}")
    second = await made(client)

    answer = await client.post(f"{HOME}/{first['id']}/restore")

    assert (answer.status_code, answer.json()["code"]) == (409, "policy_exists")
    assert second["id"] in answer.json()["detail"]


async def test_one_is_in_force_whoever_comes_first(client: httpx2.AsyncClient) -> None:
    """One that is restored and one that is made at the same moment."""
    first = await made(client)
    await client.delete(f"{HOME}/{first['id']}")

    answers = await asyncio.gather(
        client.post(f"{HOME}/{first['id']}/restore"), client.post(HOME, json=OTP), client.post(HOME, json=OTP)
    )

    refused = [answer for answer in answers if answer.status_code == 409]
    assert (len(refused), {answer.json()["code"] for answer in refused}) == (2, {"policy_exists"})
    assert len((await client.get(HOME)).json()["items"]) == 1


async def test_the_audit_tells_all_of_it(client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    await put(client, policy, order="cheapest")
    await client.post(f"{HOME}/{policy['id']}/rollback", json={"version": 1})
    await client.delete(f"{HOME}/{policy['id']}")
    await client.post(f"{HOME}/{policy['id']}/restore")

    rows = (
        await client.get(AUDIT, params={"entity_type": "fallback_policy", "entity_id": policy["id"]})
    ).json()["items"]
    # The clock stands, so that their times do not tell which came first.
    rows.sort(key=lambda row: -row["seq"])

    assert [row["action"] for row in rows] == ["restored", "deleted", "rolled_back", "updated", "created"]
    assert rows[-1]["before"] is None
    assert rows[3]["before"]["order"] == "fixed"
    assert rows[3]["after"]["order"] == "cheapest"
    assert rows[2]["reason"] == "to version 1"
    assert [row["prev_hash"] for row in rows[:-1]] == [row["record_hash"] for row in rows[1:]]


async def test_what_is_refused_leaves_no_line(client: httpx2.AsyncClient) -> None:
    await made(client)
    await client.post(HOME, json=OTP)

    rows = (await client.get(AUDIT, params={"entity_type": "fallback_policy"})).json()["items"]

    assert [row["action"] for row in rows] == ["created"]
