"""Accounts: the tenant's own or the platform's, opened once, opened anew when they change, never fatal."""

import json
from datetime import timedelta

import pytest

from tests.support.ladders import EMAIL, LadderWorld, Wish, Worker
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.contracts.delivery import DeliveryRoute
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT
from tidings.router.accounts.store import find_accounts
from tidings.router.channel_configs.configure import AccountChange


async def platform(world: LadderWorld, port: int) -> None:
    (world.folder / "platform-smtp").write_text(
        json.dumps({"host": "127.0.0.1", "port": port, "security": "none"})
    )
    command = ConfigureAccount(vendor="smtp", secret_ref="file://platform-smtp")
    async with world.db.platform() as tx:
        await world.configs.configure_platform(tx, [command], actor="test")


async def test_the_platform_account_serves_everybody(world: LadderWorld, worker: Worker) -> None:
    """It may lead anywhere, and saying so twice changes nothing."""
    await platform(world, world.sandbox.smtp_port)
    await platform(world, world.sandbox.smtp_port)
    world.tenant_id = TENANT.new(SystemClock().now())
    world.tenant_networks = ""
    guarded = Worker(world)
    await guarded.announce()
    await guarded.send(world.tenant_id, [world.begin()])

    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]
    async with world.db.platform() as tx:
        audit = await world.configs._audit.read_recent(tx, entity_type="adapter_config")
        accounts = await tx.connection.fetch("SELECT version FROM chan.channel_adapter_configs")
    assert [(row.action, row.actor) for row in audit] == [("created", "test")]
    assert [row["version"] for row in accounts] == [1]
    await guarded.vendors.close()


async def test_a_tenants_own_account_leads_only_outside(world: LadderWorld) -> None:
    world.tenant_networks = ""
    guarded = Worker(world)
    begin = world.begin()
    await guarded.send(world.tenant_id, [begin])

    assert [a[1] for a in await world.attempts_of(begin.hand_off.notification_id)] == ["failed_temp"]
    assert len(world.sandbox.store) == 0
    await guarded.vendors.close()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ('{"host": "127.0.0.1", "security": "none", "colour": "red"}', "account_settings"),
        ("hunter2", "account_settings"),
        ('{"host": ', "account_settings"),
        ("", "account_secret"),
    ],
)
async def test_an_account_that_is_set_up_wrongly_is_tried_later(
    world: LadderWorld, worker: Worker, settings: str, code: str
) -> None:
    """With a code that says so; when it is mended, what waited goes out."""
    await world.account("smtp", settings)
    begin = world.begin()
    await worker.send(world.tenant_id, [begin])
    broken = await world.attempts_of(begin.hand_off.notification_id)
    await world.account("smtp", world.smtp())
    await world.manual.advance(timedelta(seconds=10))
    await worker.due.drain()

    assert broken == [(1, "failed_temp", code)]
    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]


async def test_a_changed_account_is_opened_anew(world: LadderWorld, worker: Worker) -> None:
    """Within about a second."""
    await worker.send(world.tenant_id, [world.begin()])
    await world.account("smtp", world.smtp(port=1, connect_seconds=0.5))
    await worker.send(world.tenant_id, [world.begin()])
    still = len(world.sandbox.store)
    await world.manual.advance(timedelta(seconds=2))
    await worker.send(world.tenant_id, [begin := world.begin()])

    assert still == len(world.sandbox.store) == 2
    assert await world.attempts_of(begin.hand_off.notification_id) == [(1, "failed_temp", "connection")]


async def test_a_vendor_without_an_account(world: LadderWorld, worker: Worker) -> None:
    world.tenant_id = TENANT.new(SystemClock().now())
    begin = Wish(hand_off=world.hand_off(EMAIL))
    await worker.send(world.tenant_id, [begin])
    await worker.due.drain()

    assert await world.attempts_of(begin.hand_off.notification_id) == [(1, "failed_temp", "no_account")]


async def switch(world: LadderWorld, vendor: str, *, on: bool, platform: bool = False) -> None:
    """As its route does it."""
    side = world.db.platform() if platform else world.db.tenant(world.tenant_id)
    async with side as tx:
        found = await find_accounts(tx, vendors=[vendor])
        await world.configs.change(
            tx, found[0].id, AccountChange(active=on), expect=lambda _: None, actor="key_somebody"
        )
    await world.manual.advance(timedelta(seconds=2))


async def test_what_needs_an_account_that_is_off_waits_until_it_is_on(
    world: LadderWorld, worker: Worker
) -> None:
    """As for an open circuit: no call is made and none is counted, and it goes out afterwards, once."""
    await switch(world, "smtp", on=False)
    begin = world.begin()
    await worker.send(world.tenant_id, [begin])
    await world.manual.advance(timedelta(minutes=10))
    await worker.due.drain()
    asleep = (await world.attempts_of(begin.hand_off.notification_id), len(world.sandbox.store))
    [live] = await world.live()
    await switch(world, "smtp", on=True)
    await world.manual.advance(timedelta(seconds=30))
    await worker.due.drain()

    assert asleep == ([], 0)
    assert "account_off" in str(live)
    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]
    assert len(world.sandbox.store) == 1
    async with world.db.tenant(world.tenant_id) as tx:
        audit = await world.configs._audit.read_recent(tx, entity_type="adapter_config")
    assert sorted(row.action for row in audit if row.actor == "key_somebody") == ["disabled", "enabled"]


async def test_the_next_vendor_takes_what_one_that_is_off_would_have_had(
    world: LadderWorld, worker: Worker
) -> None:
    await world.account("smtp_backup", world.smtp())
    await switch(world, "smtp", on=False)
    begin = world.begin(EMAIL, DeliveryRoute(channel="email", vendor="smtp_backup"))
    await worker.send(world.tenant_id, [begin])
    await worker.due.drain()

    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]
    async with world.db.tenant(world.tenant_id) as tx:
        found = await world.history.of_notifications(tx, [begin.hand_off.notification_id])
    attempts = [a for record in found[begin.hand_off.notification_id] for a in record.attempts]
    assert [(a.vendor, a.reason) for a in attempts] == [(None, "account_off"), ("smtp_backup", None)]


async def test_a_tenants_own_that_is_off_makes_room_for_the_platforms(
    world: LadderWorld, worker: Worker
) -> None:
    await platform(world, world.sandbox.smtp_port)
    await world.account("smtp", world.smtp(port=1, connect_seconds=0.5))
    await switch(world, "smtp", on=False)
    await worker.send(world.tenant_id, [world.begin()])

    assert [outcome.result for outcome in await world.outcomes()] == ["DELIVERED"]
