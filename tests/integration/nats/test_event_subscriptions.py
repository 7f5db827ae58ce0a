"""Events that other systems publish on NATS: each comes in once, as an event of the tenant that the subscription says."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from tests.support.cloud_events import cloud_event
from tests.support.nats import NatsServer
from tests.support.outside_events import HOME, OutsideWorld, outside_world
from tests.support.postgres import TestDatabase
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT


@pytest.fixture
async def outside(nats_server: NatsServer, fresh_database: TestDatabase) -> AsyncIterator[OutsideWorld]:
    async with outside_world(nats_server, fresh_database) as made:
        yield made


async def test_structured_and_binary_messages_become_events(outside: OutsideWorld) -> None:
    """They are found, announced and shown as if they had come by HTTP."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.reservation.>", for_tenant=tenant.id)
    structured = cloud_event(id="one", subject="r-1", tier="gold")

    async with outside.reading():
        await outside.publish(f"{outside.word}.reservation.made", structured)
        await outside.publish(
            f"{outside.word}.reservation.made", cloud_event(id="two", subject="r-1"), headers={}
        )
        await outside.publish(
            f"{outside.word}.reservation.moved",
            {"place": "Herat"},
            headers={
                "ce-specversion": "1.0",
                "ce-id": "three",
                "ce-source": "/b%C3%BCro",
                "ce-type": "reservation.moved",
                "ce-subject": "r-1",
                "Content-Type": "application/json",
            },
        )
        await outside.client.jetstream().publish(f"{outside.word}.invoice.made", b"of no interest")
        progress = await outside.until_shown(made, accepted=3)

    assert await outside.received(tenant.id) == [("one", "r-1"), ("two", "r-1"), ("three", "r-1")]
    assert (progress["refused"], progress["repeated"], progress["waiting"]) == (0, 0, 0)
    assert progress["last_received_at"] is not None
    async with outside.world.as_tenant(tenant.id) as client:
        shown = (await client.get("/api/v1/events/received")).json()["items"]
        (moved,) = [one["id"] for one in shown if one["type"] == "reservation.moved"]
        whole = (await client.get(f"/api/v1/events/received/{moved}")).json()
    assert (whole["source"], whole["type"], whole["data"]) == (
        "/büro",
        "reservation.moved",
        {"place": "Herat"},
    )


async def test_a_word_of_the_subject_names_the_tenant_and_a_set_spans_tenants(outside: OutsideWorld) -> None:
    """By id or slug; what waits of three tenants is one set, and each event is its own tenant's."""
    tenants = [await outside.world.tenant(f"house-{n}-{outside.word}") for n in range(3)]
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(
        subject=f"{outside.word}.*.reservation.>", tenant_word=2, start="beginning"
    )
    for number in range(30):
        tenant = tenants[number % 3]
        name = tenant.id if number % 2 else tenant.slug
        await outside.publish(f"{outside.word}.{name}.reservation.made", cloud_event(id=f"e-{number}"))
    transactions = await _transactions(outside)

    async with outside.reading():
        await outside.until_shown(made, accepted=30)

    for place, tenant in enumerate(tenants):
        assert await outside.ids(tenant.id) == [f"e-{number}" for number in range(30) if number % 3 == place]
    assert await _transactions(outside) == transactions + 1


async def _transactions(outside: OutsideWorld) -> int:
    """In how many transactions events were kept."""
    async with outside.system.db.worker() as tx:
        return int(await tx.connection.fetchval("SELECT count(DISTINCT xmin::text) FROM notification.outbox"))


async def test_a_repeat_has_no_effect_whichever_way_it_came(outside: OutsideWorld) -> None:
    """By its source and id, as over HTTP, and also after it came over HTTP."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.slug)
    event = cloud_event(id="once")
    async with outside.world.as_tenant(tenant.id) as client:
        assert (await client.post("/api/v1/events", json=cloud_event(id="http"))).status_code == 202

    async with outside.reading():
        for one in (event, event, cloud_event(id="http"), cloud_event(id="last")):
            await outside.publish(f"{outside.word}.a", one)
        await outside.until_shown(made, accepted=2, repeated=2)

    assert await outside.ids(tenant.id) == ["http", "once", "last"]


async def test_a_test_subscription_brings_tests(outside: OutsideWorld) -> None:
    """They are apart from live ones with the same source and id."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    live = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    tests = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id, environment="test")

    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="x"))
        await outside.until_shown(live, accepted=1)
        await outside.until_shown(tests, accepted=1)

    async with outside.world.as_tenant(tenant.id, environment="test") as client:
        shown = (await client.get("/api/v1/events/received")).json()["items"]
    assert [(one["source_event_id"], one["is_test"]) for one in shown] == [("x", True)]
    assert await outside.ids(tenant.id) == ["x", "x"]


