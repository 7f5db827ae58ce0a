"""The bus on Postgres, put together."""

import asyncio
from dataclasses import dataclass, field
from typing import LiteralString

from tidings.kernel.bus import BusObserver, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.postgres_bus.backlog import Backlog
from tidings.kernel.postgres_bus.consumer import Consumer, ConsumerSettings
from tidings.kernel.postgres_bus.dead_letters import PostgresDeadLetters
from tidings.kernel.postgres_bus.relay import Relay, RelaySettings
from tidings.kernel.postgres_bus.wakeups import Wakeups, WakeupSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresBusSettings:
    """The pace of each part."""

    relay: RelaySettings = field(default_factory=RelaySettings)
    consumer: ConsumerSettings = field(default_factory=ConsumerSettings)
    wakeups: WakeupSettings = field(default_factory=WakeupSettings)
    #: Seconds between two looks at what waits.
    backlog_every: float = 15.0


class PostgresBus:
    """Makes relays and consumers that share one database and one wake-up connection."""

    def __init__(
        self,
        url: str,
        db: Database,
        *,
        clock: Clock,
        observer: BusObserver | None = None,
        settings: PostgresBusSettings | None = None,
    ) -> None:
        self._db = db
        self._clock = clock
        self._observer = observer or BusObserver()
        self._settings = settings or PostgresBusSettings()
        #: The one LISTEN connection of this process.
        self.wakeups = Wakeups(url, db, self._settings.wakeups)
        self._dead_letters = PostgresDeadLetters(db, clock)
        #: Looks at what waits, while the bus runs.
        self.backlog = Backlog(db, self._observer, every_seconds=self._settings.backlog_every)

    def relay(self, schema: LiteralString) -> Relay:
        """Carries one service's outbox to the stream."""
        self.backlog.watch_outbox(schema)
        return Relay(
            self._db,
            schema,
            wakeups=self.wakeups,
            clock=self._clock,
            observer=self._observer,
            settings=self._settings.relay,
        )

    def consumer(self, subscription: Subscription) -> Consumer:
        """Reads the stream for a group."""
        self.backlog.watch_group(subscription.group)
        return Consumer(
            self._db,
            subscription,
            wakeups=self.wakeups,
            clock=self._clock,
            observer=self._observer,
            settings=self._settings.consumer,
        )

    @property
    def dead_letters(self) -> PostgresDeadLetters:
        """The events that groups have given up on."""
        return self._dead_letters

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the wake-up connection until `stop`, and an eye on what waits."""
        await asyncio.gather(self.wakeups.run(stop), self.backlog.run(stop))
