"""Operators look at what found no message, read what came, and have it looked for again."""

from datetime import timedelta

import pytest

from tests.integration.router.callbacks.conftest import CallbackWorld, event, events
from tidings.kernel.ids import TenantId


async def _dead(world: CallbackWorld, account: str, *names: str) -> list[str]:
    """Events that were given up."""
    await world.post(account, events(*(event(name, id=name) for name in names)))
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.webhook_inbound_events SET status = 'dlq', correlate_attempts = 150 WHERE status = 'queued'"
        )
        await tx.connection.execute(
            "UPDATE chan.webhook_inbound SET status = 'dlq' WHERE status = 'received'"
        )
    return [row["id"] for row in await world.events() if row["status"] == "dlq"]


async def test_listing_page_by_page(world: CallbackWorld) -> None:
    account = await world.account(None)
    dead: list[str] = []
    for n in range(5):
        dead = await _dead(world, account, f"m-{n}")
        await world.later(seconds=1)

    async with world.client("support") as client:
        first = (await client.get("/internal/v1/callbacks", params={"limit": 3})).json()
        rest = (
            await client.get("/internal/v1/callbacks", params={"limit": 3, "cursor": first["next_cursor"]})
        ).json()
        queued = (await client.get("/internal/v1/callbacks", params={"status": "queued"})).json()
        other = (await client.get("/internal/v1/callbacks", params={"vendor": "smtp"})).json()

    assert [one["id"] for one in first["items"] + rest["items"]] == dead[::-1]
    assert rest["next_cursor"] is None
    assert first["items"][0]["vendor_message_id"] == "m-4"
    assert queued["items"] == other["items"] == []


async def test_requeued_by_id_it_is_found_at_once(world: CallbackWorld, tenant_id: TenantId) -> None:
    """The attempt has turned up: an hour of the other region's outage."""
    account = await world.account(None)
    [found] = await _dead(world, account, "m-1")
    await world.later(seconds=1)
    [_, lost] = await _dead(world, account, "m-2")
    attempt = await world.attempt(tenant_id, account, message_id="m-1")

    async with world.client("admin") as client:
        answer = await client.post("/internal/v1/callbacks/requeue", json={"ids": [found]})
        again = await client.post("/internal/v1/callbacks/requeue", json={"ids": [found]})
    await world.job().drain()

    assert answer.json() == {"requeued": 1, "too_old": 0, "more": False}
    assert again.json()["requeued"] == 0
    assert [r["attempt_id"] for r in await world.receipts(tenant_id)] == [attempt.id]
    assert {row["id"]: row["status"] for row in await world.events()} == {found: "applied", lost: "dlq"}
    async with world.db.platform() as tx:
        audited = await tx.connection.fetch(
            "SELECT entity_id, action, actor FROM chan.audit WHERE entity_id = ANY($1)", [found, lost]
        )
    operator = (await world.http.key_of("admin"))[0].id
    assert [tuple(row.values()) for row in audited] == [(found, "requeued", operator)]


async def test_requeued_by_vendor_it_has_new_patience(world: CallbackWorld) -> None:
    account, other = await world.account(None), await world.account(None, "http_acme")
    await _dead(world, account, "m-1")
    await world.later(hours=1)
    since = world.clock.now() - timedelta(minutes=1)
    [_, young] = await _dead(world, account, "m-2")
    body = events(event("m-3"))
    await world.post(other, body, vendor="http_acme")

    async with world.client("admin") as client:
        answer = await client.post(
            "/internal/v1/callbacks/requeue", json={"vendor": "http", "since": since.isoformat()}
        )
    await world.job().turn()

    assert answer.json() == {"requeued": 1, "too_old": 0, "more": False}
    row = next(row for row in await world.events() if row["id"] == young)
    assert (row["status"], row["correlate_attempts"]) == ("late_correlate", 1)


async def test_requeued_too_late_it_stays_dead(world: CallbackWorld) -> None:
    """Nobody looks for an attempt that old: it must not wait for a look that never comes."""
    account = await world.account(None)
    [old] = await _dead(world, account, "m-1")
    await world.later(days=36)
    [_, young] = await _dead(world, account, "m-2")

    async with world.client("admin") as client:
        by_vendor = await client.post("/internal/v1/callbacks/requeue", json={"vendor": "http"})
        by_id = await client.post("/internal/v1/callbacks/requeue", json={"ids": [old]})

    assert by_vendor.json() == {"requeued": 1, "too_old": 1, "more": False}
    assert by_id.json() == {"requeued": 0, "too_old": 1, "more": False}
    assert {row["id"]: row["status"] for row in await world.events()} == {old: "dlq", young: "late_correlate"}


