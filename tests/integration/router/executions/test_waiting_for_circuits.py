"""Messages and circuits: what fails alone opens none, and whoever waits for one is woken when it may be gone through."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from tests.support.ladders import LadderWorld, Worker
from tests.support.played_smtp import CLOSE, PlayedSmtp, played_smtp
from tests.support.vendors import smtp_settings
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.outbox import Outbox
from tidings.router.accounts.store import find_accounts
from tidings.router.executions.store import wake_waiting
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.circuit import Override
from tidings.router.traffic.circuit_override import CircuitHolder
from tidings.router.traffic.job import TrafficJob
from tidings.router.traffic.store import find_circuits


class Watched:
    """A worker with a mail server that hangs up on some recipients without a word, and its looks at circuits."""

    def __init__(self, world: LadderWorld, worker: Worker, server: PlayedSmtp) -> None:
        self.world, self.worker, self.server = world, worker, server
        changer = TrafficChanger(
            world.db, audit=AuditLog("chan", world.clock), outbox=Outbox("chan"), clock=world.clock
        )
        self.holder = CircuitHolder(changer, clock=world.clock)
        self.job = TrafficJob(world.db, worker.traffic, changer, clock=world.clock, wake=wake_waiting)

    async def passes(self, seconds: float, *, times: int = 1) -> None:
        """Time goes by; what is due is taken up, and circuits are looked at."""
        for _ in range(times):
            await self.world.manual.advance(timedelta(seconds=seconds))
            await self.worker.due.drain()
            await self.job.look()

    async def send(self, *to: str) -> None:
        """Mail to these; it stays for them whenever it is tried again."""
        wishes = [self.world.begin(to=one) for one in to]
        for wish in wishes:
            assert wish.first is not None
            self.worker.preparer.answers[wish.hand_off.notification_id, 1] = wish.first
        await self.worker.send(self.world.tenant_id, wishes)

    async def circuit(self) -> tuple[str, int]:
        """State and version."""
        async with self.world.db.tenant(self.world.tenant_id) as tx:
            found = await find_circuits(tx, account_id=await self.account_id())
        return found[0].circuit.state, found[0].circuit.version

    async def account_id(self) -> str:
        """Of the mail server."""
        async with self.world.db.tenant(self.world.tenant_id) as tx:
            return (await find_accounts(tx, vendors=["smtp"]))[0].id

    async def close_by_hand(self) -> None:
        """As `tidings circuit close` does it."""
        override = Override(state="CLOSED", until=None, reason="we know better")
        async with self.world.db.tenant(self.world.tenant_id) as tx:
            await self.holder.hold(tx, await self.account_id(), override, actor="key_somebody")


@pytest.fixture
async def watched(world: LadderWorld, worker: Worker) -> AsyncIterator[Watched]:
    async with played_smtp({"RCPT poison": CLOSE}) as server:
        await world.account("smtp", smtp_settings(server.port))
        await world.manual.advance(timedelta(seconds=2))
        yield Watched(world, worker, server)


async def test_messages_that_fail_alone_open_no_circuit(watched: Watched) -> None:
    """Thirty mails, ten of which the server hangs up on: the twenty others arrive, and so does what comes later."""
    await watched.send(*(f"{'poison' if n % 3 == 0 else 'laila'}.{n}@example.test" for n in range(30)))
    await watched.passes(3, times=40)

    assert len(watched.server.messages) == 20
    assert await watched.circuit() == ("CLOSED", 0)
    assert sum("poison" in line for line in watched.server.heard) > 30
    await watched.send("later@example.test")
    assert len(watched.server.messages) == 21


async def _blocked(watched: Watched) -> None:
    """A circuit that ten failures have opened, again and again, and a mail that has waited for it ever since."""
    await watched.send(*(f"poison.{n}@example.test" for n in range(12)))
    await watched.passes(1)
    assert await watched.circuit() == ("OPEN", 1)
    await watched.send("laila@example.test")
    await watched.passes(1)
    assert watched.server.messages == []


async def test_the_probe_is_a_message_that_has_not_failed_there(watched: Watched) -> None:
    """All others wait for their turn, and fail alone from then on."""
    await _blocked(watched)
    await watched.passes(2, times=20)

    assert len(watched.server.messages) == 1
    await watched.passes(2, times=40)
    assert await watched.circuit() == ("CLOSED", 3)


async def test_closing_a_circuit_by_hand_wakes_those_who_wait_for_it(watched: Watched) -> None:
    """Within the seconds over which they come back, and not at the time that they were told."""
    await _blocked(watched)
    await watched.close_by_hand()
    await watched.passes(1, times=8)

    assert len(watched.server.messages) == 1


async def test_an_account_that_is_changed_is_tried_at_once(watched: Watched) -> None:
    """With new settings it may work: what waits for its circuit is woken, and the first of it is the probe."""
    await _blocked(watched)
    async with played_smtp() as healthy:
        await watched.world.account("smtp", smtp_settings(healthy.port))
        await watched.passes(1, times=14)

        assert len(healthy.messages) == 13
        assert (await watched.circuit())[0] == "CLOSED"
