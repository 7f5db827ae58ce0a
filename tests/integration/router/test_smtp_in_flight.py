"""A mail's final dot waits for a slot that all accounts of a process share; until then the server can't take the mail."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.support.bus import DEADLINE
from tests.support.played_smtp import CLOSE, HANG, PlayedSmtp, played_smtp
from tests.support.vendors import MESSAGE, KnownSecrets, messages, smtp_settings
from tidings.contracts.adapters import Adapter
from tidings.contracts.messages import Accepted, Outcome, TryLater, Unlearned
from tidings.kernel.clock import SystemClock
from tidings.router.adapters.in_flight import LEAST, InFlightLimit, InFlightSlot
from tidings.router.adapters.registry import AdapterContext, open_adapter


def full() -> tuple[InFlightLimit, list[InFlightSlot]]:
    """A limit that others have reached, and their slots."""
    limit = InFlightLimit(hold_seconds=600.0)
    return limit, [limit.enter(lambda: True) for _ in range(LEAST)]


@asynccontextmanager
async def account(played: PlayedSmtp, limit: InFlightLimit, **more: Any) -> AsyncIterator[Adapter]:
    around = AdapterContext(clock=SystemClock(), in_flight=limit)
    settings = smtp_settings(played.port, **more)
    adapter = await open_adapter("smtp", settings, KnownSecrets(), surroundings=around)
    try:
        yield adapter
    finally:
        await adapter.close()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not condition():
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("size", [1, 100_000], ids=["small", "large"])
async def test_the_final_dot_waits_for_a_slot(size: int) -> None:
    limit, others = full()
    async with played_smtp() as played, account(played, limit) as adapter:
        sending = asyncio.create_task(adapter.send([replace(MESSAGE, text="word " * size)]))
        await until(lambda: "DATA" in played.heard)
        await asyncio.sleep(0.05)
        taken_before = len(played.messages)
        others[0].leave()
        (outcome,) = await sending

    assert taken_before == 0
    assert isinstance(outcome, Accepted)
    assert limit.in_flight == 1


async def test_accounts_share_the_slots() -> None:
    """However many accounts and connections there are."""
    limit = InFlightLimit(hold_seconds=600.0)
    most = allowed = 0

    class Watched(list[Outcome]):
        def __setitem__(self, place: Any, outcome: Any) -> None:
            nonlocal most, allowed
            # On a busy machine this server may be a slow one, and have more.
            allowed = max(allowed, limit.size)
            most = max(most, limit.in_flight)
            super().__setitem__(place, outcome)

    async with (
        played_smtp() as played,
        account(played, limit) as one,
        account(played, limit) as two,
        account(played, limit) as three,
    ):
        none = TryLater(reason="not yet", code="test")
        sets = [adapter.send(messages(60), learned=Watched([none] * 60)) for adapter in (one, two, three)]
        outcomes = await asyncio.gather(*sets)

    assert [type(outcome) for set_ in outcomes for outcome in set_] == [Accepted] * 180
    assert 0 < most <= allowed
    assert limit.in_flight == 0


async def test_an_account_that_hangs_does_not_hold_up_another() -> None:
    limit = InFlightLimit()
    async with (
        played_smtp({".": HANG}) as silent,
        played_smtp() as quick,
        account(silent, limit, timeout_seconds=DEADLINE) as hanging,
        account(quick, limit) as other,
    ):
        hung = asyncio.create_task(hanging.send(messages(8)))
        await until(lambda: len(silent.messages) >= LEAST)
        async with asyncio.timeout(DEADLINE / 2):
            outcomes = await other.send(messages(50))
        hung.cancel()
        await asyncio.gather(hung, return_exceptions=True)
        await silent.stop()
        await until(lambda: not limit.in_flight)

    assert [type(outcome) for outcome in outcomes] == [Accepted] * 50


async def test_a_connection_that_dies_with_a_slot_gives_it_back() -> None:
    limit = InFlightLimit(hold_seconds=600.0)
    async with played_smtp({".": CLOSE}) as played, account(played, limit) as adapter:
        outcomes = await adapter.send(messages(10))

    assert {type(outcome) for outcome in outcomes} == {Unlearned}
    assert limit.in_flight == 0


@pytest.mark.parametrize("more", [CLOSE, b"421 4.4.2 too slow\r\n" + CLOSE, b"250 Ok\r\n", b"25"])
async def test_a_server_that_does_not_wait_with_us_has_not_taken_it(more: bytes) -> None:
    """It closes, or talks out of turn, while the mail waits for its slot: nothing was handed over, and that is certain."""
    limit, others = full()
    async with (
        played_smtp({"DATA": b"354 go ahead\r\n" + more}) as played,
        account(played, limit, timeout_seconds=1.0) as adapter,
    ):
        sending = asyncio.create_task(adapter.send([MESSAGE]))
        await until(lambda: "DATA" in played.heard)
        await asyncio.sleep(0.02)
        for slot in others:
            slot.leave()
        (outcome,) = await sending

    assert isinstance(outcome, TryLater)
    assert played.messages == []
    assert limit.in_flight == 0


async def test_a_send_that_is_cancelled_while_it_waits_takes_no_slot() -> None:
    limit, others = full()
    async with played_smtp() as played:
        async with account(played, limit, timeout_seconds=0.1) as adapter:
            sending = asyncio.create_task(adapter.send([MESSAGE]))
            await until(lambda: "DATA" in played.heard)
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        # The connection has ended with its account.
        for slot in others:
            slot.leave()
        await asyncio.sleep(0.02)

    assert played.messages == []
    assert limit.in_flight == 0


async def test_an_answer_is_told_before_the_next_mail_has_its_slot() -> None:
    """What a kill finds in flight is never more than the slots."""
    limit = InFlightLimit(hold_seconds=600.0)
    allowed = LEAST
    #: With each answer that is told, mails that the server had taken beyond those that are told.
    beyond: list[int] = []

    class Told(list[Outcome]):
        def __setitem__(self, place: Any, outcome: Any) -> None:
            nonlocal allowed
            allowed = max(allowed, limit.size)
            if isinstance(place, int):
                beyond.append(len(played.messages) - len(beyond))
            super().__setitem__(place, outcome)

    async with played_smtp() as played, account(played, limit, connections=8) as adapter:
        none = TryLater(reason="not yet", code="test")
        await adapter.send(messages(100), learned=Told([none] * 100))

    assert len(beyond) == 100
    assert max(beyond) <= allowed
