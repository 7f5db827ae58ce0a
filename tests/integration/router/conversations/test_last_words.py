"""Whatever is held up, and whichever worker takes it on when: of STOP and START the one that was written last counts."""

import asyncio
from random import Random

import pytest

from tests.integration.router.conversations.conftest import OURS, ConversationWorld
from tidings.contracts.addresses import NormalisedAddress
from tidings.kernel.ids import TenantId
from tidings.router.conversations.model import INBOUND_MESSAGE
from tidings.router.conversations.receive import Receiver
from tidings.router.conversations.resolve import ResolvedMessage

NUMBERS = (OURS, "+15005550007")
WORDS = ("stop", "start", "hello", "help")


async def _give_up(world: ConversationWorld) -> None:
    """The last message finds nobody who can take it on."""
    async with world.db.worker() as tx:
        await tx.connection.execute(
            "UPDATE chan.inbound_messages SET status = 'dead' "
            "WHERE id = (SELECT max(id) FROM chan.inbound_messages)"
        )


async def _take_on(world: ConversationWorld) -> None:
    await world.later(seconds=1)
    await asyncio.gather(*(world.job().drain() for _ in range(2)))


async def _requeue(world: ConversationWorld, random_unit: Random) -> None:
    """All that was given up, some at a time, in no order."""
    async with world.db.worker() as tx:
        rows = await tx.connection.fetch("SELECT id FROM chan.inbound_messages WHERE status = 'dead'")
    ids = [row["id"] for row in rows]
    random_unit.shuffle(ids)
    async with world.client("admin", "/internal/v1/callbacks/messages") as client:
        for place in range(0, len(ids), 10):
            answer = await client.post("/requeue", json={"ids": ids[place : place + 10]})
            assert answer.status_code == 200, answer.text
            await _take_on(world)


async def _stopped(world: ConversationWorld, tenant_id: TenantId, people: list[str]) -> set[str]:
    async with world.db.tenant(tenant_id) as tx:
        pepper = await world.keyring.pepper(tx)
        rows = await tx.connection.fetch(
            "SELECT address_hash FROM notification.suppressions WHERE released_at IS NULL"
        )
    held = {row["address_hash"] for row in rows}
    return {who for who in people if pepper.hash(who) in held}


@pytest.mark.parametrize("seed", range(2))
async def test_the_last_word_counts(world: ConversationWorld, tenant_id: TenantId, seed: int) -> None:
    random_unit = Random(seed)
    account = await world.account(tenant_id)
    people = [f"+9370123{n:04d}" for n in range(40)]
    wants: dict[str, str] = {}
    for _ in range(5):
        for who in people:
            word = random_unit.choice(WORDS)
            await world.write(account, word, sender=who, to=random_unit.choice(NUMBERS))
            if word in ("stop", "start"):
                wants[who] = word
            if random_unit.random() < 0.5:
                await _give_up(world)
        await world.later(seconds=random_unit.choice((1, 3_000, 90_000)))
        if random_unit.random() < 0.7:
            await _take_on(world)
    await _take_on(world)

    await _requeue(world, random_unit)

    assert {row["status"] for row in await world.inbound()} == {"applied"}
    assert await _stopped(world, tenant_id, people) == {who for who, word in wants.items() if word == "stop"}


async def test_a_start_waits_for_the_stop_that_another_worker_is_taking_on(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """To two numbers, so that no conversation of theirs is common to both; the STOP was written first."""
    account, who = await world.account(tenant_id), "+93701239999"
    receiver = world.system.router.parts.get(Receiver)
    first, second = OURS, NUMBERS[1]
    # The tenant has its keys: making them would keep the other worker waiting as well.
    await world.write(account, "hello", to=first)
    await _take_on(world)
    stop = _message(world, account, "stop", sender=who, to=first)
    await world.later(seconds=1)
    start = _message(world, account, "start", sender=who, to=second)

    async def take_on_start() -> None:
        async with world.db.tenant(tenant_id) as tx:
            await receiver.receive(tx, [start], now=world.clock.now())

    async with world.db.tenant(tenant_id) as tx:
        await receiver.receive(tx, [stop], now=world.clock.now())
        other = asyncio.create_task(take_on_start())
        # It has time to decide, if nothing keeps it from that.
        await asyncio.wait({other}, timeout=1)
    await other

    assert await _stopped(world, tenant_id, [who]) == set()


def _message(world: ConversationWorld, account: str, text: str, *, sender: str, to: str) -> ResolvedMessage:
    now = world.clock.now()
    return ResolvedMessage(
        id=INBOUND_MESSAGE.new(now),
        received_at=now,
        occurred_at=None,
        vendor="http",
        account_id=account,
        channel="sms",
        destination=to,
        address=NormalisedAddress(sender),
        addressable=True,
        text=text,
        kind="text",
        name=None,
    )
