"""How many SMTP connections are in use, by how long the server takes in turns of the event loop."""

import asyncio

import pytest

from tidings.router.adapters.smtp.window import LEAST, PERIOD, ConnectionWindow


class Server:
    """Answers after so many turns of the loop, each of a second by its clock."""

    def __init__(self, most: int, *, late_seconds: float = 600.0) -> None:
        self.now = 0.0
        self.grew = 0
        self.window = ConnectionWindow(
            most, on_more=self._more, monotonic=lambda: self.now, late_seconds=late_seconds
        )

    def _more(self) -> None:
        self.grew += 1

    async def answer(self, turns: int, *, periods: int = 1) -> int:
        """Answer messages one after the other; how many connections may be in use then."""
        for _ in range(PERIOD * periods):
            answered = self.window.sent()
            self.now += 1
            await asyncio.sleep(0)
            self.now += turns - 1
            answered()
        return self.window.size


async def test_a_server_that_is_never_waited_for_gets_few_connections() -> None:
    server = Server(8)

    assert await server.answer(2) == 4
    assert await server.answer(2, periods=20) == LEAST
    assert server.grew == 0


async def test_a_server_that_takes_longer_gets_them_back_at_once() -> None:
    server = Server(8)
    await server.answer(1, periods=20)

    assert await server.answer(50) == 4
    assert await server.answer(50) == 8
    assert await server.answer(50) == 8
    assert server.grew == 2


async def test_in_between_nothing_changes() -> None:
    server = Server(8)

    assert await server.answer(5, periods=10) == 8


@pytest.mark.parametrize("turns", [1, 50])
async def test_an_account_with_one_connection_has_one(turns: int) -> None:
    assert await Server(1).answer(turns, periods=3) == 1


async def test_who_hangs_holds_up_nobody_else() -> None:
    """All connections may be used for as long as one of them hangs, however quick the others are."""
    server = Server(8, late_seconds=0.0)
    await server.answer(1, periods=20)
    assert server.window.size == LEAST

    hanging = [server.window.sent() for _ in range(LEAST)]
    while not server.grew:
        await asyncio.sleep(0.001)
    meanwhile = [server.window.size, await server.answer(1, periods=20)]
    for over in hanging:
        over()

    assert meanwhile == [8, 8]
    assert await server.answer(1, periods=20) == LEAST


async def test_an_answer_that_was_there_already_says_nothing() -> None:
    """Words on an envelope that came together with the answer before: to count them would make every server a quick one."""
    server = Server(8)
    for _ in range(PERIOD * 3):
        server.window.sent()()
        await asyncio.sleep(0)

    assert server.window.size == 8
