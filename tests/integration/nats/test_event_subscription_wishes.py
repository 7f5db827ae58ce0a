"""What a subscription may be, who may make one, and what is said to who asks for more."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.support.http import HttpWorld, http_world
from tests.support.nats import NatsServer
from tests.support.outside_events import HOME, OutsideWorld, outside_world
from tests.support.postgres import TestDatabase
from tidings.kernel.db import Database
from tidings.kernel.errors import NotPermittedError
from tidings.kernel.sql import Query


@pytest.fixture
async def outside(nats_server: NatsServer, fresh_database: TestDatabase) -> AsyncIterator[OutsideWorld]:
    async with outside_world(nats_server, fresh_database) as made:
        yield made


async def _wrong(outside: OutsideWorld, **wish: Any) -> tuple[int, str, str, str]:
    """Status, code, field and remedy."""
    answer = await outside.platform.post(HOME, json={"name": "wrong", **wish})
    body = answer.json()
    field, remedy = (
        (body["errors"][0]["field"], body["errors"][0]["remedy"]) if body.get("errors") else ("", "")
    )
    return answer.status_code, body["code"], field, remedy or body["detail"]


async def test_a_subject_that_is_none_of_others_is_refused(outside: OutsideWorld) -> None:
    """With the field, and what it has to be."""
    own = outside.bus.stream.name
    wrong = {
        "": "1",
        "a..b": "words with dots",
        ".a": "words with dots",
        "a.>.b": "words with dots",
        "a b": "words with dots",
        "a.b*": "words with dots",
        ">": "must begin with a word",
        "*.a": "must begin with a word",
        "$JS.API.>": "the broker's",
        "_INBOX.a": "the broker's",
        f"{own}.>": "Tidings' own",
        f"{own}-requests.x": "Tidings' own",
    }
    for subject, remedy in wrong.items():
        status, code, field, said = await _wrong(outside, subject=subject, for_tenant="acme")
        assert (status, code, field) == (400, "bad_value", "subject"), subject
        assert remedy in said


async def test_whose_events_they_are_has_to_be_said_in_one_way(outside: OutsideWorld) -> None:
    """An id or slug, a word of the subject, or events about tenants."""
    wrong: list[tuple[dict[str, Any], str, str]] = [
        ({}, "for_tenant", "in one way"),
        ({"for_tenant": "acme", "tenant_word": 2}, "for_tenant", "in one way"),
        ({"tenant_word": 2, "about_tenants": True}, "for_tenant", "in one way"),
        ({"for_tenant": "nobody-at-all"}, "for_tenant", "id or the slug of a tenant"),
        ({"tenant_word": 1}, "tenant_word", "word 1 is always"),
        ({"tenant_word": 5}, "tenant_word", "at most 4"),
        ({"about_tenants": True, "environment": "test"}, "environment", "must be live"),
    ]
    for wish, field, remedy in wrong:
        status, code, said_field, said = await _wrong(outside, subject=f"{outside.word}.*.a.>", **wish)
        assert (status, code, said_field) == (400, "bad_value", field), wish
        assert remedy in said


async def test_a_stream_that_keeps_only_a_part_is_named(outside: OutsideWorld) -> None:
    """Rather than losing the other part."""
    tenant = await outside.world.tenant()
    stream = await outside.stream(f"{outside.word}.kabul.>")
    status, code, _, said = await _wrong(outside, subject=f"{outside.word}.*.a", for_tenant=tenant.id)

    assert (status, code) == (409, "subject_not_readable")
    assert stream in said
    assert f"{outside.word}.kabul.>" in said


async def test_a_name_is_used_once_and_a_deleted_one_is_free(outside: OutsideWorld) -> None:
    """Also when a change would take it."""
    tenant = await outside.world.tenant()
    first = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id, name="one")
    second = await outside.subscribe(subject=f"{outside.word}.b", for_tenant=tenant.id, name="two")
    again = await outside.platform.post(
        HOME, json={"name": "one", "subject": f"{outside.word}.c", "for_tenant": tenant.id}
    )
    assert (again.status_code, again.json()["code"]) == (409, "event_subscription_taken")
    etag = (await outside.platform.get(f"{HOME}/{second['id']}")).headers["ETag"]
    renamed = await outside.platform.patch(
        f"{HOME}/{second['id']}", json={"name": "one"}, headers={"If-Match": etag}
    )
    assert renamed.json()["code"] == "event_subscription_taken"
    stale = await outside.platform.patch(
        f"{HOME}/{second['id']}", json={"name": "three"}, headers={"If-Match": '"00"'}
    )
    assert stale.status_code == 412
    subject = await outside.platform.patch(
        f"{HOME}/{second['id']}", json={"subject": "x.y"}, headers={"If-Match": etag}
    )
    assert "make another subscription" in subject.text

    assert (await outside.platform.delete(f"{HOME}/{first['id']}")).status_code == 204
    await outside.subscribe(subject=f"{outside.word}.d", for_tenant=tenant.id, name="one")
    listed = (await outside.platform.get(HOME)).json()["items"]
    assert [one["name"] for one in listed] == ["one", "two"]


async def test_every_change_is_audited(outside: OutsideWorld) -> None:
    """Who, what, and what it was before."""
    tenant = await outside.world.tenant()
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    for verb in ("pause", "resume"):
        await outside.platform.post(f"{HOME}/{made['id']}/{verb}")
    await outside.platform.post(f"{HOME}/{made['id']}/refused/retry")
    await outside.platform.delete(f"{HOME}/{made['id']}")

    async with outside.system.db.platform() as tx:
        rows = await outside.system.kernel.audit.read_recent(tx, entity_id=made["id"])
    assert [row.action for row in reversed(rows)] == [
        "created",
        "paused",
        "resumed",
        "refused.retried",
        "deleted",
    ]


async def test_they_are_the_platforms_alone(outside: OutsideWorld) -> None:
    """A tenant's key sees none, and its database role neither."""
    tenant = await outside.world.tenant()
    made = await outside.subscribe(subject=f"{outside.word}.a", for_tenant=tenant.id)
    async with outside.world.as_tenant(tenant.id) as client:
        assert (await client.get(HOME)).status_code == 403
        assert (await client.get(f"/api/v1/event-subscriptions/{made['id']}")).status_code == 404
    for table in ("event_subscriptions", "event_subscription_progress", "event_subscription_refusals"):
        with pytest.raises(NotPermittedError):
            async with outside.system.db.tenant(tenant.id) as tx:
                await tx.fetch(
                    Query(
                        name="peep",
                        why="",
                        text=f"SELECT * FROM notification_platform.{table}",
                        parameters=(),
                    )
                )


async def test_without_a_broker_it_is_said_what_to_set(db: Database) -> None:
    """The list is there, and empty; nothing that needs NATS is."""
    world: HttpWorld = http_world(db)
    tenant = await world.tenant()
    async with world.as_platform() as platform:
        refused = await platform.post(HOME, json={"name": "x", "subject": "pms.a", "for_tenant": tenant.id})
        listed = await platform.get(HOME)

    assert (refused.status_code, refused.json()["code"]) == (409, "no_broker")
    assert "TIDINGS_BUS_URL=nats://" in refused.json()["detail"]
    assert listed.status_code == 200
    assert "event_subscriptions" not in world.system.events.jobs()
