"""Policies through HTTP: made, shown, changed, and never by accident."""

import asyncio

import httpx2

from tests.integration.router.policies.world import HOME, OTP, PolicyWorld, made, wish


async def test_a_policy_is_made_and_shown(client: httpx2.AsyncClient) -> None:
    answer = await client.post(HOME, json=OTP)

    policy = answer.json()
    shown = await client.get(answer.headers["location"])
    assert answer.status_code == 201
    assert (answer.headers["etag"], policy["version"], policy["deleted_at"]) == ('"v1"', 1, None)
    assert [step["channel"] for step in policy["ladder"]] == ["whatsapp", "sms", "email"]
    assert policy["ladder"][0]["conditions"] == {"reachable": "not_known_no"}
    assert shown.json() == policy
    assert shown.headers["etag"] == '"v1"'


async def test_what_may_surprise_is_said_beside_it(client: httpx2.AsyncClient) -> None:
    policy = await made(
        client, cost_cap_micros=0, ladder=[{"channel": "sms", "deadline_seconds": 5, "vendor": "http"}]
    )

    warned = {(w["field"], w["code"]) for w in policy["warnings"]}
    assert ("cost_cap_micros", "zero_cap") in warned
    assert ("ladder[0].channel", "channel_not_set_up") in warned


async def test_all_that_is_wrong_is_named(client: httpx2.AsyncClient) -> None:
    ladder = [{"channel": "sms", "deadline_seconds": 5, "vendor": "smtp"}]

    answer = await client.post(HOME, json={**OTP, "strategy": "PARALLEL", "ladder": ladder})

    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {"ladder", "ladder[0].vendor"}
    assert (await client.get(HOME)).json()["items"] == []


async def test_one_policy_for_each_use_case(client: httpx2.AsyncClient) -> None:
    first = await made(client)

    again = await client.post(HOME, json=OTP)
    other = await client.post(HOME, json={**OTP, "use_case": "alert"})

    assert (again.status_code, again.json()["code"]) == (409, "policy_exists")
    assert first["id"] in again.json()["detail"]
    assert other.status_code == 201


async def test_two_who_make_one_at_once(client: httpx2.AsyncClient) -> None:
    answers = await asyncio.gather(*(client.post(HOME, json=OTP) for _ in range(4)))

    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    assert len((await client.get(HOME)).json()["items"]) == 1


async def test_a_repeated_request_is_answered_again(client: httpx2.AsyncClient) -> None:
    key = {"Idempotency-Key": "once"}

    first = await client.post(HOME, json=OTP, headers=key)
    second = await client.post(HOME, json=OTP, headers=key)
    other = await client.post(HOME, json={**OTP, "use_case": "txn"}, headers=key)

    assert second.json() == first.json()
    assert second.headers["idempotency-replayed"] == "true"
    assert other.json()["code"] == "idempotency_key_reused"


