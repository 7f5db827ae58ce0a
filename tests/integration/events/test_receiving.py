"""`POST /api/v1/events`: every mode of CloudEvents, kept once, sealed, announced, and refused with a remedy."""

import asyncio
import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.support.cloud_events import BATCH, STRUCTURED, cloud_event
from tests.support.http import HttpWorld, http_world
from tidings.contracts.received_events import EventReceived
from tidings.kernel.db import Database
from tidings.kernel.ids import EventId, TenantId
from tidings.notify.received_events import store
from tidings.notify.received_events.store import ReceivedCriteria, list_received_events

PATH = "/api/v1/events"


async def announced(db: Database, tenant_id: TenantId) -> list[dict[str, Any]]:
    """What waits in the outbox about a tenant's received events, in order."""
    async with db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT id, subject, ordering_key, payload, envelope FROM notification.outbox "
            "WHERE tenant_id = $1 AND subject IN ('event.received.v1', 'iam.user.deleted.v1') ORDER BY seq",
            tenant_id,
        )
    return [{**row, "payload": json.loads(row["payload"])} for row in rows]


async def stored(world: HttpWorld, tenant_id: TenantId, event_id: str) -> dict[str, Any]:
    async with world.db.tenant(tenant_id) as tx:
        found = await store.load(tx, world.system.kernel.keyring, [(tenant_id, EventId(event_id))])
    return found[0].scope()


async def test_a_structured_event_is_kept_and_announced(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = cloud_event(time="2026-11-16T10:00:00+04:30", tier="gold", attempt=3, vip=True)

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=event, headers=STRUCTURED)

    assert answer.status_code == 202, answer.text
    body = answer.json()
    assert body == {"id": body["id"], "duplicate": False}
    [told] = await announced(world.db, tenant.id)
    assert (told["id"], told["subject"], told["ordering_key"]) == (
        body["id"],
        "event.received.v1",
        "/hotels/kabul reservation-1",
    )
    assert told["payload"] == {
        "event_id": body["id"],
        "type": "reservation.confirmed",
        "source": "/hotels/kabul",
        "subject": "reservation-1",
        "time": "2026-11-16T10:00:00+04:30",
    }
    assert await stored(world, tenant.id, body["id"]) == {
        **event,
        "time": "2026-11-16T05:30:00Z",
        "datacontenttype": "application/json",
    }


async def test_binary_mode_has_attributes_in_headers_and_data_in_the_body(world: HttpWorld) -> None:
    tenant = await world.tenant()
    headers = {
        "ce-specversion": "1.0",
        "ce-id": "a-1",
        "ce-source": "/b%C3%BCro",
        "ce-type": "com.example.Order.Created",
        "ce-time": "2026-11-16T10:00:00Z",
        "ce-tier": "gold",
        "Content-Type": "application/json; charset=utf-8",
    }

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, content=b'{"total": 12.50}', headers=headers)

    assert answer.status_code == 202, answer.text
    assert await stored(world, tenant.id, answer.json()["id"]) == {
        "specversion": "1.0",
        "id": "a-1",
        "source": "/büro",
        "type": "com.example.Order.Created",
        "time": "2026-11-16T10:00:00Z",
        "tier": "gold",
        "datacontenttype": "application/json",
        "data": {"total": 12.5},
    }


async def test_binary_mode_without_a_body_has_no_data(world: HttpWorld) -> None:
    tenant = await world.tenant()
    headers = {"ce-specversion": "1.0", "ce-id": "a-1", "ce-source": "/x", "ce-type": "door.opened"}

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, headers=headers)

    assert answer.status_code == 202, answer.text
    assert "data" not in await stored(world, tenant.id, answer.json()["id"])


async def test_an_event_without_a_time_happened_now(world: HttpWorld) -> None:
    tenant = await world.tenant()
    before = datetime.now(UTC)

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=cloud_event())
        shown = await client.get(f"{PATH}/received/{answer.json()['id']}")

    assert answer.status_code == 202
    assert datetime.fromisoformat(shown.json()["time"]).replace(microsecond=0) >= before.replace(
        microsecond=0
    )


async def test_data_in_base64_is_taken_where_it_is_json(world: HttpWorld) -> None:
    tenant = await world.tenant()
    inside = base64.b64encode(b'{"nights": 2}').decode()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=cloud_event(data=None, data_base64=inside), headers=STRUCTURED)

    assert answer.status_code == 202, answer.text
    assert (await stored(world, tenant.id, answer.json()["id"]))["data"] == {"nights": 2}


