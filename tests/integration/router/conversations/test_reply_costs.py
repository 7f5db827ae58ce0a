"""What confirmations cost: counted when they are sent, taken back where nothing was, corrected by receipts; once."""

from dataclasses import dataclass

import msgspec
import pytest

from tests.integration.router.conversations.conftest import LAILA, ConversationWorld
from tests.support.played_http import CLOSE, answer, played_http
from tidings.contracts.callback_forms import Details, ReadEvent, VendorCost
from tidings.contracts.prices import PriceModel
from tidings.kernel.db import Row
from tidings.kernel.durable.presence import WORKER
from tidings.kernel.ids import TenantId
from tidings.router.callbacks import store as callbacks
from tidings.router.callbacks.apply import purpose
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE, BodyLocation
from tidings.router.callbacks.store import NewEvent, NewRequest
from tidings.router.conversations import confirmation_store
from tidings.router.conversations.keyword_confirmations import ConfirmationSender
from tidings.router.executions.model import moment
from tidings.router.ids import INBOUND_WEBHOOK, INBOUND_WEBHOOK_EVENT
from tidings.router.spend import store
from tidings.router.spend.model import day_of

TAKEN = answer("200 OK", b'{"id": "v-1"}')
PRICES = PriceModel(currency="USD", base_micros=100)


async def _sums(world: ConversationWorld, tenant_id: TenantId) -> dict[str, tuple[int, int, int, int]]:
    """By vendor: messages, estimated, real, corrected."""
    today = day_of(world.clock.now())
    async with world.db.tenant(tenant_id) as tx:
        found = await store.sum_spent(tx, since=today, until=today, by="vendor")
    return {one.part: (one.messages, one.estimated, one.real, one.corrected) for one in found}


async def _told(world: ConversationWorld, account_id: str, micros: int, *, word: str = "delivered") -> None:
    """The vendor says what it takes for the message v-1; the callback is applied by an ordinary job."""
    now = moment(world.clock)
    read = ReadEvent(
        vendor_message_id="v-1", word=word, status="delivered", occurred_at=None, discriminator=str(micros)
    )
    request_id, event_id = INBOUND_WEBHOOK.new(now), INBOUND_WEBHOOK_EVENT.new(now)
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
        details = msgspec.json.encode(Details(cost=VendorCost(micros=micros, currency="USD")))
        await callbacks.insert_callbacks(
            tx,
            vendor="http",
            requests=[
                NewRequest(
                    id=request_id,
                    account_id=account_id,
                    signature_valid=True,
                    body=BodyLocation(ref="nowhere", key=None),
                    status="received",
                    reason=None,
                )
            ],
            events=[
                NewEvent(
                    id=event_id,
                    request_id=request_id,
                    account_id=account_id,
                    read=read,
                    payload=key.seal(details, purpose(event_id)),
                )
            ],
            now=now,
        )
    await world.system.callbacks.job.drain()


async def _attempts(world: ConversationWorld, tenant_id: TenantId) -> list[Row]:
    return await world.rows(tenant_id, "delivery_attempts")


async def test_a_confirmation_is_paid_for_and_its_receipt_corrects_it_once(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port, prices=PRICES)
        await world.write(account, "stop")
        await world.job().drain()
        await world.replies().drain()
    steps = [await _sums(world, tenant_id)]

    for micros in (130, 130):
        await _told(world, account, micros)
        steps.append(await _sums(world, tenant_id))

    assert steps == [{"http": (1, 100, 100, 0)}, {"http": (1, 100, 130, 1)}, {"http": (1, 100, 130, 1)}]
    [line] = [line for line in await world.lines(tenant_id) if line["direction"] == "out"]
    [made] = await _attempts(world, tenant_id)
    assert (made["execution_id"], made["status"], made["provider_message_id"]) == (
        line["id"],
        "accepted",
        "v-1",
    )
    [heard] = await world.rows(tenant_id, "delivery_attempt_events")
    assert (heard["attempt_id"], heard["status"], heard["cost_micros"]) == (made["id"], "delivered", 130)