async def test_reading_a_raw_body_is_on_record(world: CallbackWorld) -> None:
    account = await world.account(None)
    body = events(event("m-1", reason="to +1 500 555 0199"))
    await world.post(account, body)
    [kept] = await world.events()

    async with world.client("admin") as client:
        read = await client.get(f"/internal/v1/callbacks/{kept['id']}/body")
        shown = await client.get(f"/internal/v1/callbacks/{kept['id']}")
    async with world.client("support") as client:
        forbidden = await client.get(f"/internal/v1/callbacks/{kept['id']}/body")

    assert read.content == body
    assert shown.json()["vendor_message_id"] == "m-1"
    assert "0199" not in shown.text
    assert forbidden.status_code == 403
    async with world.db.platform() as tx:
        audited = await tx.connection.fetch(
            "SELECT entity_id, action FROM chan.audit WHERE entity_id = $1", kept["id"]
        )
    assert [tuple(row.values()) for row in audited] == [(kept["id"], "body.read")]


async def test_refused_requests_are_listed_and_read(world: CallbackWorld) -> None:
    account = await world.account(None)
    forged = events(event("m-1"))
    await world.post(account, forged, headers=world.signed(forged, secret="a-guess-of-some-length"))
    await world.post(account, events(event("m-2")))

    async with world.client("admin") as client:
        listed = (await client.get("/internal/v1/callbacks/requests")).json()["items"]
        read = await client.get(f"/internal/v1/callbacks/requests/{listed[0]['id']}/body")

    assert [(one["reason"], one["signed"], one["adapter"]) for one in listed] == [
        ("mismatch", False, account)
    ]
    assert read.content == forged


async def test_a_request_that_is_not_there(world: CallbackWorld) -> None:
    async with world.client("admin") as client:
        answer = await client.get("/internal/v1/callbacks/requests/whi_01JCQ000000000000000000000/body")

    assert (answer.status_code, answer.json()["code"]) == (404, "callback_request_not_found")
    assert "No request with this id is kept" in answer.json()["detail"]


async def test_what_found_its_message_is_its_tenants(world: CallbackWorld, tenant_id: TenantId) -> None:
    attempt = await world.attempt(tenant_id, await world.account(None))
    await world.tell(attempt)
    await world.job().drain()
    [kept] = await world.events()

    async with world.client("admin") as client:
        answer = await client.get(f"/internal/v1/callbacks/{kept['id']}")

    assert answer.status_code == 404
    assert answer.json()["code"] == "callback_not_found"


async def test_tenants_have_no_business_here(world: CallbackWorld, tenant_id: TenantId) -> None:
    async with world.client(tenant_id) as client:
        answers = [
            await client.get("/internal/v1/callbacks"),
            await client.get("/internal/v1/callbacks/requests"),
            await client.post("/internal/v1/callbacks/requeue", json={"vendor": "http"}),
        ]

    assert [a.status_code for a in answers] == [403, 403, 403]


@pytest.mark.parametrize(
    "wish",
    [{}, {"ids": []}, {"ids": ["whe_1"]}, {"vendor": "http", "ids": []}, {"since": "2026-11-15T00:00:00Z"}],
)
async def test_orders_that_say_too_little_or_too_much(world: CallbackWorld, wish: dict[str, object]) -> None:
    async with world.client("admin") as client:
        answer = await client.post("/internal/v1/callbacks/requeue", json=wish)

    assert answer.status_code == 400
    assert answer.json()["errors"]


async def test_ids_beside_a_vendor(world: CallbackWorld) -> None:
    wish = {"vendor": "http", "ids": ["whe_01JCQ000000000000000000000"]}
    async with world.client("admin") as client:
        answer = await client.post("/internal/v1/callbacks/requeue", json=wish)

    assert [(e["field"], e["remedy"]) for e in answer.json()["errors"]] == [
        ("vendor", "can't stand beside ids; give one of the two")
    ]
