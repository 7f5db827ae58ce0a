"""The bus with its stream on NATS, put together."""

import asyncio
from functools import cached_property
from typing import Final

from tidings.kernel.bus import BusMovedError, BusObserver, BusUnavailableError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import DegradedError, NotConfiguredError
from tidings.kernel.nats_bus.address import NatsAddress
from tidings.kernel.nats_bus.connection import NatsConnection
from tidings.kernel.nats_bus.errors import JetStreamError
from tidings.kernel.nats_bus.feed import NatsFeed
from tidings.kernel.nats_bus.outside_subjects import NatsOutsideSubjects
from tidings.kernel.nats_bus.stream import JetStream
from tidings.kernel.postgres_bus import PostgresBus, PostgresBusSettings
from tidings.kernel.postgres_bus.feed import PostgresFeed
from tidings.kernel.postgres_bus.place import find_place
from tidings.kernel.secrets import SecretResolver

#: Less than readiness waits: one that hangs is a reason to look, and none to send requests elsewhere.
_CHECK_SECONDS: Final = 1.5


class NatsBus(PostgresBus):
    """Groups, leases, retries and dead letters as ever; what relays write and consumers read is on NATS."""

    def __init__(
        self,
        url: str,
        db: Database,
        address: NatsAddress,
        *,
        clock: Clock,
        observer: BusObserver | None = None,
        settings: PostgresBusSettings | None = None,
        secrets: SecretResolver | None = None,
    ) -> None:
        observer = observer or BusObserver()
        settings = settings or PostgresBusSettings()
        #: The one connection of this process.
        self.connection = NatsConnection(address, secrets=secrets, on_change=observer.engine_connected)
        #: The stream there.
        self.stream = JetStream(self.connection, db, clock=clock, batch=settings.consumer.batch)
        super().__init__(url, db, clock=clock, observer=observer, settings=settings, stream=self.stream)

    @cached_property
    def feed(self) -> NatsFeed:
        """A tenant's events, for readers outside."""
        return NatsFeed(
            self.stream,
            PostgresFeed(self._db, self.wakeups),
            clock=self._clock,
            wakeups=self.wakeups,
        )

    @cached_property
    def outside(self) -> NatsOutsideSubjects:
        """What other systems publish on this broker."""
        return NatsOutsideSubjects(self.connection)

    async def check_place(self) -> None:
        """The stream comes here as soon as NATS is reached, wherever it was."""

    async def stream_id(self) -> str:
        """What tells the stream of this database from those of others on the same broker."""
        async with self._db.worker() as tx:
            return (await find_place(tx)).stream_id

    async def check(self) -> str | None:
        """For readiness: while NATS is away, or our stream on it is of no use, everything else goes on."""
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                client = await self.connection.client()
                await self.stream.ensure()
        except TimeoutError:
            reason = f"NATS: {self.connection.reason}"
        except (BusUnavailableError, BusMovedError, JetStreamError, NotConfiguredError) as error:
            reason = str(error)
        else:
            return f"NATS {client.connected_server_version}"
        raise DegradedError(f"{reason}; messages are accepted and sent, and events wait in the outbox")

    async def close(self) -> None:
        """Drop the connection."""
        if "feed" in self.__dict__:
            await self.feed.close()
        await self.connection.close()