async def test_numbers_come_back_as_they_were_sent(world: HttpWorld) -> None:
    tenant = await world.tenant()
    body = json.dumps(cloud_event(data={"n": 2**80}))

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, content=body, headers=STRUCTURED)

    assert answer.status_code == 202, answer.text
    async with world.db.tenant(tenant.id) as tx:
        [found] = await store.load(
            tx, world.system.kernel.keyring, [(tenant.id, EventId(answer.json()["id"]))]
        )
    assert b"1208925819614629174706176" in bytes(found.content.data)  # type: ignore[arg-type]


async def test_a_repeat_is_the_same_event_whatever_it_says(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = cloud_event()

    async with world.as_tenant(tenant.id) as client:
        first = (await client.post(PATH, json=event)).json()
        again = (await client.post(PATH, json={**event, "data": {"place": "Herat"}})).json()
        elsewhere = (await client.post(PATH, json={**event, "source": "/hotels/herat"})).json()

    assert again == {"id": first["id"], "duplicate": True}
    assert elsewhere["duplicate"] is False
    assert elsewhere["id"] != first["id"]
    assert (await stored(world, tenant.id, first["id"]))["data"] == {"place": "Kabul"}
    assert len(await announced(world.db, tenant.id)) == 2


async def test_two_at_once_are_one(world: HttpWorld) -> None:
    """From two processes, so that no queue of one of them keeps them apart."""
    tenant = await world.tenant()
    other = http_world(world.db)
    event = cloud_event()

    async with world.as_tenant(tenant.id) as one, other.as_tenant(tenant.id) as two:
        answers = await asyncio.gather(
            *(client.post(PATH, json=event) for client in (one, two) for _ in range(10))
        )

    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert [answer.json()["duplicate"] for answer in answers].count(False) == 1
    assert len(await announced(world.db, tenant.id)) == 1


async def test_the_same_event_of_two_tenants_is_two(world: HttpWorld) -> None:
    here, there = await world.tenant(), await world.tenant()
    event = cloud_event()

    async with world.as_tenant(here.id) as one, world.as_tenant(there.id) as two:
        mine, theirs = await asyncio.gather(one.post(PATH, json=event), two.post(PATH, json=event))
        peek = await two.get(f"{PATH}/received/{mine.json()['id']}")

    assert (mine.json()["duplicate"], theirs.json()["duplicate"]) == (False, False)
    assert (peek.status_code, peek.json()["code"]) == (404, "event_not_found")


async def test_test_events_are_apart_from_live_ones(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = cloud_event()

    async with (
        world.as_tenant(tenant.id) as live,
        world.as_tenant(tenant.id, environment="test") as test,
    ):
        real = (await live.post(PATH, json=event)).json()
        played = (await test.post(PATH, json=event)).json()
        seen = [await client.get(f"{PATH}/received/{real['id']}") for client in (live, test)]
        also = await live.get(f"{PATH}/received/{played['id']}")
        listed = [(await client.get(f"{PATH}/received")).json()["items"] for client in (live, test)]

    assert (real["duplicate"], played["duplicate"]) == (False, False)
    assert [one.status_code for one in seen] == [200, 404]
    assert [[one["id"] for one in items] for items in listed] == [
        [played["id"], real["id"]],
        [played["id"]],
    ]
    assert also.json()["is_test"] is True
    told = [row["payload"].get("is_test", False) for row in await announced(world.db, tenant.id)]
    assert told == [False, True]


async def test_a_batch_answers_for_each(world: HttpWorld) -> None:
    tenant = await world.tenant()
    good, wrong = cloud_event(), cloud_event(specversion=None, type="with space")
    events = [good, wrong, good, cloud_event(type="notification.queued.v1"), cloud_event(), 7]

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=events, headers=BATCH)
        again = await client.post(f"{PATH}/batch", json={"events": events})

    body = answer.json()
    assert answer.status_code == 202, answer.text
    assert {name: body[name] for name in ("accepted", "duplicates", "refused")} == {
        "accepted": 2,
        "duplicates": 1,
        "refused": 3,
    }
    assert [one["index"] for one in body["results"]] == list(range(6))
    assert body["results"][2] == {"index": 2, "id": body["results"][0]["id"], "duplicate": True}
    assert {error["field"] for error in body["results"][1]["problem"]["errors"]} == {"specversion", "type"}
    assert body["results"][3]["problem"]["errors"][0]["field"] == "type"
    assert again.json()["duplicates"] == 3
    assert len(await announced(world.db, tenant.id)) == 2


async def test_a_batch_of_a_thousand_is_kept_in_order(world: HttpWorld) -> None:
    tenant = await world.tenant()
    events = [cloud_event(id=f"e-{n}") for n in range(1000)]

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=events, headers=BATCH)
        too_many = await client.post(PATH, json=[*events, events[0]], headers=BATCH)

    assert answer.json()["accepted"] == 1000
    told = await announced(world.db, tenant.id)
    assert [row["id"] for row in told] == [one["id"] for one in answer.json()["results"]]
    assert (too_many.status_code, too_many.json()["errors"][0]["remedy"]) == (
        400,
        "must be a list of 1 to 1,000 events",
    )


