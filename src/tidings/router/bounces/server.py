"""Listens for mail that comes back, as a mail server (SMTP) or as its last hop (LMTP); mail to other addresses is refused.

It passes nothing on and answers no mail: it is no relay, and no source of backscatter.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Literal

from tidings.kernel.durable.jobs import wait_for_stop
from tidings.kernel.http.places import place
from tidings.kernel.logs import get_logger
from tidings.router.bounces.receive_bounce import BounceReceiver
from tidings.router.bounces.session import Session

_log = get_logger("bounces")
#: Seconds between two signs of life of the job.
_BEAT: Final = 5.0
#: Seconds that conversations have to end in when we are told to stop.
_GOODBYE: Final = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BounceServerLimits:
    """What one process takes."""

    connections: int = 100
    #: Of these over SMTP, which strangers reach, from one address; over LMTP one mail server brings everything.
    connections_from_one: int = 50
    #: Seconds for one command.
    command_seconds: float = 60.0
    #: Seconds for one mail.
    data_seconds: float = 300.0


class BounceServer:
    """One listener; any number of processes of a machine may share its port."""

    def __init__(
        self,
        desk: BounceReceiver,
        *,
        protocol: Literal["smtp", "lmtp"],
        host: str,
        port: int,
        name: str,
        limits: BounceServerLimits | None = None,
    ) -> None:
        """`name`: what it calls itself."""
        self._desk = desk
        self._protocol: Literal["smtp", "lmtp"] = protocol
        self._host = host
        self._port = port
        self._name = name
        self._limits = limits or BounceServerLimits()
        self._conversations: set[asyncio.Task[None]] = set()
        self._by_place: Counter[str] = Counter()
        self._stopping = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Listen until `stop`."""
        async with self.listening() as port:
            _log.info("bounces_listening", protocol=self._protocol, host=self._host, port=port)
            while not await wait_for_stop(stop, _BEAT):
                pass

    @contextlib.asynccontextmanager
    async def listening(self) -> AsyncIterator[int]:
        """While this lasts; the port that it is."""
        self._stopping.clear()
        try:
            server = await asyncio.start_server(
                self._converse, self._host, self._port, reuse_port=True, backlog=256
            )
        except OSError as error:
            _log.error(
                "bounces_not_listening",
                protocol=self._protocol,
                host=self._host,
                port=self._port,
                reason=error.strerror,
            )
            raise
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            self._stopping.set()
            server.close()
            if self._conversations:
                _, late = await asyncio.wait(self._conversations, timeout=_GOODBYE)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late, timeout=_GOODBYE)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a conversation is a task of its own
        self._conversations.add(task)
        where = place((writer.get_extra_info("peername") or (None,))[0])
        self._by_place[where] += 1
        try:
            session = Session(
                self._desk,
                reader,
                writer,
                protocol=self._protocol,
                name=self._name,
                stopping=self._stopping,
                command_seconds=self._limits.command_seconds,
                data_seconds=self._limits.data_seconds,
            )
            if len(self._conversations) > self._limits.connections or self._is_too_many(where):
                await session.refuse("421 4.3.2 too many connections, come again later")
            else:
                await session.run()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            # They went away, or were silent for too long.
            pass
        except Exception as error:  # noqa: BLE001  # one conversation's trouble must not end the others
            _log.error("conversation_fell", error=type(error).__name__)
        finally:
            self._conversations.discard(task)
            self._by_place[where] -= 1
            if not self._by_place[where]:
                del self._by_place[where]
            writer.close()

    def _is_too_many(self, where: str) -> bool:
        return self._protocol == "smtp" and self._by_place[where] > self._limits.connections_from_one
