"""Accounts: the tenant's own or the platform's, opened once, opened anew when they change, never fatal."""

import json
from datetime import timedelta

import pytest

from tests.support.ladders import EMAIL, LadderWorld, Wish, Worker
from tidings.contracts.channel_configs import ConfigureAccount
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TENANT
from tidings.router.adapters.egress import public_only


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
    world.tenant_guard = public_only
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
    world.tenant_guard = public_only
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
