"""Suppressions: added once, released once, looked up in one statement."""

import asyncio
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from tests.support.clock import ManualClock
from tests.support.people import PeopleWorld, counted, rows, told, unused
from tidings.contracts.addresses import normalise
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.notify.suppressions import store
from tidings.notify.suppressions.model import (
    SuppressionQuestion,
    SuppressionReason,
    SuppressionSpec,
    domain_hash_of,
    mail_domain_of,
)

SUPPRESSIONS = "/api/v1/suppressions"


def wish(address: str, **facts: object) -> SuppressionSpec:
    return SuppressionSpec(
        channel="email",
        address=normalise("email", address),
        reason=SuppressionReason.HARD_BOUNCE,
        **facts,  # type: ignore[arg-type]
    )


async def question(world: PeopleWorld, tenant_id: TenantId, address: str) -> SuppressionQuestion:
    spelt = normalise("email", address)
    shared = await world.loader.shared()
    async with world.db.tenant(tenant_id) as tx:
        pepper = await world.system.kernel.keyring.pepper(tx)
    return SuppressionQuestion(
        tenant_id=tenant_id,
        channel="email",
        address_hash=pepper.hash(spelt),
        platform_hash=shared.platform_pepper.hash(spelt),
        mail_domain=mail_domain_of("email", spelt),
        domain_hash=domain_hash_of("email", spelt, pepper),
    )


async def test_an_address_is_suppressed_listed_and_released(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    body = {
        "channel": "email",
        "address": "Laila@example.test",
        "reason": "complaint",
        "notes": "asked by phone",
    }
    async with world.http.as_tenant(tenant.id) as client:
        added = await client.post(SUPPRESSIONS, json=body)
        again = await client.post(SUPPRESSIONS, json={**body, "address": "laila@EXAMPLE.test"})
        listed = await client.get(SUPPRESSIONS, params={"channel": "email", "reason": "complaint"})
        path = f"{SUPPRESSIONS}/{added.json()['id']}"
        released = await client.delete(path, params={"reason": "a mistake"})
        twice = await client.delete(path)
        empty = await client.get(SUPPRESSIONS)
        kept = await client.get(SUPPRESSIONS, params={"released": "true"})

    assert (added.status_code, added.json()["address"]) == (201, "l…@e….test")
    assert (again.status_code, again.json()["id"]) == (200, added.json()["id"])
    assert [item["id"] for item in listed.json()["items"]] == [added.json()["id"]]
    assert (released.status_code, twice.status_code, twice.json()["code"]) == (
        204,
        409,
        "suppression_released",
    )
    assert empty.json()["items"] == []
    assert kept.json()["items"][0]["released_by"].startswith("key_")
    ids = {"suppression_id": added.json()["id"], "channel": "email", "reason": "complaint"}
    assert await told(world.db, tenant.id, "suppression.") == [
        ("suppression.added.v1", ids),
        ("suppression.released.v1", ids),
    ]
    audited = await rows(
        world.db,
        tenant.id,
        "SELECT action, reason FROM notification.audit WHERE entity_type = 'suppression' ORDER BY seq",
    )
    assert audited == [{"action": "added", "reason": None}, {"action": "released", "reason": "a mistake"}]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({"channel": "inapp", "address": "x"}, {"channel"}),
        ({"channel": "email", "address": "nobody", "expires_at": "2001-01-01T00:00:00Z", "source_notification_id": "x"},
         {"address", "expires_at", "source_notification_id"}),
        ({"channel": "email"}, {"address"}),
        ({"channel": "email", "address": "a@example.test", "reason": "whim"}, {"reason"}),
    ],
)  # fmt: skip
async def test_bad_input_names_every_field(
    world: PeopleWorld, body: dict[str, object], fields: set[str]
) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        refused = await client.post(SUPPRESSIONS, json=body)

    assert refused.status_code == 400
    assert {error["field"] for error in refused.json()["errors"]} == fields
    assert await rows(world.db, tenant.id, "SELECT id FROM notification.suppressions") == []


async def test_nobody_releases_anothers(world: PeopleWorld) -> None:
    one, two = await world.tenant(), await world.tenant()
    async with world.http.as_tenant(one.id) as client:
        added = await client.post(SUPPRESSIONS, json={"channel": "email", "address": "laila@example.test"})
    async with world.http.as_tenant(two.id) as client:
        refused = await client.delete(f"{SUPPRESSIONS}/{added.json()['id']}")

    assert (refused.status_code, refused.json()["code"]) == (404, "suppression_not_found")