async def test_a_change_names_the_version_it_is_made_from(client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    where, changed = f"{HOME}/{policy['id']}", wish(policy, order="learned")

    without = await client.put(where, json=changed)
    first = await client.put(where, json=changed, headers={"If-Match": '"v1"'})
    late = await client.put(where, json=wish(policy), headers={"If-Match": '"v1"'})

    assert without.status_code == 428
    assert (first.status_code, first.json()["order"], first.headers["etag"]) == (200, "learned", '"v2"')
    assert (late.status_code, late.json()["code"]) == (412, "stale_version")
    assert (await client.get(where)).json()["order"] == "learned"


async def test_of_several_changes_from_one_version_one_counts(client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    where, seen = f"{HOME}/{policy['id']}", {"If-Match": '"v1"'}

    answers = await asyncio.gather(
        *(client.put(where, json=wish(policy, cost_cap_micros=cap), headers=seen) for cap in range(1, 5))
    )

    assert sorted(answer.status_code for answer in answers) == [200, 412, 412, 412]
    assert len((await client.get(f"{where}/versions")).json()["items"]) == 2


async def test_what_says_the_same_is_no_new_version(client: httpx2.AsyncClient) -> None:
    policy = await made(client)

    answer = await client.put(f"{HOME}/{policy['id']}", json=wish(policy), headers={"If-Match": "*"})

    assert (answer.status_code, answer.json()["version"]) == (200, 1)
    assert len((await client.get(f"{HOME}/{policy['id']}/versions")).json()["items"]) == 1


async def test_the_use_case_stays(client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    where = f"{HOME}/{policy['id']}"

    same = await client.put(where, json=wish(policy, use_case="otp"), headers={"If-Match": "*"})
    other = await client.put(where, json=wish(policy, use_case="txn"), headers={"If-Match": "*"})

    assert same.status_code == 200
    assert (other.status_code, other.json()["errors"][0]["field"]) == (400, "use_case")


async def test_pages_follow_each_other(client: httpx2.AsyncClient) -> None:
    for use_case in ("otp", "txn", "alert", "marketing", "conversational"):
        await made(client, use_case=use_case)

    whole = [one["id"] for one in (await client.get(HOME)).json()["items"]]
    first = (await client.get(HOME, params={"limit": "2"})).json()
    second = (await client.get(HOME, params={"limit": "3", "cursor": first["next_cursor"]})).json()

    assert [one["id"] for one in (*first["items"], *second["items"])] == whole
    assert second["next_cursor"] is None
    assert [
        one["use_case"] for one in (await client.get(HOME, params={"use_case": "txn"})).json()["items"]
    ] == ["txn"]


async def test_nobody_sees_or_changes_anothers(world: PolicyWorld, client: httpx2.AsyncClient) -> None:
    policy = await made(client)
    other = await world.http.tenant()

    async with world.http.as_tenant(other.id) as stranger:
        answers = [
            await stranger.get(f"{HOME}/{policy['id']}"),
            await stranger.put(f"{HOME}/{policy['id']}", json=wish(policy), headers={"If-Match": "*"}),
            await stranger.delete(f"{HOME}/{policy['id']}"),
            await stranger.get(f"{HOME}/{policy['id']}/versions"),
            await stranger.get(f"{HOME}/{policy['id']}/versions/1"),
            await stranger.post(f"{HOME}/{policy['id']}/rollback", json={"version": 1}),
        ]
        listed = (await stranger.get(HOME, params={"deleted": "true"})).json()

    assert {answer.status_code for answer in answers} == {404}
    assert listed["items"] == []


async def test_reading_and_writing_need_their_scopes(world: PolicyWorld) -> None:
    tenant = await world.http.tenant()

    async with world.http.as_tenant(tenant.id, scopes=["router:read"]) as reader:
        listed = await reader.get(HOME)
        refused = await reader.post(HOME, json=OTP)
    async with world.http.as_tenant(tenant.id, scopes=["channels:write"]) as stranger:
        unread = await stranger.get(HOME)

    assert listed.status_code == 200
    assert (refused.status_code, unread.status_code) == (403, 403)


async def test_what_waiting_costs(client: httpx2.AsyncClient) -> None:
    """Codes and alarms wait dearly unless the policy says otherwise; what is left out goes back to the default."""
    otp = await made(client)
    txn = await made(client, use_case="txn")
    alert = await made(client, use_case="alert", value_of_a_second=0)
    where = f"{HOME}/{alert['id']}"
    dearer = await client.put(where, json=wish(alert, value_of_a_second=50), headers={"If-Match": "*"})
    left_out = {name: value for name, value in wish(alert).items() if name != "value_of_a_second"}
    usual = await client.put(where, json=left_out, headers={"If-Match": "*"})
    back = await client.post(f"{where}/rollback", json={"version": 2}, headers={"If-Match": "*"})
    wrong = await client.post(HOME, json={**OTP, "use_case": "marketing", "value_of_a_second": -1})

    assert [one["value_of_a_second"] for one in (otp, txn, alert)] == [1_000, 100, 0]
    assert [one.json()["value_of_a_second"] for one in (dearer, usual, back)] == [50, 1_000, 50]
    assert wrong.status_code == 400
    assert [error["field"] for error in wrong.json()["errors"]] == ["value_of_a_second"]
