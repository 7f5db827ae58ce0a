"""What steps of ladders teach is kept: in two statements a set, by many at once, and never of somebody who was erased."""

import asyncio
import json
from datetime import UTC, datetime, timedelta

import asyncpg
import pytest

from tests.support.people import counted, rows
from tidings.contracts.ids import RECIPIENT, RecipientId
from tidings.contracts.tenants import Channel
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.router.profiles import store
from tidings.router.profiles.facts import SealedId
from tidings.router.profiles.forget import ProfileForgetter
from tidings.router.profiles.model import Discovery, Observation, TriState
from tidings.router.profiles.store import learn, list_profiles, load

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
_WAITING = """
SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()
"""


def people(count: int) -> list[RecipientId]:
    return [RECIPIENT.new(NOON) for _ in range(count)]


def saw(
    who: RecipientId,
    delivered: bool = True,
    channel: Channel = "sms",
    at: datetime = NOON,
) -> Observation:
    return Observation(recipient_id=who, channel=channel, delivered=delivered, at=at)


async def test_a_set_costs_two_statements(db: Database, tenant_id: TenantId) -> None:
    """However many people there are, known or not, and however often each was observed."""
    known, new = people(250), people(250)
    for several in (known, known + new):
        async with db.tenant(tenant_id, by_index=True) as tx, counted(tx) as statements:
            await learn(tx, [saw(who) for who in several for _ in range(2)], now=NOON)

        assert len(statements) == 2

    async with db.tenant(tenant_id) as tx:
        found = await load(tx, known + new)
    assert {found[who].observations for who in known} == {4}
    assert {found[who].observations for who in new} == {2}


async def test_a_set_is_written_row_by_row_and_not_all_by_all(db: Database, tenant_id: TenantId) -> None:
    """Also where the planner believes that there is hardly anybody: each is gone to by its place."""
    query = store.QUERIES.write_profiles
    nobody = ", ".join("NULL" for _ in query.parameters)
    async with db.tenant(tenant_id, by_index=True) as tx:
        await tx.connection.execute(f"PREPARE learned AS {query.text.rstrip().rstrip(';')}")
        plan = await tx.connection.fetch(f"EXPLAIN EXECUTE learned({nobody})")
        await tx.connection.execute("DEALLOCATE learned")

    assert any("Tid Scan on recipient_profiles" in row[0] for row in plan), plan


async def test_nothing_observed_asks_nothing(db: Database, tenant_id: TenantId) -> None:
    async with db.tenant(tenant_id) as tx, counted(tx) as statements:
        await learn(tx, [], now=NOON)
        assert await load(tx, []) == {}

    assert statements == []


async def test_everything_is_found_again(db: Database, tenant_id: TenantId) -> None:
    [who] = people(1)
    taught = Observation(
        recipient_id=who,
        channel="whatsapp",
        delivered=False,
        at=NOON - timedelta(days=1),
        fields={
            "has_whatsapp_business": TriState.KNOWN_NO,
            "voice_otp_supported": TriState.KNOWN_YES,
            "email_verified": True,
            "telegram_chat_id": SealedId("sha256:" + "a" * 64, b"sealed telegram"),
            "viber_id": SealedId("sha256:" + "b" * 64, b"sealed viber"),
        },
    )

    async with db.tenant(tenant_id) as tx:
        await learn(tx, [taught, saw(who)], now=NOON)
        found = (await load(tx, [who]))[who]

    assert found.discovery is Discovery.LEARNING
    assert found.score("sms") == pytest.approx(2 / 3)
    assert found.channels["whatsapp"].posterior.at == NOON - timedelta(days=1)
    assert {name: fact.value for name, fact in found.facts.items()} == {
        **taught.fields,
        "last_successful_channel": "sms",
    }
    assert found.facts["viber_id"].at == NOON - timedelta(days=1)
    assert (found.version, found.created_at, found.updated_at) == (1, NOON, NOON)


async def test_the_table_says_it_in_words_of_its_own(db: Database, tenant_id: TenantId) -> None:
    """For whoever looks into the database: scores, confidence, times."""
    [who] = people(1)
    async with db.tenant(tenant_id) as tx:
        await learn(tx, [saw(who), saw(who), saw(who, delivered=False)], now=NOON)

    [row] = await rows(db, tenant_id, "SELECT * FROM chan.recipient_profiles")

    assert json.loads(row["channel_preferences"]) == [
        {
            "channel": "sms",
            "a": 3.0,
            "b": 2.0,
            "score": 0.6,
            "confidence": 0.375,
            "observations": 3,
            "last_observed_at": "2026-11-15T12:00:00Z",
        }
    ]
    assert (row["discovery_state"], row["last_successful_channel"]) == ("LEARNING", "sms")
    assert row["last_observed_at"] == NOON


async def test_two_who_see_somebody_first_both_count(db: Database, tenant_id: TenantId) -> None:
    """The second waits for the first, sees what it wrote and adds to it."""
    [who] = people(1)
    waiting = asyncio.Event()

    async def second() -> None:
        async with db.tenant(tenant_id, by_index=True) as tx:
            waiting.set()
            await learn(tx, [saw(who, delivered=False)], now=NOON)

    async with db.tenant(tenant_id, by_index=True) as tx:
        await learn(tx, [saw(who)], now=NOON)
        other = asyncio.create_task(second())
        await waiting.wait()
        await _someone_waits(db)
        assert not other.done()
    await other

    async with db.tenant(tenant_id) as tx:
        found = (await load(tx, [who]))[who]
    assert found.observations == 2
    assert found.score("sms") == 0.5
    assert found.version == 2