async def test_many_at_once_add_each_address_once(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    wishes = [wish(f"{unused()}@example.test") for _ in range(20)]

    async def add(number: int) -> int:
        order = wishes if number % 2 else list(reversed(wishes))
        async with world.db.tenant(tenant.id) as tx:
            return sum(done.created for done in await world.suppressor.add(tx, order, actor="test"))

    made = await asyncio.gather(*(add(number) for number in range(8)))

    assert sum(made) == 20


async def test_the_look_up_is_one_statement_over_tenant_platform_and_domain(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    domain = f"{unused()}.test"
    mine, theirs, wild, free, elsewhere = (
        f"{word}@{domain if word == 'wild' else 'example.test'}"
        for word in (unused(), unused(), "wild", unused(), unused())
    )
    async with world.db.tenant(tenant.id) as tx:
        await world.suppressor.add(tx, [wish(mine)], actor="test")
    async with world.db.tenant(other.id) as tx:
        await world.suppressor.add(tx, [wish(elsewhere)], actor="test")
    async with world.db.platform() as platform:
        add = partial(
            world.suppressor.add_for_platform,
            platform,
            channel="email",
            reason=SuppressionReason.COMPLIANCE,
            actor="test",
        )
        await add(address=normalise("email", theirs))
        await add(mail_domain=domain)
    questions = [await question(world, tenant.id, a) for a in (mine, theirs, wild, free, elsewhere)]

    async with world.db.tenant(tenant.id) as tx, counted(tx) as statements:
        held = (await store.find_held(tx, questions * 200, now=SystemClock().now())).held

    assert len(statements) == 1
    assert [held[place].by if place in held else None for place in range(5)] == [
        "tenant", "platform", "domain", None, None,
    ]  # fmt: skip
    assert len(held) == 600


async def test_one_that_ran_out_holds_nothing_and_makes_room(db: Database, tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now())
    world = PeopleWorld(db, tmp_path, clock)
    tenant = await world.tenant()
    address = f"{unused()}@example.test"
    asked = await question(world, tenant.id, address)
    soon = clock.now() + timedelta(hours=1)

    async with db.tenant(tenant.id) as tx:
        [first] = await world.suppressor.add(tx, [wish(address, expires_at=soon)], actor="test")
        [longer] = await world.suppressor.add(
            tx, [wish(address, expires_at=soon + timedelta(hours=1))], actor="test"
        )
        before = await store.find_held(tx, [asked], now=clock.now())
        await clock.advance(timedelta(hours=3))
        after = await store.find_held(tx, [asked], now=clock.now())
        [second] = await world.suppressor.add(tx, [wish(address)], actor="test")

    assert (first.created, longer.created, second.created) == (True, False, True)
    assert longer.suppression.expires_at == soon + timedelta(hours=1)
    assert list(before.held) == [0]
    assert after.held == {}
    assert second.suppression.id != first.suppression.id


async def test_a_platform_wide_one_is_under_another_pepper(world: PeopleWorld) -> None:
    tenant = await world.tenant()

    asked = await question(world, tenant.id, f"{unused()}@example.test")

    assert asked.address_hash != asked.platform_hash


async def test_what_holds_an_address_back_is_found_by_it(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    lookup = {"channel": "email", "address": " Kamran@Example.test "}
    async with world.http.as_tenant(other.id) as client:
        await client.post(SUPPRESSIONS, json={"channel": "email", "address": "kamran@example.test"})
    async with world.http.as_tenant(tenant.id) as client:
        first = await client.post(SUPPRESSIONS, json={"channel": "email", "address": "kamran@example.test"})
        await client.delete(f"{SUPPRESSIONS}/{first.json()['id']}", params={"reason": "asked"})
        second = await client.post(SUPPRESSIONS, json={"channel": "email", "address": "kamran@example.test"})
        domain = await client.post(SUPPRESSIONS, json={"channel": "email", "mail_domain": "example.test"})
        number = await client.post(SUPPRESSIONS, json={"channel": "sms", "address": "+93700123456"})
        found = await client.post(f"{SUPPRESSIONS}/lookup", json=lookup)
        by_number = await client.post(
            f"{SUPPRESSIONS}/lookup", json={"channel": "whatsapp", "address": "+93700123456"}
        )
    async with world.db.tenant(tenant.id) as tx:
        audited = await world.system.kernel.audit.read_recent(tx, entity_type="suppression")

    ids = [item["id"] for item in found.json()["items"]]
    assert set(ids[:2]) == {second.json()["id"], domain.json()["id"]}
    assert ids[2:] == [first.json()["id"]]
    assert [item["id"] for item in by_number.json()["items"]] == [number.json()["id"]]
    looked = [row for row in audited if row.action == "looked_up"]
    assert len(looked) == 2
    assert "kamran" not in str(looked).lower()
