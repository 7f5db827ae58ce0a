"""A vendor that speaks over the adapter's own connection is heard, though nothing is sent."""

import asyncio
import json
from collections.abc import AsyncIterator

import msgspec
import pytest

from tests.integration.router.callbacks.conftest import CallbackWorld, place_of
from tests.support.played_smpp import deliver, played_smpp
from tests.support.running import PATIENCE
from tests.support.smpp import smpp_settings
from tidings.bootstrap.observers import CallbackMetrics
from tidings.contracts.callback_forms import ParsedCallback
from tidings.kernel.blobs.store import open_blobs
from tidings.kernel.clock import SystemClock
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.adapters.kind import AdapterContext
from tidings.router.adapters.smpp.adapter import KIND, SmppSettings
from tidings.router.callbacks import raw_bodies
from tidings.router.callbacks.connection_events import Hearing
from tidings.router.callbacks.errors import HookUnavailableError
from tidings.router.callbacks.raw_bodies import PLATFORM_PURPOSE
from tidings.router.vendors.listening import ListeningJob
from tidings.router.vendors.open_adapters import OpenAdapters
from tidings.sandbox.faults import Faults
from tidings.sandbox.receipts import ReceiptLog
from tidings.sandbox.scripts import ReceiptScripts
from tidings.sandbox.smpp_server import SmppSandbox
from tidings.sandbox.store import Store


@pytest.fixture
async def smsc() -> AsyncIterator[tuple[SmppSandbox, int]]:
    """An SMSC and its port."""
    clock = SystemClock()
    store = Store(clock)
    server = SmppSandbox(store, Faults(clock), ReceiptScripts(), ledger=ReceiptLog(most=100), clock=clock)
    port = await server.start("127.0.0.1", 0)
    yield server, port
    await server.stop()


async def test_what_somebody_writes_over_smpp_is_kept_before_the_smsc_is_told_so(
    world: CallbackWorld, smsc: tuple[SmppSandbox, int]
) -> None:
    """Nobody sends anything: the job binds by itself, and one row stands for one message."""
    server, port = smsc
    account_id = await world.account(None, "smpp", secret=None)
    settings = {
        "host": "127.0.0.1",
        "port": port,
        "security": "none",
        "system_id": "tidings",
        "password": "hunter2",
    }
    (world.folder / "secrets" / "smpp-platform").write_text(json.dumps(settings))

    async def hear(account: StoredAccount, said: ParsedCallback) -> None:
        await Hearing(
            world.intake, clock=world.clock, observer=CallbackMetrics(world.system.router.metrics)
        ).keep(said, vendor=account.vendor, account_id=account.id)

    adapters = OpenAdapters(world.secrets, clock=SystemClock(), hear=hear)
    job = ListeningJob(world.db, adapters, kinds=frozenset({"smpp"}), clock=SystemClock())
    stop = asyncio.Event()
    running = asyncio.create_task(job.run(stop))
    try:
        async with asyncio.timeout(PATIENCE):
            taken = await server.write(sender="+93700123456", to="4242", text="Is anybody there?")
    finally:
        stop.set()
        await running
        await adapters.close()

    async with world.db.worker() as tx:
        rows = await tx.connection.fetch(
            "SELECT adapter, channel, destination, status FROM chan.inbound_messages"
        )
    assert taken
    assert [tuple(row) for row in rows] == [(account_id, "sms", "4242", "queued")]


async def test_an_account_that_is_off_is_listened_to_for_three_days(world: CallbackWorld) -> None:
    """What it sent before has its receipts; a vendor that is gone for good is not called for ever."""
    await world.account(None, "smpp", secret=None)
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "UPDATE chan.channel_adapter_configs SET active = false, updated_at = now()"
        )
    adapters = OpenAdapters(world.secrets, clock=SystemClock())
    job = ListeningJob(world.db, adapters, kinds=frozenset({"smpp"}), clock=SystemClock())
    soon = await job._accounts()
    async with world.db.platform() as tx:
        await tx.connection.execute(
            "UPDATE chan.channel_adapter_configs SET updated_at = now() - INTERVAL '73 hours'"
        )
    later = await job._accounts()
    await adapters.close()

    assert (len(soon), later) == (1, [])


