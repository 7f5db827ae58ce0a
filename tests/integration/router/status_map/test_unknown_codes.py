"""Codes without a meaning: kept, counted, listed, and told again once they have one."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from tests.integration.router.callbacks.conftest import Attempt, CallbackWorld, event, events
from tidings.contracts.callback_forms import ReadEvent
from tidings.kernel.db import TenantTx
from tidings.kernel.ids import TenantId
from tidings.router.callbacks.apply import details_of
from tidings.router.callbacks.intake import IncomingCallback
from tidings.router.executions import receipts
from tidings.router.receipts import Applied, Receipt
from tidings.router.status_map import store
from tidings.router.status_map.reapply import Reapplier

HOME = "/api/v1/router/status-map"
INSIDE = "/internal/v1/router/status-map"

BOUNCED = {"canonical": "bounced", "reason": "hard_bounce"}


async def test_they_are_counted_and_listed_until_they_mean_something(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None, "http_acme")
    mine = [await world.attempt(tenant_id, account, vendor="http_acme") for _ in range(3)]
    theirs = await world.attempt(other_tenant, account, vendor="http_acme")
    for attempt in (*mine, theirs):
        await world.tell(attempt, "exploded", code="E-99")
    await world.tell(mine[0], "delivered", code="E-98")

    await world.job().drain()
    async with world.client(tenant_id) as client:
        [listed] = (await client.get(f"{HOME}/unknown")).json()["items"]
        await client.put(f"{HOME}/http/E-99", json=BOUNCED)
        [mapped] = (await client.get(f"{HOME}/unknown", params={"adapter": "http"})).json()["items"]
        await world.tell(mine[0], "exploded", code="E-99")
        await world.job().drain()
        [after] = (await client.get(f"{HOME}/unknown")).json()["items"]
    async with world.client("admin") as platform:
        [all_of_them] = (await platform.get(f"{INSIDE}/unknown")).json()["items"]

    assert (listed["vendor"], listed["adapter"], listed["code"], listed["count"], listed["means"]) == (
        "http_acme",
        "http",
        "E-99",
        3,
        None,
    )
    assert listed["tenants"] is None
    assert mapped["means"] == BOUNCED
    # What means something is not counted among those that mean nothing.
    assert after["count"] == 3
    assert (all_of_them["count"], all_of_them["tenants"], all_of_them["means"]) == (4, 2, None)
    assert sorted(r["status"] for r in await world.receipts(tenant_id)) == [
        "bounced",
        "delivered",
        "unknown",
        "unknown",
        "unknown",
    ]


async def test_a_failure_with_a_code_that_nobody_knows_is_listed_and_told_again(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Its word says that it failed; what the code means for the address is told once it is known, and once only."""
    account = await world.account(None, "http_acme")
    attempt = await world.attempt(tenant_id, account, vendor="http_acme")
    await world.tell(attempt, "failed", code="E-77", reason="a riddle")
    await world.job().drain()

    async with world.client(tenant_id) as client:
        [listed] = (await client.get(f"{HOME}/unknown")).json()["items"]
        await client.put(f"{HOME}/http/E-77", json=BOUNCED)
        told = [(await client.post(f"{HOME}/http/E-77/reapply")).json()["reapplied"] for _ in range(2)]
        corrected = {"canonical": "failed_perm", "reason": "invalid_address"}
        version = (await client.get(f"{HOME}/http/E-77")).headers["etag"]
        await client.put(f"{HOME}/http/E-77", json=corrected, headers={"If-Match": version})
        again = [(await client.post(f"{HOME}/http/E-77/reapply")).json()["reapplied"] for _ in range(2)]

    assert (listed["code"], listed["count"], listed["means"]) == ("E-77", 1, None)
    assert (told, again) == ([1, 0], [1, 0])
    assert sorted((r["status"], r["reason"]) for r in await world.receipts(tenant_id)) == [
        ("bounced", "hard_bounce"),
        ("failed_perm", "a riddle"),
        ("failed_perm", "invalid_address"),
    ]


