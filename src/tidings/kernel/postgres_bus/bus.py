"""The bus on Postgres, put together."""

import asyncio
from dataclasses import dataclass, field
from functools import cached_property
from typing import LiteralString

from tidings.kernel.bus import BusObserver, EventFeed, SubjectFilter, Subscription
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import NotConfiguredError
from tidings.kernel.outside_subjects import OutsideSubjects
from tidings.kernel.postgres_bus.backlog import Backlog
from tidings.kernel.postgres_bus.consumer import Consumer, ConsumerSettings
from tidings.kernel.postgres_bus.dead_letters import PostgresDeadLetters
from tidings.kernel.postgres_bus.event_stream import EventStream
from tidings.kernel.postgres_bus.feed import PostgresFeed
from tidings.kernel.postgres_bus.place import find_place
from tidings.kernel.postgres_bus.relay import Relay, RelaySettings
from tidings.kernel.postgres_bus.stream import PostgresStream
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
        stream: EventStream | None = None,
    ) -> None:
        self._db = db
        self._stream = stream or PostgresStream()
        self._clock = clock
        self._observer = observer or BusObserver()
        self._settings = settings or PostgresBusSettings()
        #: The one LISTEN connection of this process.
        self.wakeups = Wakeups(url, db, self._settings.wakeups)
        self._dead_letters = PostgresDeadLetters(db, clock)
        #: The groups that this process reads for, and what they read.
        self.groups: dict[str, SubjectFilter] = {}
        #: Looks at what waits, while the bus runs.
        self.backlog = Backlog(db, self._stream, self._observer, every_seconds=self._settings.backlog_every)

    def relay(self, schema: LiteralString, *, prompt: bool = False) -> Relay:
        """Carries one service's outbox to the stream; `prompt`: messages wait for what it carries."""
        self.backlog.watch_outbox(schema)
        settings = self._settings.relay
        return Relay(
            self._db,
            schema,
            wakeups=self.wakeups,
            clock=self._clock,
            observer=self._observer,
            settings=settings.prompt() if prompt else settings,
            mover=self._stream.mover(schema),
        )

    def consumer(self, subscription: Subscription) -> Consumer:
        """Reads the stream for a group."""
        self.backlog.watch_group(subscription)
        self.groups[subscription.group] = SubjectFilter(subscription.subjects)
        return Consumer(
            self._db,
            subscription,
            wakeups=self.wakeups,
            clock=self._clock,
            observer=self._observer,
            settings=self._settings.consumer,
            reader=self._stream.reader(subscription),
        )

    @property
    def dead_letters(self) -> PostgresDeadLetters:
        """The events that groups have given up on."""
        return self._dead_letters

    @cached_property
    def feed(self) -> EventFeed:
        """A tenant's events, for readers outside."""
        return PostgresFeed(self._db, self.wakeups)

    @cached_property
    def outside(self) -> OutsideSubjects | None:
        """What other systems publish on the broker; there is none here."""
        return None

    async def run(self, stop: asyncio.Event) -> None:
        """Keep the wake-up connection until `stop`, and an eye on what waits."""
        await asyncio.gather(self.wakeups.run(stop), self.backlog.run(stop))

    async def check_place(self) -> None:
        """Whether the stream is on this engine; a `NotConfiguredError` where it was moved to another."""
        async with self._db.worker() as tx:
            place = await find_place(tx)
        if place.engine != "postgres":
            raise NotConfiguredError(
                "the bus of this database is on NATS: set TIDINGS_BUS_URL to it, as for the other processes; or move it back "
                "with `tidings bus move --to postgres:`"
            )

    async def check(self) -> str | None:
        """For readiness: what has to be said of the database is said by its own check."""
        return None

    async def close(self) -> None:
        """Nothing is open but the wake-up connection, which ends with `run`."""