async def test_a_batch_of_which_none_is_accepted_is_a_problem(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=[{"id": "x"}], headers=BATCH)

    assert answer.status_code == 422
    assert answer.json()["code"] == "all_refused"
    assert answer.json()["results"][0]["problem"]["errors"]


LONG = "x" * 600
MALFORMED: dict[str, tuple[dict[str, Any], str]] = {
    "no id": ({"id": None}, "id"),
    "an empty id": ({"id": ""}, "id"),
    "a number for an id": ({"id": 7}, "id"),
    "a long id": ({"id": "x" * 256}, "id"),
    "no source": ({"source": None}, "source"),
    "a long source": ({"source": LONG}, "source"),
    "no type": ({"type": None}, "type"),
    "a type with a space": ({"type": "a b"}, "type"),
    "no specversion": ({"specversion": None}, "specversion"),
    "another specversion": ({"specversion": "0.3"}, "specversion"),
    "an empty subject": ({"subject": ""}, "subject"),
    "a long subject": ({"subject": LONG}, "subject"),
    "a time that is none": ({"time": "yesterday"}, "time"),
    "a time without an offset": ({"time": "2026-11-16T10:00:00"}, "time"),
    "a time out of range": ({"time": "0001-01-01T00:00:00Z"}, "time"),
    "data that is not JSON": ({"datacontenttype": "text/xml", "data": "<a/>"}, "datacontenttype"),
    "data twice": ({"data_base64": "e30="}, "data_base64"),
    "base64 that is none": ({"data": None, "data_base64": "???"}, "data_base64"),
    "base64 without JSON": ({"data": None, "data_base64": "aGVsbG8="}, "data_base64"),
    "an extension in capitals": ({"myAttribute": "x"}, "myAttribute"),
    "an extension that is an object": ({"guest": {"name": "x"}}, "guest"),
    "an extension that is a fraction": ({"share": 0.5}, "share"),
    "an extension that is too large a number": ({"big": 2**40}, "big"),
    "a type of ours": ({"type": "notification.delivered.v1"}, "type"),
    "a next version of a type of ours": ({"type": "notification.delivered.v9"}, "type"),
    "a zero character": ({"data": {"name": "a\x00b"}}, "data.name"),
    "a user who is not named": ({"type": "iam.user.deleted.v1", "data": {}}, "data.user_id"),
    "a deleted user without data": ({"type": "iam.user.deleted.v1", "data": None}, "data"),
}


@pytest.mark.parametrize("case", MALFORMED)
async def test_what_is_wrong_is_named_with_its_remedy(world: HttpWorld, case: str) -> None:
    tenant = await world.tenant()
    changed, field = MALFORMED[case]

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=cloud_event(**changed), headers=STRUCTURED)

    assert answer.status_code == 400, answer.text
    assert answer.json()["code"] == "bad_value"
    assert [(error["field"], bool(error["remedy"])) for error in answer.json()["errors"]] == [(field, True)]
    assert await announced(world.db, tenant.id) == []