async def test_an_event_that_is_told_twice_counts_once(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    body = events(event(attempt.message_id, "exploded", code="E-1", id="the same"))
    for _ in range(2):
        await world.post(attempt.account_id, body)

    await world.job().drain()

    async with world.db.tenant(tenant_id) as tx:
        [unknown] = await store.list_unknown(tx, adapter=None)
    assert unknown.count == 1


async def test_a_word_without_a_code_can_be_given_a_meaning(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await _word(world, attempt, "Gone Fishing", "1")

    await world.job().drain()
    async with world.client(tenant_id) as client:
        [listed] = (await client.get(f"{HOME}/unknown")).json()["items"]
        await client.put(f"{HOME}/http/gone_fishing", json=BOUNCED)
        told = (await client.post(f"{HOME}/http/gone_fishing/reapply")).json()
        await _word(world, attempt, "gone fishing", "2")
        await world.job().drain()

    assert listed["code"] == "gone_fishing"
    assert told == {"reapplied": 1, "more": False, "dry_run": False}
    assert sorted(r["status"] for r in await world.receipts(tenant_id)) == ["bounced", "bounced", "unknown"]


async def test_receipts_are_told_again_in_sets_and_once(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    world.system.callbacks.reapplier = Reapplier(
        world.db,
        receipts.apply,
        audit=world.audit,
        clock=world.clock,
        on_woken=world.system.router.due_timer.expect,
        most=4,
        set_size=3,
    )
    account = await world.account(None, "http_acme")
    attempts = [await world.attempt(tenant_id, account, vendor="http_acme") for _ in range(5)]
    theirs = await world.attempt(other_tenant, account, vendor="http_acme")
    for attempt in (*attempts, theirs):
        await world.tell(attempt, "exploded", code="E-7")
    await world.job().drain()
    place = f"{HOME}/http/E-7"

    async with world.client(tenant_id) as client:
        nothing = await client.post(f"{place}/reapply")
        await client.put(place, json=BOUNCED)
        dry = (await client.post(f"{place}/reapply", params={"dry_run": "true"})).json()
        untouched = {r["status"] for r in await world.receipts(tenant_id)}
        goes = [(await client.post(f"{place}/reapply")).json() for _ in range(3)]
        # Another meaning is told once more.
        await client.put(
            place, json={"canonical": "failed_perm", "reason": "gone"}, headers={"If-Match": '"v1"'}
        )
        anew = (await client.post(f"{place}/reapply")).json()

    assert (nothing.status_code, nothing.json()["code"]) == (404, "status_line_not_found")
    assert (dry, untouched) == ({"reapplied": 4, "more": True, "dry_run": True}, {"unknown"})
    assert [(one["reapplied"], one["more"]) for one in goes] == [(4, True), (1, False), (0, False)]
    assert (anew["reapplied"], anew["more"]) == (4, True)
    rows = await world.receipts(tenant_id)
    bounced = [r for r in rows if r["status"] == "bounced"]
    assert sorted(r["attempt_id"] for r in bounced) == sorted(a.id for a in attempts)
    assert {(r["reason"], r["provider_code"]) for r in bounced} == {("hard_bounce", "E-7")}
    unknown = {r["recorded_at"] for r in rows if r["status"] == "unknown"}
    assert {r["recorded_at"] for r in bounced} == unknown
    # Nobody else's, and nothing that a vendor's own line speaks about.
    assert [r["status"] for r in await world.receipts(other_tenant)] == ["unknown"]


async def test_what_it_means_for_the_address_is_told_with_it(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Somebody says afterwards that the code is a hard bounce: nobody is written to there again."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt, "exploded", code="E-6")
    await world.job().drain()

    heard: list[Receipt] = []

    async def apply(tx: TenantTx, told: Sequence[Receipt], *, now: datetime) -> Applied:
        heard.extend(told)
        return await receipts.apply(tx, told, now=now)

    async with world.client(tenant_id) as client:
        await client.put(f"{HOME}/http/E-6", json=BOUNCED)
    again = Reapplier(
        world.db, apply, audit=world.audit, clock=world.clock, on_woken=world.system.router.due_timer.expect
    )
    await again.reapply(tenant_id, "http", "E-6", actor="test")

    assert [(one.status, one.effect) for one in heard] == [("bounced", "hard_bounce")]


async def test_the_platform_tells_everybodys(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """But those of tenants that read the code differently, or too old."""
    account = await world.account(None)
    old = await world.attempt(tenant_id, account)
    await world.tell(old, "exploded", code="E-8")
    await world.job().drain()
    await world.clock.advance(timedelta(days=36))
    for tenant in (tenant_id, other_tenant):
        await world.tell(await world.attempt(tenant, account), "exploded", code="E-8")
    await world.job().drain()

    async with world.client(other_tenant) as client:
        await client.put(f"{HOME}/http/E-8", json={"canonical": "failed_temp", "reason": "busy"})
    async with world.client("admin") as platform:
        await platform.put(f"{INSIDE}/http/E-8", json=BOUNCED)
        dry = (await platform.post(f"{INSIDE}/http/E-8/reapply", params={"dry_run": "true"})).json()
        done = (await platform.post(f"{INSIDE}/http/E-8/reapply")).json()

    assert (dry["reapplied"], done["reapplied"], done["more"]) == (2, 2, False)
    mine = [r["status"] for r in await world.receipts(tenant_id)]
    assert sorted(mine) == ["bounced", "unknown", "unknown"]
    assert sorted(r["status"] for r in await world.receipts(other_tenant)) == ["failed_temp", "unknown"]


async def test_whoever_makes_up_ever_new_codes_is_not_counted_without_end(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    now = world.clock.now()
    async with world.db.tenant(tenant_id) as tx:
        await store.note_unknown(tx, {("http", f"c{n}"): 1 for n in range(1000)}, adapters={}, now=now)
        await store.note_unknown(tx, {("http", "c1"): 1, ("http", "one more"): 1}, adapters={}, now=now)
        found = {one.code: one.count for one in await store.list_unknown(tx, adapter=None)}
    async with world.db.worker() as worker:
        await store.sweep_unknown(worker, before=now, limit=5000)
    async with world.db.tenant(tenant_id) as tx:
        kept = len(await store.list_unknown(tx, adapter=None))
    async with world.db.worker() as worker:
        await store.sweep_unknown(worker, before=now + timedelta(seconds=1), limit=5000)
    async with world.db.tenant(tenant_id) as tx:
        left = len(await store.list_unknown(tx, adapter=None))

    assert (len(found), found["c1"], "one more" in found) == (1000, 2, False)
    assert (kept, left) == (1000, 0)


async def _word(world: CallbackWorld, attempt: Attempt, word: str, discriminator: str) -> None:
    """An event that has nothing but a word that nobody knows."""
    said = ReadEvent(
        vendor_message_id=attempt.message_id,
        word=word,
        status="unknown",
        occurred_at=None,
        discriminator=discriminator,
    )
    read = ReadEvent(
        vendor_message_id=said.vendor_message_id,
        word=said.word,
        status=said.status,
        occurred_at=None,
        discriminator=discriminator,
        details=details_of(said),
    )
    await world.intake.take(
        "http",
        IncomingCallback(
            account_id=attempt.account_id,
            signature_valid=True,
            status="received",
            reason=None,
            body=b"{}",
            events=[read],
        ),
    )
