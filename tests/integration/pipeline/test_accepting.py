"""Accepting: done once, each item by itself, in groups, by the words of that moment."""

import asyncio
import json
from collections import Counter
from dataclasses import replace
from typing import Any

import httpx2
import msgspec
import pytest
from structlog.testing import capture_logs

from tests.integration.pipeline.books import books, change
from tests.integration.pipeline.files import file_of
from tests.support.people import unused
from tests.support.pipeline import HOME, PipelineWorld, order, person
from tidings.kernel.idempotency import IdempotencyKey
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import KeyReusedError
from tidings.notify.accept.order import (
    AcceptedOrder,
    DuplicateOrder,
    Order,
    OrderedBy,
    RefusedOrder,
    accepted,
    is_written,
)
from tidings.notify.accept.wire import NotificationInput, order_of

pytestmark = pytest.mark.xdist_group("pipeline-accepting")

KEY = "Idempotency-Key"
CODE: dict[str, Any] = {"template": "otp", "variables": {"code": "482915"}, "channel": "auto"}
#: What one notification changes.
ONE = {
    "notification.notifications": 1,
    "notification.dispatch_queue": 1,
    "notification.recipients": 1,
    "notification.recipient_addresses": 1,
    # By category, and by template.
    "notification.counters": 2,
    "kernel.data_keys": 1,
    "events": 1,
}


