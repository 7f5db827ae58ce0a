"""No raw body of a callback is kept that is about somebody who was erased; its neighbours stay readable."""

import asyncio

import httpx2
import pytest

from tests.integration.router.callbacks.conftest import Attempt, CallbackWorld, event, events, place_of
from tidings.contracts.ids import NOTIFICATION, RECIPIENT
from tidings.kernel.blobs.keys import checked_key
from tidings.kernel.db import Row
from tidings.kernel.ids import TenantId, time_of
from tidings.router.callbacks import raw_bodies
from tidings.router.callbacks.errors import CallbackBodyGoneError
from tidings.router.callbacks.forget import BodyEraser, StoredCallbackForgetter
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE


async def _ladder(world: CallbackWorld, attempt: Attempt) -> str:
    """The attempt's ladder, which is over; the id of its notification."""
    now = world.clock.now()
    notification_id = NOTIFICATION.new(now)
    async with world.db.tenant(attempt.tenant_id) as tx:
        await tx.connection.execute(
            "INSERT INTO chan.fallback_executions (tenant_id, id, started_at, terminated_at, notification_id, recipient_id, "
            "use_case, strategy, ladder_snapshot, outcome) "
            "VALUES ($1, $2, $3, $4, $5, $6, 'txn', 'SEQUENTIAL', '{}', 'DELIVERED')",
            attempt.tenant_id,
            attempt.execution_id,
            time_of(attempt.execution_id),
            now,
            notification_id,
            RECIPIENT.new(now),
        )
    return notification_id


async def _order(world: CallbackWorld, tenant_id: TenantId, *notification_ids: str) -> int:
    """As the transaction that erases does."""
    async with world.db.tenant(tenant_id) as tx:
        return await StoredCallbackForgetter(world.clock).forget(tx, notification_ids)


async def _erase(world: CallbackWorld, tenant_id: TenantId, *notification_ids: str) -> int:
    counted = await _order(world, tenant_id, *notification_ids)
    await BodyEraser(world.db, world.clock).sweep(100)
    return counted


async def _read(world: CallbackWorld, request: Row) -> bytes:
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    return await raw_bodies.read(world.system.kernel.blobs, key, place_of(request))


async def _about(world: CallbackWorld, attempt: Attempt) -> Row:
    """The request that told of an attempt."""
    async with world.db.worker() as tx:
        request_id = await tx.connection.fetchval(
            "SELECT webhook_inbound_id FROM chan.webhook_inbound_events WHERE vendor_message_id = $1",
            attempt.message_id,
        )
    [found] = [one for one in await world.requests() if one["id"] == request_id]
    return found


async def _show(world: CallbackWorld, request: Row) -> httpx2.Response:
    async with world.client("admin") as client:
        return await client.get(f"/internal/v1/callbacks/requests/{request['id']}/body")