@pytest.mark.parametrize(
    ("content", "headers", "status", "code"),
    [
        (b"", STRUCTURED, 400, "malformed_body"),
        (b"{", STRUCTURED, 400, "malformed_body"),
        (b"[]", STRUCTURED, 400, "bad_value"),
        (b"[]", BATCH, 400, "bad_value"),
        (b"{}", BATCH, 400, "bad_value"),
        (b"7", STRUCTURED, 400, "bad_value"),
        (b'{"id":"1","id":"2"}', STRUCTURED, 400, "bad_value"),
        (b"x", {"Content-Type": "text/plain"}, 415, "wrong_content_type"),
        (b"x", {"Content-Type": "text/plain", "ce-id": "1"}, 415, "wrong_content_type"),
        (b"{}", {"Content-Type": "application/json", "ce-id": "1"}, 400, "bad_value"),
        (b"{", {"Content-Type": "application/json", "ce-id": "1"}, 400, "malformed_body"),
        (b"{}", {"Content-Type": "application/json", "ce-id": "1", "ce-data": "x"}, 400, "bad_value"),
        (b"{}", {"Content-Type": "application/json", "ce-id": "%ff"}, 400, "bad_value"),
        (b"[" * 100_000, BATCH, 400, "malformed_body"),
        (b"[" * 700 + b'"\\u0000"' + b"]" * 700, BATCH, 400, "malformed_body"),
    ],
)
async def test_bodies_that_are_no_events(
    world: HttpWorld, content: bytes, headers: dict[str, str], status: int, code: str
) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, content=content, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text


async def test_binary_mode_names_headers(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, headers={"ce-id": "1", "ce-type": "x y", "ce-specversion": "1.0"})

    assert {error["field"] for error in answer.json()["errors"]} == {"ce-source", "ce-type"}


async def test_an_event_that_is_too_large_is_refused(world: HttpWorld) -> None:
    tenant = await world.tenant()
    large = cloud_event(data={"text": "x" * (256 * 1024)})

    async with world.as_tenant(tenant.id) as client:
        alone = await client.post(PATH, json=large)
        among = await client.post(PATH, json=[large, cloud_event()], headers=BATCH)

    assert "262,144 bytes" in alone.json()["detail"]
    assert [("problem" in one) for one in among.json()["results"]] == [True, False]


UNREADABLE = {
    "a number beyond all": b'{"a":1e999}',
    "one level too many": b"[" * 101 + b"]" * 101,
    "objects and lists": b'{"a":[' * 200 + b"1" + b"]}" * 200,
}


@pytest.mark.parametrize("case", UNREADABLE)
async def test_data_that_nobody_could_read_later_is_refused_alone(world: HttpWorld, case: str) -> None:
    tenant = await world.tenant()
    data = UNREADABLE[case]
    whole = json.dumps(cloud_event(data="HERE")).encode().replace(b'"HERE"', data)
    good = json.dumps(cloud_event()).encode()
    coded = cloud_event(data=None, data_base64=base64.b64encode(data).decode())
    binary = {
        "ce-specversion": "1.0",
        "ce-id": "a-1",
        "ce-source": "/x",
        "ce-type": "door.opened",
        "Content-Type": "application/json",
    }

    async with world.as_tenant(tenant.id) as client:
        alone = await client.post(PATH, content=whole, headers=STRUCTURED)
        in_headers = await client.post(PATH, content=data, headers=binary)
        in_base64 = await client.post(PATH, json=coded, headers=STRUCTURED)
        batch = await client.post(PATH, content=b"[%s,%s]" % (whole, good), headers=BATCH)
        again = await client.post(
            f"{PATH}/batch",
            content=b'{"events":[%s,%s]}' % (whole, good),
            headers={"Content-Type": "application/json"},
        )

    for answer, field in ((alone, "data"), (in_headers, "data"), (in_base64, "data_base64")):
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_value"), answer.text
        assert [error["field"] for error in answer.json()["errors"]] == [field]
    for answer in (batch, again):
        assert answer.status_code == 202, answer.text
        refused, kept = answer.json()["results"]
        assert [error["field"] for error in refused["problem"]["errors"]] == ["data"]
        assert "problem" not in kept
    assert len(await announced(world.db, tenant.id)) == 1


async def test_data_of_a_hundred_levels_is_taken(world: HttpWorld) -> None:
    tenant = await world.tenant()
    data: Any = []
    for _ in range(99):
        data = [data]

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, json=cloud_event(data=data), headers=STRUCTURED)

    assert answer.status_code == 202, answer.text
    assert (await stored(world, tenant.id, answer.json()["id"]))["data"] == data


