"""A Valkey of the test's own, and as many processes as it wants on one database."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest

from tests.support.postgres import TestDatabase
from tests.support.valkey import Valkey, running_valkey
from tidings.kernel.clock import Clock, SystemClock
from tidings.kernel.db import Database
from tidings.kernel.hot_state_takeover import AgreementSettings, TakeoverHotState
from tidings.kernel.secrets import Secret

#: As in production, with less patience.
QUICK = AgreementSettings(heartbeat=0.1, timeout=1.0, steady=0.5)


class Changes(list[str]):
    """Who counted, one after the other."""

    def changed(self, hand: str, reason: str) -> None:
        """Keep it."""
        assert reason
        self.append(hand)


Start = Callable[..., Awaitable[TakeoverHotState]]


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """It may be killed."""
    with running_valkey() as server:
        yield server


@pytest.fixture
async def start(fresh_database: TestDatabase, valkey: Valkey) -> AsyncIterator[Start]:
    """Starts a process; all end with the test."""
    opened: list[tuple[Database, TakeoverHotState]] = []

    async def begin(
        *,
        clock: Clock | None = None,
        url: Secret | None = None,
        settings: AgreementSettings = QUICK,
        changes: Changes | None = None,
        call_seconds: float = 0.25,
    ) -> TakeoverHotState:
        db = Database(fresh_database.runtime_url)
        await db.open()
        state = TakeoverHotState(
            url or valkey.url,
            db,
            clock or SystemClock(),
            settings=settings,
            observer=changes,
            call_seconds=call_seconds,
        )
        opened.append((db, state))
        return state

    yield begin
    for db, state in opened:
        await state.close()
        await db.close()
