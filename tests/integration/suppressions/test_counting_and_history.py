"""Counts without looking, whole domains, what ran out, who did what, and all of it as a file."""

import asyncio
import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

from tests.support.clock import ManualClock
from tests.support.people import PeopleWorld, rows, told, unused
from tidings.contracts.addresses import normalise
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.notify.suppressions.counts import fold_counts
from tidings.notify.suppressions.expire import expire_suppressions
from tidings.notify.suppressions.model import SuppressionReason, SuppressionSpec

SUPPRESSIONS = "/api/v1/suppressions"


def wish(address: str, reason: SuppressionReason = SuppressionReason.MANUAL, **facts: Any) -> SuppressionSpec:
    return SuppressionSpec(channel="email", address=normalise("email", address), reason=reason, **facts)


async def stats(world: PeopleWorld, tenant_id: TenantId) -> Any:
    async with world.http.as_tenant(tenant_id) as client:
        return (await client.get(f"{SUPPRESSIONS}/stats")).json()


async def test_counts_follow_every_change(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()

    async def add(number: int) -> None:
        wishes = [wish(f"p{n}@example.test", SuppressionReason.COMPLAINT) for n in range(number, number + 10)]
        async with world.db.tenant(tenant.id) as tx:
            await world.suppressor.add(tx, wishes, actor="test")

    await asyncio.gather(*(add(number) for number in range(0, 40, 5)))
    before = await stats(world, tenant.id)
    async with world.http.as_tenant(tenant.id) as client:
        [one, *_] = (await client.get(SUPPRESSIONS)).json()["items"]
        await client.delete(f"{SUPPRESSIONS}/{one['id']}")
    folded = await fold_counts(world.db, limit=1000)
    after = await stats(world, tenant.id)
    async with world.db.tenant(tenant.id) as tx:
        await world.suppressor.add(tx, [wish("late@example.test")], actor="test")

    assert before["total"] == 45
    assert folded >= 2
    assert after == {
        "total": 44,
        "by_channel": {"email": {"total": 44, "by_reason": {"complaint": 44}}},
        "by_reason": {"complaint": 44},
    }
    assert (await stats(world, tenant.id))["total"] == 45
    assert (await stats(world, other.id))["total"] == 0
    kept = await rows(
        world.db, tenant.id, "SELECT bucket FROM notification.suppression_counts WHERE bucket = 0"
    )
    assert len(kept) == 1


async def test_many_are_released_at_once_and_each_is_told_and_audited(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    async with world.db.tenant(tenant.id) as tx:
        mine = await world.suppressor.add(tx, [wish(f"p{n}@example.test") for n in range(3)], actor="test")
    async with world.db.tenant(other.id) as tx:
        theirs = await world.suppressor.add(tx, [wish("p0@example.test")], actor="test")
    ids = [one.suppression.id for one in mine]
    async with world.http.as_tenant(tenant.id) as client:
        await client.delete(f"{SUPPRESSIONS}/{ids[2]}")
        body = {"ids": [*ids, ids[0], theirs[0].suppression.id], "reason": "ticket 4711"}
        done = await client.post(f"{SUPPRESSIONS}/release", json=body)
        again = await client.post(f"{SUPPRESSIONS}/release", json=body)
        wrong = await client.post(f"{SUPPRESSIONS}/release", json={"ids": [ids[0], "sup_none"]})
        history = (await client.get(f"{SUPPRESSIONS}/{ids[0]}/history")).json()["items"]
        none = await client.post(f"{SUPPRESSIONS}/release", json={"ids": []})

    assert done.json() == {"released": 2, "passed_over": 2}
    assert again.json() == {"released": 0, "passed_over": 4}
    assert [error["field"] for error in wrong.json()["errors"]] == ["ids[1]"]
    assert none.status_code == 400
    assert [one["why"] for one in history if one["what"] == "released"] == ["ticket 4711"]
    assert len(await told(world.db, tenant.id, "suppression.released")) == 3
    assert (await stats(world, other.id))["total"] == 1


async def test_what_ran_out_is_released_told_and_no_longer_counted(db: Database, tmp_path: Path) -> None:
    clock = ManualClock(SystemClock().now())
    world = PeopleWorld(db, tmp_path, clock)
    tenant = await world.tenant()
    soon = clock.now() + timedelta(hours=1)
    async with db.tenant(tenant.id) as tx:
        [brief, _] = await world.suppressor.add(
            tx, [wish("a@example.test", expires_at=soon), wish("b@example.test")], actor="test"
        )
    await clock.advance(timedelta(hours=2))

    released = await expire_suppressions(db, world.suppressor, clock, limit=100)
    again = await expire_suppressions(db, world.suppressor, clock, limit=100)

    assert released >= 1
    assert again == 0
    assert (await stats(world, tenant.id))["total"] == 1
    assert [subject for subject, _ in await told(db, tenant.id, "suppression.")][
        -1
    ] == "suppression.released.v1"
    async with world.http.as_tenant(tenant.id) as client:
        history = (await client.get(f"{SUPPRESSIONS}/{brief.suppression.id}/history")).json()["items"]
    assert [(item["what"], item["by"]) for item in history] == [
        ("added", "test"),
        ("released", "system:expired"),
    ]


async def test_the_history_says_who_and_why(world: PeopleWorld) -> None:
    tenant = await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        added = (
            await client.post(SUPPRESSIONS, json={"channel": "email", "address": "a@example.test"})
        ).json()
        path = f"{SUPPRESSIONS}/{added['id']}"
        shown = (await client.get(path)).json()
        await client.delete(path, params={"reason": "asked for by phone"})
        history = (await client.get(f"{path}/history")).json()["items"]
        unknown = await client.get(f"{SUPPRESSIONS}/sup_01JCQ000000000000000000000/history")

    assert shown == added
    assert [(item["what"], item["why"]) for item in history] == [
        ("added", None),
        ("released", "asked for by phone"),
    ]
    assert (unknown.status_code, unknown.json()["code"]) == (404, "suppression_not_found")


async def test_a_whole_domain_of_one_tenant(world: PeopleWorld) -> None:
    """Every address of it, on mail alone, for nobody else, until it is released."""
    tenant, other = await world.tenant(), await world.tenant()
    domain = f"{unused()}.test"
    shared = await world.loader.shared()

    async def held(tenant_id: TenantId, address: str) -> bool:
        recipient = await world.recipient(tenant_id, ("email", address))
        async with world.db.tenant(tenant_id) as tx:
            facts = await world.loader.load(tx, shared, [recipient], channels=["email"])
        [found] = facts.people[recipient].addresses["email"]
        return found.held is not None

    async with world.http.as_tenant(tenant.id) as client:
        added = await client.post(SUPPRESSIONS, json={"channel": "email", "mail_domain": domain.upper()})
        bad = await client.post(
            SUPPRESSIONS, json={"channel": "sms", "mail_domain": domain, "address": "+93701234567"}
        )
        before = [
            await held(tenant.id, f"x@{domain}"),
            await held(tenant.id, f"x@sub.{domain}"),
            await held(other.id, f"x@{domain}"),
        ]
        await client.delete(f"{SUPPRESSIONS}/{added.json()['id']}")

    assert (added.json()["mail_domain"], added.json()["address"]) == (domain, None)
    assert (bad.status_code, bad.json()["errors"][0]["field"]) == (400, "mail_domain")
    assert before == [True, False, False]
    assert not await held(tenant.id, f"y@{domain}")


async def test_the_export_shows_hints_unless_asked_and_goes_in_again(world: PeopleWorld) -> None:
    tenant, other = await world.tenant(), await world.tenant()
    async with world.http.as_tenant(tenant.id) as client:
        for body in (
            {"channel": "email", "address": "laila@example.test", "reason": "complaint"},
            {"channel": "sms", "address": "+93701234567", "expires_at": "2099-01-01T00:00:00Z"},
            {"channel": "email", "mail_domain": "whole.test"},
        ):
            await client.post(SUPPRESSIONS, json=body)
        hints = await client.get(f"{SUPPRESSIONS}/export")
        clear = await client.get(f"{SUPPRESSIONS}/export", params={"reveal": "true"})
    async with world.http.as_tenant(tenant.id, role="tenant.viewer") as viewer:
        denied = await viewer.get(f"{SUPPRESSIONS}/export", params={"reveal": "true"})
    async with world.http.as_tenant(other.id) as client:
        back = await client.post(
            f"{SUPPRESSIONS}/import", content=clear.content, headers={"Content-Type": "text/csv"}
        )

    shown = [row["address"] for row in csv.DictReader(io.StringIO(hints.text))]
    assert shown == ["l…@e….test", "'+…67", "'@whole.test"]
    assert [row["address"] for row in csv.DictReader(io.StringIO(clear.text))] == [
        "laila@example.test", "+93701234567", "'@whole.test",
    ]  # fmt: skip
    assert denied.status_code == 403
    assert (back.json()["added"], back.json()["refused"]) == (3, 0)
    audited = await rows(
        world.db, tenant.id, "SELECT actor FROM notification.audit WHERE action = 'exported'"
    )
    assert len(audited) == 1


async def test_nobody_can_delete_a_suppression_behind_the_counts(world: PeopleWorld) -> None:
    """The trigger counts what is added and released; that is all there is, as long as no role may delete."""
    async with world.db.worker() as tx:
        found = await tx.connection.fetch(
            "SELECT role FROM unnest(ARRAY['tidings_runtime', 'tidings_platform', 'tidings_worker', 'tidings_breakglass'])"
            " AS known (role) WHERE has_table_privilege(role, 'notification.suppressions', 'DELETE, TRUNCATE')"
        )

    assert found == []
