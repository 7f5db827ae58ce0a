"""How many SMTP connections are in use, by how long the server takes in turns of the event loop."""

import asyncio

import pytest

from tidings.router.adapters.smtp.window import LEAST, PERIOD, ConnectionWindow


class Server:
    """Answers after so many turns of the loop, each of a second by its clock."""

    def __init__(self, most: int) -> None:
        self.now = 0.0
        self.grew = 0
        self.window = ConnectionWindow(most, on_more=self._more, monotonic=lambda: self.now)

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