async def test_many_at_once_lose_nothing_and_never_wait_crosswise(db: Database, tenant_id: TenantId) -> None:
    """Sets of the same people in different orders, new ones and known ones mixed: a deadlock would be an error."""
    everybody = people(60)
    async with db.tenant(tenant_id) as tx:
        await learn(tx, [saw(who) for who in everybody[::2]], now=NOON)

    async def teach(n: int) -> None:
        mine = everybody[n:] + everybody[:n] if n % 2 else list(reversed(everybody))
        for _ in range(3):
            async with db.tenant(tenant_id, by_index=True) as tx:
                await learn(tx, [saw(who, delivered=n % 3 == 0) for who in mine], now=NOON)

    await asyncio.gather(*(teach(n) for n in range(8)))

    async with db.tenant(tenant_id) as tx:
        found = await load(tx, everybody)
    assert [found[who].observations for who in everybody] == [25 if n % 2 == 0 else 24 for n in range(60)]


async def test_what_was_rolled_back_was_not_learned(db: Database, tenant_id: TenantId) -> None:
    [who] = people(1)
    with pytest.raises(RuntimeError):
        async with db.tenant(tenant_id) as tx:
            await learn(tx, [saw(who)], now=NOON)
            raise RuntimeError

    async with db.tenant(tenant_id) as tx:
        assert await load(tx, [who]) == {}


async def test_another_tenant_learns_nothing_of_it(db: Database, tenant_id: TenantId) -> None:
    """The same recipient id in two tenants: two profiles, and each sees its own."""
    [who] = people(1)
    other = TenantId(tenant_id[:-4] + "ZZZZ")
    async with db.tenant(tenant_id) as tx:
        await learn(tx, [saw(who)] * 3, now=NOON)
    async with db.tenant(other) as tx:
        assert await load(tx, [who]) == {}
        await learn(tx, [saw(who, delivered=False)], now=NOON)
        assert (await load(tx, [who]))[who].observations == 1

    async with db.tenant(tenant_id) as tx:
        assert (await load(tx, [who]))[who].observations == 3


async def test_of_the_erased_nothing_is_learned_any_more(db: Database, tenant_id: TenantId) -> None:
    """Known before or not: what a receipt under way says about them is not kept, beside others whose is."""
    known, never_seen, other = people(3)
    async with db.tenant(tenant_id) as tx:
        await learn(tx, [saw(known)] * 6, now=NOON)
    async with db.tenant(tenant_id) as tx:
        assert await ProfileForgetter().forget(tx, [known, never_seen]) == 1

    async with db.tenant(tenant_id) as tx, counted(tx) as statements:
        await learn(tx, [saw(known), saw(never_seen), saw(other)], now=NOON)
    assert len(statements) == 2

    async with db.tenant(tenant_id) as tx:
        assert set(await load(tx, [known, never_seen, other])) == {other}
        assert [
            one.recipient_id for one in await list_profiles(tx, discovery=None, after_id=None, limit=9)
        ] == [other]
        assert await ProfileForgetter().forget(tx, [known, never_seen]) == 0


async def test_a_tombstone_says_nothing(db: Database, tenant_id: TenantId) -> None:
    [who] = people(1)
    facts = {"email_verified": True, "viber_id": SealedId("sha256:" + "c" * 64, b"sealed")}
    async with db.tenant(tenant_id) as tx:
        await learn(
            tx,
            [Observation(recipient_id=who, channel="sms", delivered=True, at=NOON, fields=facts)],  # type: ignore[arg-type]
            now=NOON,
        )
        await ProfileForgetter().forget(tx, [who])

    [row] = await rows(db, tenant_id, "SELECT * FROM chan.recipient_profiles")

    told = {
        name for name, value in row.items() if value not in (None, False, "UNKNOWN", "UNSEEN", "[]", "{}")
    }
    assert told == {"tenant_id", "recipient_id", "id", "erased", "version", "created_at", "updated_at"}
    # Not even when something was first learned.
    assert row["id"][-26:] == who[-26:]
    assert row["created_at"] != NOON


async def test_the_database_itself_keeps_a_tombstone_empty(db: Database, tenant_id: TenantId) -> None:
    [who] = people(1)
    async with db.tenant(tenant_id) as tx:
        await ProfileForgetter().forget(tx, [who])

    with pytest.raises(asyncpg.CheckViolationError):
        await rows(db, tenant_id, "UPDATE chan.recipient_profiles SET email_verified = true")


async def test_an_erasure_and_an_observation_at_once(db: Database, tenant_id: TenantId) -> None:
    """Whoever comes first: nothing is left but the tombstone."""
    several = people(20)
    for who in several:

        async def teach(who: RecipientId = who) -> None:
            async with db.tenant(tenant_id, by_index=True) as tx:
                await learn(tx, [saw(who)], now=NOON)

        async def erase(who: RecipientId = who) -> None:
            async with db.tenant(tenant_id) as tx:
                await ProfileForgetter().forget(tx, [who])

        await asyncio.gather(teach(), erase(), teach())

    async with db.tenant(tenant_id) as tx:
        assert await load(tx, several) == {}


async def _someone_waits(db: Database) -> None:
    """Until another transaction waits for a lock."""
    while True:
        async with db.platform() as tx:
            if await tx.connection.fetchval(_WAITING):
                return
        await asyncio.sleep(0.01)