async def test_what_is_refused_is_kept_with_its_reason_and_can_be_tried_again(outside: OutsideWorld) -> None:
    """It holds up nothing, is not asked for again, quotes nothing, and is taken when what was in the way is gone."""
    tenant, suspended = await outside.world.tenant(), await outside.world.tenant()
    await outside.platform.post(f"/internal/v1/tenants/{suspended.id}/suspend")
    missing = f"later-{outside.word}"
    stream = await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.*.a", tenant_word=2)

    async with outside.reading():
        here = f"{outside.word}.{tenant.id}.a"
        await outside.client.jetstream().publish(here, b"no json, laila@example.test")
        await outside.publish(here, cloud_event(id=None))
        await outside.publish(here, {**cloud_event(), "laila@example.test": "1"})
        await outside.publish(here, cloud_event(data="x" * 300_000))
        await outside.publish(here, cloud_event(type="event.received.v1"))
        await outside.publish(here, cloud_event(type="iam.user.deleted.v1", data={"user_id": "u"}))
        await outside.publish(here, cloud_event(type="tenant.suspended.v1", data={"tenant_id": tenant.id}))
        await outside.publish(f"{outside.word}.{suspended.id}.a", cloud_event(id="held"))
        await outside.publish(f"{outside.word}.{missing}.a", cloud_event(id="early"))
        await outside.publish(here, cloud_event(id="good"))
        progress = await outside.until_shown(made, accepted=1, refused=9)
        refused = await outside.refused(made)
        late = await outside.world.tenant(missing)
        again = (await outside.platform.post(f"{HOME}/{made['id']}/refused/retry")).json()

    assert await outside.ids(tenant.id) == ["good"]
    assert [(one["code"], one["field"], one["position"]) for one in refused] == [
        ("bad_value", "", 1),
        ("bad_value", "id", 2),
        ("bad_value", "", 3),
        ("bad_value", "", 4),
        ("bad_value", "type", 5),
        ("bad_value", "type", 6),
        ("bad_value", "type", 7),
        ("tenant_suspended", "", 8),
        ("tenant_not_found", "", 9),
    ]
    assert [one["kept"] for one in refused] == [True] * 3 + [False] + [True] * 5
    assert "laila" not in json.dumps(refused)
    assert {one["stream"] for one in refused} == {stream}
    assert progress["last_refusal"] == "tenant_not_found"
    assert again == {"accepted": 1, "repeated": 0, "refused": 7, "next_after": None}
    assert await outside.ids(late.id) == ["early"]
    assert len(await outside.refused(made)) == 8
    info = await outside.client.jetstream().consumer_info(stream, f"{outside.bus.stream.name}-{made['id']}")
    assert (info.num_ack_pending, info.num_pending, info.num_redelivered) == (0, 0, 0)


async def test_nothing_of_a_message_is_readable_where_it_is_kept(
    outside: OutsideWorld, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in the database nor in the log, whether it was taken or refused."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    async with outside.reading():
        for event in (cloud_event(data={"mail": "secret@example.test"}), {"data": "secret@example.test"}):
            await outside.publish(f"{outside.word}.a", event, headers={"x-note": "secret@example.test"})
        await outside.until_shown(made, accepted=1, refused=1)

    async with outside.system.db.platform() as tx:
        rows = await tx.connection.fetch(
            "SELECT row_to_json(one)::text AS said, content_ciphertext FROM notification_platform.event_subscription_refusals AS one"
        )
    assert len(rows) == 1
    assert b"secret@" not in rows[0]["content_ciphertext"]
    said = capsys.readouterr()
    assert "messages_refused" in said.out + said.err + caplog.text
    assert "secret@" not in rows[0]["said"] + said.out + said.err + caplog.text


async def test_where_no_stream_keeps_the_subject_one_is_made_and_goes_with_it(outside: OutsideWorld) -> None:
    """Bounded in age and bytes; also what is published by core NATS while no worker runs is read."""
    tenant = await outside.world.tenant()
    made = await outside.subscribe(subject=f"{outside.word}.core.*", for_tenant=tenant.id)
    for number in range(3):
        await outside.client.publish(
            f"{outside.word}.core.x", json.dumps(cloud_event(id=f"{number}")).encode()
        )
    await outside.client.flush()
    jetstream = outside.client.jetstream()

    async with outside.reading():
        progress = await outside.until_shown(made, accepted=3)
        config = (await jetstream.stream_info(progress["stream"])).config
        assert (progress["own_stream"], config.subjects) == (True, [f"{outside.word}.core.*"])
        assert config.max_age == 7 * 86_400
        assert config.max_bytes == 256 * 1024 * 1024
        assert "made by Tidings" in str(config.description)
        assert (await outside.platform.delete(f"{HOME}/{made['id']}")).status_code == 204
        assert (await outside.platform.get(f"{HOME}/{made['id']}")).status_code == 404

        async def gone() -> bool:
            return progress["stream"] not in [one.config.name for one in await jetstream.streams_info()]

        await outside.until(gone)

    assert await outside.ids(tenant.id) == ["0", "1", "2"]


async def test_a_stream_of_others_stays_when_its_subscription_is_deleted(outside: OutsideWorld) -> None:
    """Only Tidings' own place on it goes."""
    tenant = await outside.world.tenant()
    stream = await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    jetstream = outside.client.jetstream()
    async with outside.reading():
        await outside.publish(f"{outside.word}.a")
        await outside.until_shown(made, accepted=1)
        assert (await jetstream.stream_info(stream)).state.consumer_count == 1
        await outside.platform.delete(f"{HOME}/{made['id']}")

        async def gone() -> bool:
            return (await jetstream.stream_info(stream)).state.consumer_count == 0

        await outside.until(gone)

    assert (await jetstream.stream_info(stream)).state.messages == 1


async def test_pause_keeps_messages_and_resume_reads_them(outside: OutsideWorld) -> None:
    """In order; also on a stream that forgets what all have read."""
    tenant = await outside.world.tenant()
    await outside.stream(f"{outside.word}.>", retention="interest")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="before"))
        await outside.until_shown(made, accepted=1)
        paused = (await outside.platform.post(f"{HOME}/{made['id']}/pause")).json()
        assert paused["enabled"] is False

        async def let_go() -> bool:
            return not await _leases(outside, made["id"])

        await outside.until(let_go)
        for number in range(5):
            await outside.publish(f"{outside.word}.a", cloud_event(id=f"{number}"))
        assert await outside.ids(tenant.id) == ["before"]
        await outside.platform.post(f"{HOME}/{made['id']}/resume")
        await outside.until_shown(made, accepted=6)

    assert await outside.ids(tenant.id) == ["before", "0", "1", "2", "3", "4"]


