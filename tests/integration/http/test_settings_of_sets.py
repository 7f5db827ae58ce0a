"""What requests of many tenants need to know is looked up in sets, and each finds what it would have found alone."""

import asyncio
from typing import Any

from tests.support.http import HttpWorld
from tests.support.statements import counting
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.notify.categories import store as categories_store
from tidings.notify.categories.registry import Categories
from tidings.notify.tenants.states import ProjectedStates

HOME = "/api/v1/categories"


async def _tenants(world: HttpWorld) -> list[TenantId]:
    return [(await world.tenant()).id for _ in range(3)]


async def test_categories_of_a_set_are_those_of_each_alone(world: HttpWorld) -> None:
    first, second, third = tenants = await _tenants(world)
    for tenant_id, names in ((first, ("a", "b")), (second, ("a",))):
        async with world.as_tenant(tenant_id) as client:
            for name in names:
                wanted: dict[str, Any] = {
                    "category": f"own_{name}",
                    "use_case": "txn",
                    "names": {"en": tenant_id[-5:]},
                }
                made = await client.post(HOME, json=wanted)
                assert made.status_code == 201, made.text
    expected = [await Categories(world.db, clock=SystemClock()).of(tenant_id) for tenant_id in tenants]
    together = Categories(world.db, clock=SystemClock())
    await together.all()

    with counting(world.db) as asked:
        found = await asyncio.gather(*(together.of(tenant_id) for tenant_id in tenants))

    assert (asked.transactions, found) == (1, expected)
    assert [sum(name.startswith("own_") for name in its) for its in found] == [2, 1, 0]
    async with world.db.tenants([second, third]) as tx:
        seen = await categories_store.load_tenants_of_all(tx, tenants)
    assert [len(seen[tenant_id]) for tenant_id in tenants] == [0, 1, 0], "one that is not named is not seen"


async def test_states_of_a_set_are_those_of_each_alone(world: HttpWorld) -> None:
    tenants = [*await _tenants(world), TenantId("tnt_01M7JQ7EFHHDWW5H226882Y9T0")]
    states = ProjectedStates(world.db)

    found = await states.states_of(tenants)

    alone = [(await ProjectedStates(world.db).states_of([tenant_id]))[tenant_id] for tenant_id in tenants]
    assert [found[tenant_id] for tenant_id in tenants] == alone
    assert [one is None for one in alone] == [False, False, False, True]


async def test_first_requests_of_many_tenants_share_their_look_ups(world: HttpWorld) -> None:
    """Keys in one transaction, states in another, and each request gets its own tenant's answer."""
    tenants = await _tenants(world)
    keys = [(await world.key(tenant_id))[1] for tenant_id in tenants]
    async with world.client() as client:

        async def ask(key: str) -> Any:
            return await client.get("/api/v1/tenant", headers={"Authorization": f"Bearer {key}"})

        with counting(world.db) as asked:
            answers = await asyncio.gather(*map(ask, keys))

    assert [answer.json()["tenant"]["id"] for answer in answers] == tenants
    by_table = asked.by_table()
    assert (by_table["notification.api_keys"], by_table["notification.tenants_local"]) == (
        1,
        1 + len(tenants),
    )