async def test_an_extension_that_cant_be_read_is_named(world: HttpWorld) -> None:
    tenant = await world.tenant()
    whole = json.dumps(cloud_event(tier="HERE")).encode().replace(b'"HERE"', b"1e999")

    async with world.as_tenant(tenant.id) as client:
        answer = await client.post(PATH, content=whole, headers=STRUCTURED)

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "tier"), answer.text


async def test_what_events_say_is_sealed(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        await client.post(PATH, json=cloud_event(data={"guest": "Laila"}, nick="Lolo"))

    async with world.db.tenant(tenant.id) as tx:
        rows = await tx.connection.fetch("SELECT r::text AS text FROM notification.received_events AS r")
    told = json.dumps(await announced(world.db, tenant.id))
    assert len(rows) == 1
    assert not any(
        word in rows[0]["text"] + told for word in ("Laila", "Lolo", b"Laila".hex(), b"Lolo".hex())
    )


async def test_a_caller_who_may_not_read_about_people_sees_facts_alone(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with (
        world.as_tenant(tenant.id) as admin,
        world.as_tenant(tenant.id, scopes=["events:read"]) as listener,
    ):
        sent = (await admin.post(PATH, json=cloud_event(tier="gold"))).json()
        whole = (await admin.get(f"{PATH}/received/{sent['id']}")).json()
        facts = (await listener.get(f"{PATH}/received/{sent['id']}")).json()
        refused = await listener.post(PATH, json=cloud_event())

    assert whole["data"] == {"place": "Kabul"}
    assert whole["extensions"] == {"tier": "gold"}
    assert facts == {name: value for name, value in whole.items() if name not in ("data", "extensions")}
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")


async def test_received_events_are_listed_the_newest_first(world: HttpWorld) -> None:
    tenant = await world.tenant()
    types = ["a.happened", "b.happened", "a.happened"]

    async with world.as_tenant(tenant.id) as client:
        sent = [(await client.post(PATH, json=cloud_event(type=one))).json()["id"] for one in types]
        first = (await client.get(f"{PATH}/received", params={"limit": 2})).json()
        rest = (
            await client.get(f"{PATH}/received", params={"limit": 2, "cursor": first["next_cursor"]})
        ).json()
        some = (await client.get(f"{PATH}/received", params={"type": "a.happened"})).json()

    assert [one["id"] for one in first["items"] + rest["items"]] == sent[::-1]
    assert [one["id"] for one in some["items"]] == [sent[2], sent[0]]
    assert all("data" not in one for one in first["items"])


async def test_a_filter_that_fits_nothing_reads_so_many_events_and_says_where_to_go_on(
    world: HttpWorld,
) -> None:
    tenant = await world.tenant()
    async with world.as_tenant(tenant.id) as client:
        for _ in range(5):
            await client.post(PATH, json=cloud_event(type="a.happened"))
        now = world.system.kernel.clock.now()
        async with world.db.tenant(tenant.id) as tx:
            nothing = ReceivedCriteria(type="b.happened")
            first = await list_received_events(tx, nothing, before=None, now=now, limit=5, chunk=2, most=4)
            rest = await list_received_events(
                tx, nothing, before=first.next_id, now=now, limit=5, chunk=2, most=4
            )

    assert (first.items, rest.items, rest.next_id) == ([], [], None)
    assert first.next_id is not None


async def test_a_caller_who_hangs_up_undoes_nothing_and_repeats_safely(world: HttpWorld) -> None:
    tenant = await world.tenant()
    event = cloud_event()

    async with world.as_tenant(tenant.id) as client:
        await client.get(f"{PATH}/received")
        for turns in range(12):
            sending = asyncio.ensure_future(client.post(PATH, json=event))
            for _ in range(turns * 3):
                await asyncio.sleep(0)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        answer = await client.post(PATH, json=event)

    assert answer.status_code == 202
    told = await announced(world.db, tenant.id)
    assert [row["id"] for row in told] == [answer.json()["id"]]


async def test_the_announcement_says_what_the_contract_says(world: HttpWorld) -> None:
    tenant = await world.tenant()

    async with world.as_tenant(tenant.id) as client:
        await client.post(PATH, json=cloud_event(subject=None))

    [told] = await announced(world.db, tenant.id)
    assert set(told["payload"]) <= set(EventReceived.__struct_fields__)
    assert told["ordering_key"] == told["id"]