async def test_an_odd_receipt_ends_its_message_and_an_unreadable_one_is_kept(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """From the PDU to the attempt: UNDELIVERABLE in full, with blanks; and a text that names no message, for the operator."""
    attempt = await world.attempt(tenant_id, await world.account(None, "smpp", secret=None), vendor="smpp")
    odd = f"id:  {attempt.message_id}  stat:   UNDELIVERABLE  err: 27 text:".encode("utf-16-be")
    nameless = deliver(b"00,0210021543,,447887123456", sequence=2, esm_class=0x04)

    hearing = Hearing(world.intake, clock=world.clock, observer=CallbackMetrics(world.system.router.metrics))

    async def hear(said: ParsedCallback) -> None:
        await hearing.keep(said, vendor="smpp", account_id=attempt.account_id)

    async with played_smpp() as smsc:
        settings = msgspec.convert(smpp_settings(smsc.port), SmppSettings)
        adapter = KIND.adapter(settings, AdapterContext(clock=SystemClock(), on_inbound=hear))
        await smsc.until("bind_transceiver")
        smsc.say(deliver(odd, sequence=1, esm_class=0x04, data_coding=8) + nameless)
        answers = await smsc.until("deliver_sm_resp", 2)
        await adapter.close()
    await world.job().drain()

    [told] = await world.receipts(tenant_id)
    kept = [one for one in await world.requests() if one["reason"] == "unreadable"]
    async with world.db.platform() as tx:
        key = await world.keyring.platform_key(tx, PLATFORM_PURPOSE)
    assert [one.status for one in answers] == [0, 0]
    assert (told["status"], told["provider_code"]) == ("failed_perm", "27")
    assert [(one["status"], one["signature_valid"]) for one in kept] == [("dlq", True)]
    assert await raw_bodies.read(world.system.kernel.blobs, key, place_of(kept[0])) == nameless
    assert world.counted("callbacks_refused_total", vendor="smpp", reason="unreadable") == 1


async def test_unreadable_receipts_fill_nothing_and_are_answered_all_the_same(
    world: CallbackWorld, tenant_id: TenantId
) -> None:
    """Two an hour here: the first are kept, all are counted, and what can be read is kept beside them."""
    attempt = await world.attempt(tenant_id, await world.account(None, "smpp", secret=None), vendor="smpp")
    hearing = Hearing(
        world.intake, clock=world.clock, observer=CallbackMetrics(world.system.router.metrics), most_unread=2
    )

    async def hear(said: ParsedCallback) -> None:
        await hearing.keep(said, vendor="smpp", account_id=attempt.account_id)

    nameless = [deliver(b"00,0210021543,,%d" % n, sequence=n, esm_class=0x04) for n in range(1, 6)]
    told = f"id:{attempt.message_id} stat:DELIVRD err:000 text:".encode()
    async with played_smpp() as smsc:
        settings = msgspec.convert(smpp_settings(smsc.port), SmppSettings)
        adapter = KIND.adapter(settings, AdapterContext(clock=SystemClock(), on_inbound=hear))
        await smsc.until("bind_transceiver")
        smsc.say(b"".join(nameless) + deliver(told, sequence=6, esm_class=0x04))
        answers = await smsc.until("deliver_sm_resp", 6)
        await adapter.close()
    await world.job().drain()

    kept = [one for one in await world.requests() if one["reason"] == "unreadable"]
    assert [one.status for one in answers] == [0] * 6
    assert [one["status"] for one in await world.receipts(tenant_id)] == ["delivered"]
    assert len(kept) == 2
    assert world.counted("callbacks_refused_total", vendor="smpp", reason="unreadable") == 5


async def test_what_could_not_be_kept_is_not_counted_as_kept(world: CallbackWorld) -> None:
    """The SMSC sends it again, and then it has its place."""
    account_id = await world.account(None, "smpp", secret=None)
    hearing = Hearing(
        world.intake, clock=world.clock, observer=CallbackMetrics(world.system.router.metrics), most_unread=2
    )
    said = ParsedCallback(events=[], inbound=[], unread=[b"one", b"two"])
    working = world.system.kernel.blobs
    world.system.kernel.blobs = open_blobs(f"file://{world.folder}/away")
    (world.folder / "away").rmdir()
    (world.folder / "away").write_text("no folder")

    with pytest.raises(HookUnavailableError):
        await hearing.keep(said, vendor="smpp", account_id=account_id)
    world.system.kernel.blobs = working
    await hearing.keep(said, vendor="smpp", account_id=account_id)

    assert len(await world.requests()) == 2