async def test_a_price_that_nobody_had_reckoned_with_counts_too(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port)
        await world.write(account, "help")
        await world.job().drain()
        await world.replies().drain()
    before = await _sums(world, tenant_id)

    await _told(world, account, 70)

    assert before == {}
    assert await _sums(world, tenant_id) == {"http": (1, 0, 70, 1)}


@pytest.mark.parametrize(
    ("parts", "sums", "statuses"),
    [
        ([answer("400 Bad Request")], {}, ["rejected_by_provider"]),
        ([CLOSE], {"http": (1, 100, 100, 0)}, ["timed_out"]),
        (
            [answer("429 Too Many Requests"), TAKEN],
            {"http": (1, 100, 100, 0)},
            ["failed_temp", "accepted"],
        ),
    ],
    ids=["refused", "unanswered", "later"],
)
async def test_what_the_vendor_certainly_has_not_taken_costs_nothing(
    world: ConversationWorld,
    tenant_id: TenantId,
    parts: list[bytes],
    sums: dict[str, tuple[int, int, int, int]],
    statuses: list[str],
) -> None:
    async with played_http(*parts) as vendor:
        account = await world.account(tenant_id, port=vendor.port, prices=PRICES)
        await world.write(account, "stop")
        await world.job().drain()
        for _ in range(2):
            await world.replies().drain()
            await world.later(minutes=1)

    assert await _sums(world, tenant_id) == sums
    made = await _attempts(world, tenant_id)
    assert [one["status"] for one in made] == statuses
    assert [one["cost_micros"] for one in made if one["cost_micros"]] == ([100] if sums else [])


async def test_what_a_dead_worker_was_sending_is_counted_and_not_again(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """It may have been sent, as with ladders; whoever writes late what became of it changes nothing."""
    async with played_http(TAKEN) as vendor:
        account = await world.account(tenant_id, port=vendor.port, prices=PRICES)
        await world.write(account, "stop")
        await world.job().drain()
        dead = WORKER.new(world.clock.now())
        async with world.db.worker(claims=True) as tx:
            claims = await confirmation_store.REPLY_CLAIMS.claim(
                tx, worker=dead, now=world.clock.now(), limit=9
            )
        slow = _TakenForDead(world.db, world.vendors, keyring=world.keyring, clock=world.clock, world=world)
        await slow.send(tenant_id, dead, [id_ for _, id_ in claims])
        assert await world.replies().drain() == 0

    assert [line["status"] for line in await world.lines(tenant_id)] == ["received", "unlearned"]
    assert await _sums(world, tenant_id) == {"http": (1, 100, 100, 0)}
    assert await _attempts(world, tenant_id) == []


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class _TakenForDead(ConfirmationSender):
    """Others take it for dead between its call and its writing."""

    world: ConversationWorld

    async def _write(self, *given: object) -> None:
        async with self.world.db.worker() as tx:
            assert await self.world.replies().free_orphans(tx) == 1
        await super()._write(*given)  # type: ignore[arg-type]


async def test_nobody_pays_for_what_never_reaches_a_vendor(
    world: ConversationWorld, tenant_id: TenantId
) -> None:
    """A simulated number, and an account that is another by now."""
    account = await world.account(tenant_id, prices=PRICES)
    await world.write(account, "stop", sender="+15005550001")
    await world.later(seconds=1)
    await world.write(account, "stop", sender=LAILA)
    await world.job().drain()
    async with world.db.tenant(tenant_id) as tx:
        await tx.connection.execute(
            "UPDATE chan.conversation_messages SET account_id = 'adcfg_another' WHERE status = 'queued' AND id = "
            "(SELECT max(id) FROM chan.conversation_messages WHERE status = 'queued')"
        )

    await world.replies().drain()

    found = [line["reason"] for line in await world.lines(tenant_id) if line["direction"] == "out"]
    assert found.count("no_account") == 1
    assert await _sums(world, tenant_id) == {}