async def _leases(outside: OutsideWorld, subscription_id: str) -> int:
    async with outside.system.db.platform() as tx:
        return int(
            await tx.connection.fetchval(
                "SELECT count(*) FROM kernel.hot_leases WHERE key = $1",
                f"event_subscription:{subscription_id}",
            )
        )


async def test_a_work_queue_is_read_and_emptied(outside: OutsideWorld) -> None:
    """Such a stream allows one reader, from its beginning, and forgets what is acknowledged."""
    tenant = await outside.world.tenant()
    stream = await outside.stream(f"{outside.word}.>", retention="workqueue")
    await outside.publish(f"{outside.word}.a", cloud_event(id="0"))
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="1"))
        await outside.until_shown(made, accepted=2)

        async def empty() -> bool:
            return (await outside.client.jetstream().stream_info(stream)).state.messages == 0

        await outside.until(empty)


async def test_a_change_holds_for_what_comes_after_it(outside: OutsideWorld) -> None:
    """Whose events they are, without a restart of anything."""
    first, second = await outside.world.tenant(), await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=first.id)
    async with outside.reading():
        await outside.publish(f"{outside.word}.a", cloud_event(id="1"))
        await outside.until_shown(made, accepted=1)
        etag = (await outside.platform.get(f"{HOME}/{made['id']}")).headers["ETag"]
        changed = await outside.platform.patch(
            f"{HOME}/{made['id']}", json={"for_tenant": second.slug}, headers={"If-Match": etag}
        )
        assert changed.status_code == 200, changed.text
        number = 1
        async with asyncio.timeout(30):
            while not await outside.ids(second.id):
                number += 1
                await outside.publish(f"{outside.word}.a", cloud_event(id=f"{number}"))
                await outside.until_shown(made, accepted=number)

    ids = await outside.ids(first.id) + await outside.ids(second.id)
    assert ids == [f"{one}" for one in range(1, number + 1)]


async def test_events_about_tenants_come_by_a_subscription_that_names_none(outside: OutsideWorld) -> None:
    """Where tenants are kept by another system; others are refused there."""
    tenant_id = TENANT.new(SystemClock().now())
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.tenants", about_tenants=True)
    data = {"tenant_id": tenant_id, "version": 1, "name": "New", "region": "test"}
    async with outside.reading():
        await outside.publish(f"{outside.word}.tenants", cloud_event(type="tenant.created.v1", data=data))
        await outside.publish(f"{outside.word}.tenants", cloud_event())
        await outside.until_shown(made, accepted=1, refused=1)

    async with outside.system.db.worker() as tx:
        told = await tx.connection.fetchval(
            "SELECT count(*) FROM notification.outbox WHERE tenant_id = $1 AND subject = 'tenant.created.v1'",
            tenant_id,
        )
    assert told == 1


async def test_only_what_the_subscription_says_can_be_written(outside: OutsideWorld) -> None:
    """A message that names another tenant in its attributes or data is its subject's tenant's all the same."""
    own, other = await outside.world.tenant(), await outside.world.tenant()
    await outside.stream(f"{outside.word}.>")
    made = await outside.subscribe(subject=f"{outside.word}.*.a", tenant_word=2)
    async with outside.reading():
        event = cloud_event(id="x", tenantid=other.id, data={"tenant_id": other.id})
        await outside.publish(
            f"{outside.word}.{own.id}.a",
            event,
            headers={"X-Tenant-Id": other.id, "Content-Type": "application/json"},
        )
        await outside.until_shown(made, accepted=1)

    assert await outside.ids(own.id) == ["x"]
    assert await outside.ids(other.id) == []