async def test_accepting_writes_each_part_once(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        before = await books(sender)
        await sender.send()
        assert change(before, await books(sender)) == ONE


async def test_the_same_key_gets_the_same_answer_and_one_message(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        body, headers = order(to), {KEY: "order-1"}
        before = await books(sender)
        first = await sender.client.post(HOME, json=body, headers=headers)
        again = await sender.client.post(HOME, json=body, headers=headers)
        assert change(before, await books(sender)) == ONE | {"notification.idempotency_keys": 1}
        other = await sender.client.post(HOME, json=order(to), headers=headers)
        await world.settle()
    assert (again.status_code, again.json()) == (202, first.json())
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len(world.received(to)) == 1


async def test_a_key_is_the_tenants_own_and_the_routes_own(world: PipelineWorld) -> None:
    async with world.sender() as one, world.sender() as other:
        answers = [
            await one.client.post(HOME, json=order(), headers={KEY: "k"}),
            await other.client.post(HOME, json=order(), headers={KEY: "k"}),
            await one.client.post(f"{HOME}/bulk", json={"notifications": [order()]}, headers={KEY: "k"}),
        ]
    assert [answer.status_code for answer in answers] == [202, 202, 202]


async def test_a_refusal_gives_the_key_back(world: PipelineWorld) -> None:
    async with world.sender() as sender, world.sender() as other:
        theirs = (await other.send())["recipient_id"]
        for refused in (order(recipient=theirs), order(category="gossip")):
            headers = {KEY: unused()}
            no = await sender.client.post(HOME, json=refused, headers=headers)
            yes = await sender.client.post(HOME, json=order(), headers=headers)
            assert (no.status_code // 100, yes.status_code) == (4, 202)


async def test_two_at_once_with_one_key_are_one(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        body, headers = order(to), {KEY: "order-1"}
        answers = await asyncio.gather(
            *(sender.client.post(HOME, json=body, headers=headers) for _ in range(8))
        )
        await world.settle()
        again = await sender.client.post(HOME, json=body, headers=headers)
    told = Counter((a.status_code, a.json().get("code")) for a in answers)
    assert told.keys() <= {(202, None), (409, "idempotency_in_progress")}
    assert len({a.json()["id"] for a in answers if a.status_code == 202} | {again.json()["id"]}) == 1
    assert all(a.headers["retry-after"] for a in answers if a.status_code == 409)
    assert len(world.received(to)) == 1


async def test_one_notification_for_each_event_template_recipient_and_channel(world: PipelineWorld) -> None:
    somebody = person(f"{unused()}@example.test", "+4915123400001")
    async with world.sender() as sender:
        wish = order(recipient=somebody, source_event_id="evt-1")
        first, again = [(await sender.client.post(HOME, json=wish)).json() for _ in range(2)]
        assert (again["id"], again["duplicate"], "duplicate" in first) == (first["id"], True, False)
        others = [
            wish | {"source_event_id": "evt-2"},
            wish | {"recipient": person(f"{unused()}@example.test")},
            wish | {"template": "otp", "variables": {"code": "482915"}},
            wish | {"template": "otp", "variables": {"code": "482915"}, "channel": "sms"},
            wish | {"source_event_id": None},
        ]
        fresh = [await sender.client.post(HOME, json=other) for other in others]
        await world.settle()
        repeat = await sender.client.post(HOME, json=wish)
    assert all("duplicate" not in answer.json() for answer in fresh)
    assert len({first["id"], *(answer.json()["id"] for answer in fresh)}) == 6
    assert repeat.json()["id"] == first["id"], "also when the first one is over"


async def test_the_event_behind_a_notification_is_kept(world: PipelineWorld) -> None:
    said = {
        "source_event_id": "evt-9",
        "source_event_type": "stay.booked.v1",
        "source_event_produced_at": "2026-11-15T12:00:00Z",
    }
    async with world.sender() as sender:
        made = await sender.client.post(HOME, json=order(f"{unused()}@example.test", **said))
        shown = (await sender.client.get(f"{HOME}/{made.json()['id']}")).json()
        await world.settle()
    assert {name: shown[name] for name in said} == said


@pytest.mark.parametrize("bulk", [False, True])
async def test_two_at_once_for_one_event_are_one(world: PipelineWorld, *, bulk: bool) -> None:
    to = f"{unused()}@example.test"
    async with world.sender() as sender:
        wish = order(to, source_event_id="evt-1")
        before = await books(sender)
        if bulk:
            path, body = f"{HOME}/bulk", {"notifications": [wish, wish]}
        else:
            path, body = HOME, wish
        answers = await asyncio.gather(*(sender.client.post(path, json=body) for _ in range(6)))
        results = [r for a in answers for r in (a.json()["results"] if bulk else [a.json()])]
        await world.settle()
        found = change(before, await books(sender))
    assert len({result["id"] for result in results}) == 1
    assert sum("duplicate" not in result for result in results) == 1
    assert (found["notification.notifications"], found["notification.dedup_ledger"]) == (1, 1)
    assert len(world.received(to)) == 1


async def test_each_item_of_a_bulk_has_its_own_result(world: PipelineWorld) -> None:
    good = [f"{unused()}@example.test" for _ in range(3)]
    async with world.sender() as sender:
        items: list[Any] = [
            order(good[0]),
            order(template="no_such"),
            order(good[1], correlation_id="c-1"),
            order(recipient="rcp_01M7FH87G03HMBMQ524TJG0C1X"),
            order("laila@"),
            7,
            order(good[2], scheduled_for="2026-11-16T00:00:00Z", expires_at="2026-11-17T00:00:00Z"),
            order(variables={}),
        ]
        headers = {KEY: "bulk-1"}
        answer = await sender.client.post(f"{HOME}/bulk", json={"notifications": items}, headers=headers)
        again = await sender.client.post(f"{HOME}/bulk", json={"notifications": items}, headers=headers)
        await world.settle()
        told = answer.json()
        assert (answer.status_code, told["accepted"], told["refused"]) == (202, 3, 5)
        assert [r["index"] for r in told["results"]] == list(range(8))
        codes = [r.get("problem", {}).get("code") or r["status"] for r in told["results"]]
        assert codes == [
            "queued",
            "bad_value",
            "queued",
            "recipient_not_found",
            "bad_value",
            "bad_value",
            "scheduled",
            "invalid_variables",
        ]
        assert again.json() == told
        for place in (0, 2):
            assert await sender.status(told["results"][place]["id"]) == "delivered"
    assert [len(world.received(to)) for to in good] == [1, 1, 0]


@pytest.fixture
async def _poison(world: PipelineWorld) -> Any:
    """The database refuses certain rows, for reasons that nobody at the door knows of."""
    async with world.database.owner() as owner:
        await owner.execute(
            """CREATE FUNCTION notification.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
               BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = substr(NEW.correlation_id, 8); END $$;
               CREATE TRIGGER refuse BEFORE INSERT ON notification.notifications FOR EACH ROW
               WHEN (NEW.correlation_id LIKE 'poison-%') EXECUTE FUNCTION notification.refuse()"""
        )
        yield
        await owner.execute("DROP FUNCTION notification.refuse CASCADE")


#: SQLSTATEs: a check constraint, a value that does not fit, something else altogether.
@pytest.mark.usefixtures("_poison")
@pytest.mark.parametrize(("sqlstate", "status"), [("23514", 400), ("22003", 500), ("P0001", 500)])
async def test_a_poisoned_item_fails_alone(world: PipelineWorld, sqlstate: str, status: int) -> None:
    async with world.sender() as sender:
        wishes = [order() for _ in range(20)]
        wishes[7]["correlation_id"] = f"poison-{sqlstate}"
        wishes[7]["attachments"] = [file_of(b"x")]
        before = await books(sender)
        with capture_logs():  # What is ours to be ashamed of is logged at length.
            singles = await asyncio.gather(*(sender.client.post(HOME, json=wish) for wish in wishes))
            bulk = await sender.client.post(f"{HOME}/bulk", json={"notifications": [*wishes]})
        found = change(before, await books(sender))
        assert [a.status_code for a in singles] == [202] * 7 + [status] + [202] * 12
        assert bulk.status_code == 202, bulk.text
        statuses = [r.get("problem", {}).get("status", 202) for r in bulk.json()["results"]]
        assert statuses == [202] * 7 + [status] + [202] * 12
        assert (found["notification.notifications"], found["events"]) == (38, 38)
        assert "files" not in found
        await world.settle()
        rows = await sender.rows("SELECT status, count(*) AS n FROM notification.notifications GROUP BY 1")
    assert rows == [{"status": "delivered", "n": 38}]


@pytest.mark.usefixtures("_poison")
async def test_a_poisoned_item_that_is_alone_in_its_bulk_has_its_own_result(world: PipelineWorld) -> None:
    """With a key or without, alone or with others that are refused: the answer tells of each."""
    async with world.sender() as sender:
        poisoned = order() | {"correlation_id": "poison-23514", "attachments": [file_of(b"x")]}
        before = await books(sender)
        answers = [
            await sender.client.post(f"{HOME}/bulk", json={"notifications": items}, headers=headers)
            for items in ([poisoned], [order(template="no_such"), poisoned])
            for headers in ({}, {KEY: f"poison-{len(items)}"})
        ]
        found = change(before, await books(sender))
    assert [answer.status_code for answer in answers] == [422] * 4
    codes = [[result["problem"]["code"] for result in answer.json()["results"]] for answer in answers]
    assert codes == [["constraint"]] * 2 + [["bad_value", "constraint"]] * 2
    assert found == {"notification.idempotency_keys": 2}


async def test_a_crowd_shares_transactions(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        await sender.send()  # Templates, categories and keys are known from now on.
        wishes = [order() for _ in range(50)]
        answers = await asyncio.gather(*(sender.client.post(HOME, json=wish) for wish in wishes))
        assert {a.status_code for a in answers} == {202}
        ids = [a.json()["id"] for a in answers]
        rows = await sender.rows(
            "SELECT count(DISTINCT xmin::text) AS n FROM notification.notifications WHERE id = ANY ($1)", ids
        )
    assert rows[0]["n"] <= 5, "fifty requests, a handful of commits"


async def test_too_many_at_once_are_told_so_before_memory_grows(
    world: PipelineWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world.sender() as sender:
        await sender.send()
        monkeypatch.setattr(world.system.accept.group_commit._gatherer, "most_waiting", 10)
        wishes = [order(attachments=[file_of(b"x")]) for _ in range(40)]
        before = await books(sender)
        answers = await asyncio.gather(*(sender.client.post(HOME, json=wish) for wish in wishes))
        told = Counter(answer.status_code for answer in answers)
        assert told.keys() == {202, 429}
        refused = next(answer for answer in answers if answer.status_code == 429)
        assert refused.json()["code"] == "too_busy"
        assert int(refused.headers["retry-after"]) >= 1
        found = change(before, await books(sender))
        assert (found["notification.notifications"], found["files"]) == (told[202], told[202])
        assert (await sender.client.post(HOME, json=order())).status_code == 202, "it was for a moment"


async def test_too_much_in_bulks_is_told_so(world: PipelineWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world.sender() as sender:
        await sender.send()
        monkeypatch.setattr(world.system.accept.group_commit, "_most_in_sets", 5)
        bodies = [{"notifications": [order(attachments=[file_of(b"x")]) for _ in range(4)]} for _ in range(5)]
        before = await books(sender)
        answers = await asyncio.gather(*(sender.client.post(f"{HOME}/bulk", json=b) for b in bodies))
        told = Counter(answer.status_code for answer in answers)
        found = change(before, await books(sender))
    assert told.keys() == {202, 429}
    assert found["files"] == found["notification.notifications"] == 4 * told[202]


async def test_a_repeat_in_another_spelling_is_the_same_request(world: PipelineWorld) -> None:
    to = f"{unused()}@example.test"
    body = {**order(to), "metadata": {"a": 1, "b": 2}}
    text = msgspec.json.encode(body)
    turned = json.dumps({**dict(reversed(body.items())), "metadata": {"b": 2.0, "a": 1}}, indent=3).encode()
    bulk = [b'{"notifications": [%s]}' % one for one in (text, turned)]
    async with world.sender() as sender:

        async def send(path: str, content: bytes, key: str) -> httpx2.Response:
            headers = {KEY: key, "content-type": "application/json"}
            return await sender.client.post(path, content=content, headers=headers)

        first, again = [await send(HOME, one, "spelt-1") for one in (text, turned)]
        many, repeated = [await send(f"{HOME}/bulk", one, "spelt-2") for one in bulk]
        other = await send(f"{HOME}/bulk", bulk[0].replace(b'"b":2', b'"b":3'), "spelt-2")
        await world.settle()

    assert (first.status_code, again.status_code) == (202, 202), again.text
    assert again.headers["idempotency-replayed"] == repeated.headers["idempotency-replayed"] == "true"
    assert (again.json(), repeated.json()) == (first.json(), many.json())
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert len(world.received(to)) == 2


async def test_a_bulk_of_which_nothing_is_accepted_is_a_problem(world: PipelineWorld) -> None:
    async with world.sender() as sender:
        body = {"notifications": [order(template="no_such"), order("laila@")]}
        refused = await sender.client.post(f"{HOME}/bulk", json=body, headers={KEY: "none-1"})
        again = await sender.client.post(f"{HOME}/bulk", json=body, headers={KEY: "none-1"})

    told = refused.json()
    assert (refused.status_code, told["code"], told["status"]) == (422, "all_refused", 422)
    assert refused.headers["content-type"] == "application/problem+json"
    assert (told["accepted"], told["refused"]) == (0, 2)
    assert [r["problem"]["code"] for r in told["results"]] == ["bad_value", "bad_value"]
    assert (again.status_code, again.json()) == (422, told)


@pytest.mark.parametrize(
    ("body", "field", "write"),
    [
        (
            {"recipient": {"email": "a@example.test"}},
            "recipient.email",
            'write "addresses": [{"channel": "email"',
        ),
        ({"recipient": {"phone": "+93700"}}, "recipient.phone", 'write "addresses": [{"channel": "sms"'),
        ({"to": "a@example.test"}, "to", 'write "recipient": {"addresses": [{"channel": "email"'),
        ({"channel": "fax"}, "channel", "must be one of email, sms, whatsapp"),
    ],
)
async def test_what_everybody_types_first_is_answered_with_what_to_write(
    world: PipelineWorld, body: dict[str, Any], field: str, write: str
) -> None:
    async with world.sender() as sender:
        refused = await sender.client.post(HOME, json={**order(), **body})

    errors = {error["field"]: error["remedy"] for error in refused.json()["errors"]}
    assert write in errors[field], errors


def _order(tenant_id: TenantId, *, template: str = "order_confirmation", **more: Any) -> Order:
    """An order as notify's own parts make it."""
    given = msgspec.convert(order(template=template), NotificationInput)
    return msgspec.structs.replace(order_of(given, OrderedBy(tenant_id, "tenant.admin")), **more)


async def test_a_set_of_orders_may_be_of_many_tenants(world: PipelineWorld) -> None:
    acceptor = world.system.accept.acceptor
    async with world.sender() as one, world.sender() as other:
        ids = [one.tenant_id, other.tenant_id, one.tenant_id, other.tenant_id]
        orders = [_order(tenant_id) for tenant_id in ids]
        orders[2] = msgspec.structs.replace(orders[2], template="nobody_has_this")

        outcomes = await acceptor.accept(orders)

        assert [type(outcome) for outcome in outcomes] == [
            AcceptedOrder,
            AcceptedOrder,
            RefusedOrder,
            AcceptedOrder,
        ]
        for sender, places in ((one, [0]), (other, [1, 3])):
            listed = (await sender.client.get(HOME)).json()["items"]
            expected = {accepted(outcomes[place]).id for place in places}
            assert {item["id"] for item in listed} == expected
    refused = outcomes[2]
    assert isinstance(refused, RefusedOrder)
    assert refused.error.code == "bad_value"


async def test_an_order_is_accepted_once_under_its_key_and_once_for_its_event(world: PipelineWorld) -> None:
    acceptor = world.system.accept.acceptor
    async with world.sender() as sender:
        once = IdempotencyKey(key=unused(), request_hash="sha256:1")
        first = _order(sender.tenant_id, once=once, source_event_id=f"event-{unused()}")
        [new] = await acceptor.accept([first])
        [replayed] = await acceptor.accept([first])
        [other_request] = await acceptor.accept(
            [msgspec.structs.replace(first, once=replace(once, request_hash="sha256:2"))]
        )
        [same_event] = await acceptor.accept([msgspec.structs.replace(first, once=None)])
        earlier = await acceptor.earlier(first.by, once)

    assert (is_written(new), is_written(replayed), is_written(same_event)) == (True, False, False)
    assert replayed == earlier == replace(accepted(new), replayed=True)
    assert isinstance(other_request, RefusedOrder)
    assert isinstance(other_request.error, KeyReusedError)
    assert isinstance(same_event, DuplicateOrder)
    assert same_event.id == accepted(new).id
