"""STOP to a number that tenants share holds for each of them that wrote to that person from it; START for the one that is answered."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest

from tests.integration.router.conversations.conftest import LAILA, OMAR, ConversationWorld
from tests.support.played_http import answer, played_http
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import DatabaseUnavailableError
from tidings.kernel.ids import TenantId
from tidings.kernel.mapping import by_name
from tidings.router.conversations import store, sweep
from tidings.router.conversations.shared_stop import SharedStop, SharedStops

TAKEN = answer("200 OK", b'{"id": "v-1"}')
STOPPED = [("sms", "opt_out")]
OTHER_NUMBER = "+15005550009"


async def opted_out(world: ConversationWorld, tenant_id: TenantId) -> list[dict[str, Any]]:
    """What notify announced."""
    async with world.db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT payload FROM notification.outbox WHERE tenant_id = $1 AND subject = 'optout.recorded.v1'",
            tenant_id,
        )
    return [json.loads(row["payload"]) for row in rows]


async def wrote(world: ConversationWorld, account: str, *tenants: TenantId, **how: Any) -> None:
    """Each of them writes, one after the other."""
    for tenant in tenants:
        await world.send(tenant, account, **how)
        await world.later(seconds=1)


async def test_it_holds_for_everybody_who_wrote_and_is_confirmed_once(world: ConversationWorld) -> None:
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    clinic, stranger = await world.tenant("The Clinic"), await world.tenant("The Stranger")
    async with played_http(TAKEN) as vendor:
        account = await world.account(None, port=vendor.port)
        await wrote(world, account, bakery, school)
        await wrote(world, account, clinic, to=OMAR)
        await world.write(account, "STOP")

        await world.job().drain()
        await world.replies().drain()

        said = [json.loads(body)["text"] for _, body in vendor.heard]
    everybody = [await world.suppressed(tenant) for tenant in (bakery, school, clinic, stranger)]
    assert everybody == [STOPPED, STOPPED, [], []]
    assert [text.partition(":")[0] for text in said] == ["The School"]
    [told] = await opted_out(world, bakery)
    assert (told["keyword"], told["channel"]) == ("STOP", "sms")
    assert "conversation_id" not in told
    [answered] = await opted_out(world, school)
    assert answered["conversation_id"].startswith("conv_")
    # What was written is the school's; the bakery learns that it is stopped, and its own conversation is over.
    assert [line["direction"] for line in await world.lines(bakery)] == ["out"]
    [conversation] = await world.conversations(bakery)
    assert (conversation["status"], conversation["close_reason"]) == ("CLOSED_STOP", "stop")
    assert (await world.subjects(bakery))[-1] == "closed.v1"


async def test_start_undoes_it_for_the_one_that_is_answered(world: ConversationWorld) -> None:
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    async with played_http(TAKEN, TAKEN) as vendor:
        account = await world.account(None, port=vendor.port)
        await wrote(world, account, bakery, school)
        for text in ("STOP", "START"):
            await world.write(account, text)
            await world.job().drain()
            await world.later(seconds=1)

    assert await world.suppressed(school) == []
    assert await world.suppressed(bakery) == STOPPED


async def test_another_number_and_an_account_of_ones_own_are_not_meant(world: ConversationWorld) -> None:
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    shared, own = await world.account(None), await world.account(bakery, vendor="http_own")
    await wrote(world, own, bakery)
    await wrote(world, shared, bakery, sender=OTHER_NUMBER)
    await wrote(world, shared, school)
    await world.write(shared, "STOP")

    await world.job().drain()

    assert await world.suppressed(school) == STOPPED
    assert await world.suppressed(bakery) == []


async def test_stop_to_ones_own_number_is_for_its_owner_alone(world: ConversationWorld) -> None:
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    shared, own = await world.account(None), await world.account(school, vendor="http_own")
    await wrote(world, shared, bakery)
    await wrote(world, own, school)
    await world.write(own, "STOP", vendor="http_own")

    await world.job().drain()

    assert await world.suppressed(school) == STOPPED
    assert await world.suppressed(bakery) == []


async def test_it_reaches_back_eighteen_months_and_no_further(world: ConversationWorld) -> None:
    """Conversations are forgotten after 90 days; who wrote is not."""
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    clinic = await world.tenant("The Clinic")
    account = await world.account(None)
    await wrote(world, account, bakery, school, clinic)
    for tenant, months in ((bakery, 19), (school, 17), (clinic, 12)):
        async with world.db.tenant(tenant) as tx:
            await tx.connection.execute(
                "UPDATE chan.shared_number_contacts SET last_sent_at = last_sent_at - $1 * INTERVAL '1 month'",
                months,
            )
    await world.later(days=2)
    await sweep.close_idle(world.db, world.outbox, world.clock, limit=100)
    async with world.db.worker() as worker:
        await store.sweep_conversations(worker, until=world.clock.now(), limit=100)
    assert await world.conversations(clinic) == []
    await world.write(account, "STOP")

    await world.job().drain()

    assert [await world.suppressed(tenant) for tenant in (bakery, school, clinic)] == [[], STOPPED, STOPPED]
    assert [line["kind"] for line in await world.lines(clinic)] == ["text", "stop_confirmation"]
    await sweep.sweep_conversations(world.db, world.clock, limit=100)
    async with world.db.worker() as worker:
        left = await worker.connection.fetch("SELECT tenant_id FROM chan.shared_number_contacts")
    assert {row["tenant_id"] for row in left} >= {school, clinic}
    assert bakery not in {row["tenant_id"] for row in left}


class _Dies(SharedStops):
    """The first tenant's part is done, and then the process is gone."""

    async def heed(self, tx: TenantTx, stops: Sequence[SharedStop], *, now: datetime) -> None:
        await super().heed(tx, stops, now=now)
        await tx.connection.execute("COMMIT; BEGIN")
        raise DatabaseUnavailableError("gone")


