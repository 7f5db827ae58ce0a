"""Which policies a turn of hand-offs goes by: those in force, at most about a second old."""

from datetime import timedelta

from tests.integration.router.policies.world import HOME, PolicyWorld, made, wish
from tidings.router.policies.policies import Policies


async def test_those_in_force_by_use_case(world: PolicyWorld) -> None:
    tenant = await world.http.tenant()
    policies = Policies(world.http.db, clock=world.clock)
    async with world.http.as_tenant(tenant.id) as client:
        otp, txn = await made(client), await made(client, use_case="txn")
        await client.delete(f"{HOME}/{txn['id']}")

    found = await policies.of(tenant.id)

    assert list(found) == ["otp"]
    assert (found["otp"].id, found["otp"].ladder[2].success) == (otp["id"], "accepted")


async def test_a_change_is_seen_within_a_second_and_none_sooner(world: PolicyWorld) -> None:
    """What is remembered is not asked for again, also in somebody's transaction."""
    tenant = await world.http.tenant()
    policies = Policies(world.http.db, clock=world.clock)
    async with world.http.as_tenant(tenant.id) as client:
        policy = await made(client)
        before = (await policies.of(tenant.id))["otp"].version
        await client.put(
            f"{HOME}/{policy['id']}", json=wish(policy, order="learned"), headers={"If-Match": "*"}
        )

    async with world.http.db.tenant(tenant.id) as tx:
        at_once = (await policies.within(tx))["otp"].version
        await world.clock.advance(timedelta(seconds=1.1))
        later = (await policies.within(tx))["otp"].version

    assert (before, at_once, later) == (1, 1, 2)


async def test_nobody_goes_by_anothers(world: PolicyWorld) -> None:
    mine, other = await world.http.tenant(), await world.http.tenant()
    async with world.http.as_tenant(other.id) as client:
        await made(client)

    assert await Policies(world.http.db, clock=world.clock).of(mine.id) == {}
