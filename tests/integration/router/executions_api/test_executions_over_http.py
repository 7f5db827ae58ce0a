"""Executions through HTTP: under way and over, in one list, each with its whole way."""

from datetime import timedelta
from typing import Any

from tests.integration.router.executions_api.conftest import HOME, Scene
from tests.integration.router.policies.world import HOME as POLICIES
from tests.support.ladders import EMAIL, EMAIL_ELSEWHERE, SMS
from tidings.contracts.ids import NotificationId
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.http.paging import After
from tidings.kernel.ids import time_of
from tidings.router.executions.model import EXECUTION
from tidings.router.executions.receipts import apply
from tidings.router.executions_api.listing import find_recent
from tidings.router.executions_api.model import ExecutionFilter
from tidings.router.ids import INBOUND_WEBHOOK_EVENT
from tidings.router.receipts import Receipt
from tidings.router.status_map.change import StatusMapper
from tidings.sandbox.faults import FaultSpec


async def sent(scene: Scene, *routes: Any, **more: Any) -> str:
    """The notification of a message that was handed over."""
    wish = scene.ladders.begin(*routes, **more)
    await scene.worker.send(scene.ladders.tenant_id, [wish])
    await scene.ladders.manual.advance(timedelta(milliseconds=5))
    return wish.hand_off.notification_id


def strike(scene: Scene, adapter: str, mode: str, **more: Any) -> None:
    """A fault in the sandbox."""
    scene.ladders.sandbox.faults.set(FaultSpec(adapter=adapter, mode=mode, **more))  # type: ignore[arg-type]


async def test_one_that_is_over(scene: Scene) -> None:
    notification_id = await sent(scene, use_case="otp")

    (short,) = await scene.listed()
    whole = await scene.shown(short["id"])

    assert (short["notification_id"], short["status"]) == (notification_id, "over")
    assert (short["outcome"], short["evidence"], short["final_channel"]) == (
        "DELIVERED",
        "accepted",
        "email",
    )
    assert {name: whole[name] for name in short} == short
    (step,) = whole["ladder"]
    assert (step["channel"], step["vendors"], step["state"]) == ("email", ["smtp"], "reached")
    (attempt,) = whole["attempts"]
    assert (attempt["status"], attempt["vendor"], attempt["receipts"]) == ("accepted", "smtp", [])
    assert [item["attempt_id"] for item in whole["path"]] == [attempt["id"]]
    assert (whole["policy_id"], whole["order"], whole["order_reasons"]) == (None, None, [])


async def test_one_that_waits_for_its_second_try(scene: Scene) -> None:
    strike(scene, "smtp", "reject_temporary", count=1)
    await sent(scene, EMAIL, EMAIL_ELSEWHERE)

    (short,) = await scene.listed(status="under_way")
    whole = await scene.shown(short["id"])

    assert (short["status"], short["outcome"], short["ended_at"]) == ("under_way", None, None)
    assert whole["due_at"] > whole["started_at"]
    assert whole["expires_at"] > whole["due_at"]
    first, second = whole["ladder"]
    assert (first["state"], first["calls"], second["state"]) == ("waiting", 1, "not_begun")
    assert first["deadline_at"] is not None
    assert [attempt["status"] for attempt in whole["attempts"]] == ["failed_temp"]
    assert await scene.listed(status="over") == []


async def test_what_was_heard_afterwards_is_shown_with_its_attempt(scene: Scene) -> None:
    await sent(scene)
    (short,) = await scene.listed()
    (attempt,) = (await scene.shown(short["id"]))["attempts"]
    now = scene.ladders.clock.now()
    receipt = Receipt(
        id=INBOUND_WEBHOOK_EVENT.new(now),
        attempt_id=attempt["id"],
        execution_id=short["id"],
        attempt_started_at=time_of(attempt["id"]),
        status="delivered",
        provider_code="250",
    )
    async with scene.ladders.db.tenant(scene.ladders.tenant_id) as tx:
        await apply(tx, [receipt], now=now)

    (told,) = (await scene.shown(short["id"]))["attempts"]

    (heard,) = told["receipts"]
    assert (heard["id"], heard["status"], heard["code"]) == (receipt.id, "delivered", "250")


async def test_filters_and_pages_over_both_kinds(scene: Scene) -> None:
    strike(scene, "smtp", "reject_temporary", count=1)
    await sent(scene, use_case="alert")
    for _ in range(3):
        await sent(scene, use_case="otp")
    strike(scene, "smtp", "reject_permanent", count=1)
    await sent(scene, use_case="otp")

    whole = await scene.listed()
    paged: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await scene.client.get(HOME, params={"limit": "2", **cursor})).json()
        paged += [one["id"] for one in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}

    assert [one["status"] for one in whole] == ["over"] * 4 + ["under_way"]
    assert paged == [one["id"] for one in whole] == sorted(paged, reverse=True)
    assert [one["id"] for one in await scene.listed(outcome="FAILED")] == [whole[0]["id"]]
    assert len(await scene.listed(outcome="DELIVERED", use_case="otp")) == 3
    assert [one["use_case"] for one in await scene.listed(status="under_way")] == ["alert"]
    assert await scene.listed(status="under_way", outcome="FAILED") == []
    since = {"since": whole[1]["started_at"]}
    assert [one["id"] for one in await scene.listed(**since)] == [one["id"] for one in whole[:2]]
    until = {"until": whole[1]["started_at"]}
    assert [one["id"] for one in await scene.listed(**until)] == [one["id"] for one in whole[2:]]
    assert [one["id"] for one in await scene.listed(**until, status="under_way")] == [whole[4]["id"]]


