"""Whatever comes in whatever order, with workers that die at the worst moments: every event is told once, to its own attempt."""

import asyncio
import random
from collections.abc import Sequence
from datetime import datetime

import pytest

from tests.integration.router.callbacks.conftest import Attempt, CallbackWorld, event, events
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseBusyError, DatabaseError, DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.router.executions import receipts
from tidings.router.receipts import Applied, Receipt

WORDS = ("sent", "delivered", "read", "failed")
MEANINGS = {"sent": "sent", "delivered": "delivered", "read": "delivered_read", "failed": "failed_perm"}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
async def test_every_event_is_told_once(
    world: CallbackWorld, tenant_id: TenantId, other_tenant: TenantId, seed: int
) -> None:
    random_unit = random.Random(seed)
    tenants = (tenant_id, other_tenant)
    shared = await world.account(None)
    own = {tenant: await world.account(tenant) for tenant in tenants}
    #: What vendors know of, and whether we have written it down yet.
    messages: dict[tuple[str, str], tuple[TenantId, Attempt | None]] = {}
    told: set[tuple[str, str, str]] = set()

    async def troubled(tx: TenantTx, given: Sequence[Receipt], *, now: datetime) -> Applied:
        match random_unit.randrange(8):
            case 0:
                raise DatabaseUnavailableError
            case 1:
                raise DatabaseBusyError
            case 2:
                async with world.db.tenant(tx.tenant_id) as committed:
                    await receipts.apply(committed, given, now=now)
                raise DatabaseUnavailableError
        return await receipts.apply(tx, given, now=now)

    async def look() -> None:
        try:
            await world.job(troubled, limit=random_unit.choice((1, 3, 500))).turn()
        except DatabaseError:
            return

    for step in range(120):
        match random_unit.randrange(5):
            case 0:
                tenant = random_unit.choice(tenants)
                account = random_unit.choice((shared, own[tenant]))
                messages[account, f"m-{step}"] = (tenant, None)
            case 1 if messages:
                (account, name), (tenant, attempt) = random_unit.choice(list(messages.items()))
                if attempt is None:
                    made = await world.attempt(tenant, account, message_id=name)
                    messages[account, name] = (tenant, made)
            case 2 if messages:
                account, name = random_unit.choice(list(messages))
                words = random_unit.sample(WORDS, random_unit.randint(1, 3))
                body = events(*(event(name, word, id=f"{name}-{word}") for word in words))
                answer = await world.post(account, body)
                assert answer.status_code == 200
                told |= {(account, name, word) for word in words}
            case 3:
                await asyncio.gather(look(), look())
            case _:
                await world.later(seconds=random_unit.choice((0.1, 1, 30)))
    for (account, name), (tenant, attempt) in list(messages.items()):
        if attempt is None and random_unit.random() < 0.8:
            messages[account, name] = (
                tenant,
                await world.attempt(tenant, account, message_id=name),
            )
    await world.later(minutes=20)
    await world.job().drain()

    expected = sorted(
        (tenant, attempt.id, MEANINGS[word])
        for account, name, word in told
        for tenant, attempt in [messages[account, name]]
        if attempt is not None
    )
    found = [(t, row["attempt_id"], row["status"]) for t in tenants for row in await world.receipts(t)]
    assert sorted(found) == expected
    assert len(expected) > 10
    rest = [row["status"] for row in await world.events() if row["status"] != "applied"]
    assert rest == ["late_correlate"] * (len(told) - len(expected))
