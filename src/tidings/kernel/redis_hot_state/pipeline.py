"""One connection that many callers share: what is asked while an answer is awaited goes out together next.

A single caller does not wait for company; in a crowd a round trip serves many. Each round has a time limit. Whatever goes wrong
ends the connection and fails all calls on it, so that no caller gets another's answer.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from redis import exceptions

_MOST_AT_ONCE = 100
_Waiting = tuple[tuple[str | int | bytes, ...], "asyncio.Future[Any]"]


@dataclass(slots=True, eq=False, repr=False)
class RedisPipeline:
    """Asks and hands out the answers, in order.

    `greet` looks at a new connection before it is used, and raises where it won't do.
    """

    make: Callable[[], Any]
    _: KW_ONLY
    seconds: float
    greet: Callable[[Any], Awaitable[None]] | None = None
    _connection: Any = field(default=None, init=False)
    _waiting: deque[_Waiting] = field(default_factory=deque, init=False)
    _pump: asyncio.Task[None] | None = field(default=None, init=False)

    async def ask(self, *words: str | int | bytes) -> Any:
        """The answer to one command, or the client's exception."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.append((words, answer))
        if self._pump is None:
            self._pump = asyncio.create_task(self._run())
        return await answer

    def refuse_waiting(self, error: Exception) -> None:
        """Fail those who have not been sent yet."""
        while self._waiting:
            _fail([self._waiting.popleft()], error)

    async def drop(self) -> None:
        """End the connection; the next one who asks makes another."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)

    async def close(self) -> None:
        """End it for good."""
        self.refuse_waiting(exceptions.ConnectionError("closed"))
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait({self._pump})
        await self.drop()

    async def _run(self) -> None:
        try:
            while self._waiting:
                batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), _MOST_AT_ONCE))]
                # Who has gone meanwhile wants nothing any more.
                await self._round([one for one in batch if not one[1].done()])
        finally:
            self._pump = None

    async def _round(self, batch: list[_Waiting]) -> None:
        if not batch:
            return
        try:
            async with asyncio.timeout(self.seconds):
                connection = await self._connected()
                await connection.send_packed_command(connection.pack_commands([words for words, _ in batch]))
                for _, answer in batch:
                    try:
                        found = await connection.read_response()
                    except exceptions.ResponseError as refusal:
                        _fail([(_, answer)], refusal)
                    else:
                        if not answer.done():
                            answer.set_result(found)
        except asyncio.CancelledError:
            _fail(batch, exceptions.ConnectionError("closed"))
            await self.drop()
            raise
        except Exception as error:  # noqa: BLE001  # it is the callers' to judge
            _fail(batch, error)
            await self.drop()

    async def _connected(self) -> Any:
        if self._connection is None:
            connection = self.make()
            try:
                await connection.connect()
                if self.greet is not None:
                    await self.greet(connection)
            except BaseException:
                await connection.disconnect(nowait=True)
                raise
            self._connection = connection
        return self._connection


def _fail(batch: list[_Waiting], error: Exception) -> None:
    for _, answer in batch:
        if not answer.done():
            answer.set_exception(error)