async def test_a_worker_that_dies_between_two_tenants_leaves_nobody_out(world: ConversationWorld) -> None:
    tenants = [await world.tenant(name) for name in ("The Bakery", "The School", "The Clinic")]
    async with played_http(TAKEN) as vendor:
        account = await world.account(None, port=vendor.port)
        await wrote(world, account, *tenants)
        await world.write(account, "STOP")
        dying = world.process()
        dying.router.parts.add(SharedStops, by_name(_Dies, dying.router.parts.get(SharedStops)))
        with pytest.raises(DatabaseUnavailableError):
            await dying.conversations.job.turn()
        before = [await world.suppressed(tenant) for tenant in tenants]

        await world.job().drain()
        await world.replies().drain()

        assert len(vendor.heard) == 1
    assert sorted(before) == [[], STOPPED, STOPPED]
    assert [await world.suppressed(tenant) for tenant in tenants] == [STOPPED] * 3
    assert [len(await opted_out(world, tenant)) for tenant in tenants] == [1, 1, 1]
    assert [row["status"] for row in await world.inbound()] == ["applied"]


async def test_a_start_that_was_said_later_is_their_last_word(world: ConversationWorld) -> None:
    """The STOP was held up on its way: it undoes no START that this tenant has heard since."""
    bakery, school = await world.tenant("The Bakery"), await world.tenant("The School")
    account = await world.account(None)
    await wrote(world, account, bakery)
    await world.write(account, "START")
    await world.job().drain()
    [line] = [line for line in await world.lines(bakery) if line["direction"] == "in"]
    await world.later(seconds=1)
    await wrote(world, account, school)
    await world.write(account, "STOP")
    async with world.db.tenant(bakery) as tx:
        # As if it had been written after the STOP.
        await tx.connection.execute(
            "UPDATE chan.conversation_messages SET id = 'mo_7ZZZZZZZZZZZZZZZZZZZZZZZZZ' WHERE id = $1",
            line["id"],
        )

    await world.job().drain()

    assert await world.suppressed(school) == STOPPED
    assert await world.suppressed(bakery) == []


async def test_what_is_kept_of_who_wrote_holds_no_address(world: ConversationWorld) -> None:
    bakery = await world.tenant("The Bakery")
    account = await world.account(None)
    await wrote(world, account, bakery, bakery)

    async with world.db.tenant(bakery) as tx:
        [row] = await tx.connection.fetch("SELECT * FROM chan.shared_number_contacts")

    assert LAILA not in str(dict(row))
    assert row["platform_hash"].startswith("sha256:")