async def test_their_bodies_are_gone_and_the_neighbours_are_not(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Two requests of one object: by the route, with the platform's key, and counted for the receipt."""
    account = await world.account(None)
    hers, his = [await world.attempt(tenant_id, account) for _ in range(2)]
    notification_id = await _ladder(world, hers)
    await _ladder(world, his)
    bodies = [
        events(event(one.message_id, code=word)) for one, word in ((hers, "unmistakable"), (his, "other"))
    ]
    await asyncio.gather(*(world.post(account, body) for body in bodies))
    await world.job().drain()
    mine, neighbour = await _about(world, hers), await _about(world, his)
    name = checked_key(mine["raw_body_ref"].partition("#")[0])
    assert neighbour["raw_body_ref"].startswith(name), "they share an object"
    shown = await _show(world, mine)

    counted = await _erase(world, tenant_id, notification_id)

    assert (shown.status_code, shown.content) == (200, bodies[0])
    assert counted == 1
    gone = await _show(world, mine)
    assert (gone.status_code, gone.json()["code"]) == (404, "callback_body_gone")
    assert "a person it is about was erased" in gone.json()["detail"]
    assert (await _about(world, hers))["body_key"] is None
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    opened = key.unseal((await world.system.kernel.blobs.get(name)).content, f"raw:{name}")
    assert b"unmistakable" not in opened
    assert (await _show(world, neighbour)).content == bodies[1]


async def test_what_comes_after_the_erasure_is_not_kept(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Its outcome is; and a body that nobody had looked at when the erasure came goes with the rest."""
    account = await world.account(None)
    early, late, other = [await world.attempt(tenant_id, account) for _ in range(3)]
    early_id, late_id = await _ladder(world, early), await _ladder(world, late)
    await _ladder(world, other)
    await world.tell(early)

    counted = await _erase(world, tenant_id, early_id, late_id)

    assert counted == 0, "nobody knows yet whom it is about"
    assert (await _about(world, early))["body_key"] is None
    await world.tell(late)
    await world.tell(other)
    await world.job().drain()
    assert (await _about(world, late))["body_key"] is None
    assert (await _about(world, other))["body_key"] is not None
    assert len(await world.receipts(tenant_id)) == 3


async def test_one_request_about_two_people_goes_with_the_first(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    """Also where the other is another tenant's; what it said stands with both."""
    account = await world.account(None)
    hers, his = await world.attempt(tenant_id, account), await world.attempt(other_tenant, account)
    notification_id = await _ladder(world, hers)
    await _ladder(world, his)
    await world.post(account, events(event(hers.message_id), event(his.message_id)))
    await world.job().drain()

    assert await _erase(world, tenant_id, notification_id) == 1

    [request] = await world.requests()
    with pytest.raises(CallbackBodyGoneError):
        await _read(world, request)
    assert [len(await world.receipts(one)) for one in (tenant_id, other_tenant)] == [1, 1]


async def test_what_is_told_again_is_kept_without_its_body(world: CallbackWorld, tenant_id: TenantId) -> None:
    """Nothing leads from a person to the second request: the first has all that it said."""
    attempt = await world.attempt(tenant_id, await world.account(None))
    notification_id = await _ladder(world, attempt)
    body = events(event(attempt.message_id, id="the-same"))
    for _ in range(2):
        await world.post(attempt.account_id, body)
    await world.job().drain()

    assert {one["reason"]: one["body_key"] is None for one in await world.requests()} == {
        None: False,
        "repeated": True,
    }
    await _erase(world, tenant_id, notification_id)
    assert [one["body_key"] is None for one in await world.requests()] == [True, True]


async def test_orders_are_carried_out_once_and_forgotten(world: CallbackWorld, tenant_id: TenantId) -> None:
    """In chunks, repeated without harm; nobody else's order is touched, and a tenant orders for itself alone."""
    account = await world.account(None)
    attempts = [await world.attempt(tenant_id, account) for _ in range(3)]
    notification_ids = [await _ladder(world, one) for one in attempts]
    eraser = BodyEraser(world.db, world.clock)
    await _order(world, tenant_id, *notification_ids)
    await _order(world, tenant_id, *notification_ids)

    chunks = [await eraser.sweep(2), await eraser.sweep(2), await eraser.sweep(2)]

    assert chunks == [2, 1, 0]
    assert await eraser.forget_orders(100) == 0
    await world.later(days=50)
    assert await eraser.forget_orders(2) == 2
    assert await eraser.forget_orders(2) == 1


async def test_another_tenants_notifications_are_not_found(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId
) -> None:
    account = await world.account(None)
    attempt = await world.attempt(tenant_id, account)
    notification_id = await _ladder(world, attempt)
    await world.tell(attempt)
    await world.job().drain()

    assert await _erase(world, other_tenant, notification_id) == 0

    [request] = await world.requests()
    assert request["body_key"] is not None


async def test_an_id_that_the_vendor_gave_again_is_told_apart(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """A number that a vendor's counter reached twice: the newer message is somebody else's."""
    account = await world.account(None)
    first = await world.attempt(tenant_id, account, message_id="7")
    notification_id = await _ladder(world, first)
    await world.later(seconds=1)
    second = await world.attempt(tenant_id, account, message_id="7")
    await _ladder(world, second)
    await world.tell(second)
    await world.job().drain()

    await _erase(world, tenant_id, notification_id)

    [request] = await world.requests()
    assert request["body_key"] is not None