async def test_one_by_a_policy_says_which(scene: Scene) -> None:
    """And why its steps stand in this order."""
    ladder = [{"channel": "sms", "deadline_seconds": 30}, {"channel": "email", "deadline_seconds": 30}]
    answer = await scene.client.post(
        POLICIES, json={"use_case": "alert", "order": "cheapest", "ladder": ladder, "cost_cap_micros": 9}
    )
    strike(scene, "http", "reject_temporary", count=1)
    await sent(scene, SMS, EMAIL, use_case="alert", to="+15005550199")

    (short,) = await scene.listed()
    whole = await scene.shown(short["id"])

    assert (short["policy_id"], short["policy_version"]) == (answer.json()["id"], 1)
    assert (short["costs"]["cap_micros"], short["costs"]["spent_micros"]) == (9, 0)
    assert (whole["order"], [why["channel"] for why in whole["order_reasons"]]) == (
        "cheapest",
        ["sms", "email"],
    )
    assert [(step["deadline_seconds"], step["retry_budget"]) for step in whole["ladder"]] == [
        (30, 2),
        (30, 2),
    ]


async def test_nobody_sees_anothers(scene: Scene) -> None:
    await sent(scene)
    (mine,) = await scene.listed()
    other = await scene.application.http.tenant()

    async with scene.application.http.as_tenant(other.id) as stranger:
        answer = await stranger.get(f"{HOME}/{mine['id']}")
        listed = (await stranger.get(HOME)).json()["items"]

    assert (answer.status_code, answer.json()["code"]) == (404, "execution_not_found")
    assert listed == []


async def test_one_that_never_was(scene: Scene) -> None:
    unknown = await scene.client.get(f"{HOME}/{EXECUTION.new(scene.ladders.clock.now())}")
    no_id = await scene.client.get(f"{HOME}/ntf_1")

    assert (unknown.status_code, no_id.status_code) == (404, 400)


async def test_no_address_is_shown(scene: Scene) -> None:
    strike(scene, "http", "reject_permanent", count=1)
    await sent(scene, SMS, EMAIL, to="+15005550100")
    (short,) = await scene.listed()

    answer = await scene.client.get(f"{HOME}/{short['id']}")

    assert "+1500" not in answer.text
    assert "@" not in answer.text


async def test_a_filter_looks_at_so_many_and_no_more(scene: Scene) -> None:
    """What few rows fit is found over several requests."""
    for _ in range(5):
        await sent(scene)
    oldest = min(one["id"] for one in await scene.listed())
    tenant_id, now = scene.ladders.tenant_id, scene.ladders.clock.now()
    wanted = ExecutionFilter(outcome="FAILED")

    async with scene.ladders.db.tenant(tenant_id) as tx:
        first = await find_recent(
            tx, wanted, since=None, until=None, after=None, limit=2, now=now, chunk=2, most=3
        )
        assert first.next_id is not None
        after = After(created_at=time_of(first.next_id), id=first.next_id)
        second = await find_recent(
            tx, wanted, since=None, until=None, after=after, limit=2, now=now, chunk=2, most=3
        )

    assert (first.items, second.items) == ([], [])
    assert first.next_id > oldest
    assert second.next_id is None


async def test_an_attempt_shows_what_its_code_means(scene: Scene) -> None:
    """The vendor's code, and our word for it by the status map."""
    strike(scene, "smtp", "reject_permanent", count=1)
    ladders = scene.ladders
    async with ladders.db.tenant(ladders.tenant_id) as tx:
        mapper = StatusMapper(audit=AuditLog("chan", ladders.clock), clock=ladders.clock)
        await mapper.put(
            tx,
            "smtp",
            "5.1.1",
            canonical="rejected_by_recipient",
            reason="not_welcome",
            expect=lambda _: None,
            actor="test",
        )
    notification_id = await sent(scene)

    (short,) = await scene.listed()
    whole = await scene.shown(short["id"])
    async with ladders.db.tenant(ladders.tenant_id) as tx:
        found = await ladders.history.of_notifications(tx, [NotificationId(notification_id)])

    (attempt,), (item,) = whole["attempts"], whole["path"]
    [[record]] = found.values()
    shown = {(one["status"], one["reason"], one["meaning"]) for one in (attempt, item)}
    assert shown == {("rejected_by_recipient", "5.1.1", "not_welcome")}
    assert [(one.reason, one.meaning) for one in record.attempts] == [("5.1.1", "not_welcome")]
