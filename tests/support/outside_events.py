"""Another system that publishes on NATS, and a Tidings that has subscriptions to it."""

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx2
import nats
from nats.aio.client import Client
from nats.js.api import RetentionPolicy, StreamConfig

from tests.support.bus import DEADLINE, running
from tests.support.cloud_events import cloud_event
from tests.support.http import HttpWorld, http_over
from tests.support.nats import NatsServer
from tests.support.postgres import TestDatabase
from tests.support.system import system_over
from tidings.bootstrap import System
from tidings.kernel.events import CONTENT_TYPE
from tidings.kernel.ids import EventId, TenantId
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.nats_bus.outside_subjects import NatsOutsideSubjects, OutsideSettings
from tidings.notify.event_subscriptions.readers import SubscriptionReaders
from tidings.notify.received_events import store

HOME = "/internal/v1/event-subscriptions"
#: So soon a message comes again that was not acknowledged, and a lease ends.
ACK_WAIT = timedelta(seconds=1)
LEASE = timedelta(seconds=1)


class OutsideWorld:
    """The platform's own key, a client of NATS, and the events that came of what it published."""

    def __init__(self, world: HttpWorld, bus: NatsBus, platform: httpx2.AsyncClient, prefix: str) -> None:
        self.world = world
        self.system: System = world.system
        self.bus = bus
        self.platform = platform
        #: The first word of this test's subjects.
        self.word = prefix
        self.client: Client

    def readers(self, *, lease: timedelta = LEASE, **settings: Any) -> SubscriptionReaders:
        """What a worker runs, impatient where nothing else is said."""
        chosen = OutsideSettings(**({"ack_wait": ACK_WAIT} | settings))
        return self.system.events.readers(NatsOutsideSubjects(self.bus.connection, chosen), lease=lease)

    @contextlib.asynccontextmanager
    async def reading(self, **settings: Any) -> AsyncIterator[None]:
        """A worker reads meanwhile, and hears of changes."""
        async with running(self.system.kernel.bus.wakeups, self.readers(**settings)):  # type: ignore[arg-type]
            yield

    async def subscribe(self, **wish: Any) -> dict[str, Any]:
        """Make a subscription over the API."""
        body = {"name": f"s-{secrets.token_hex(4)}", **wish}
        answer = await self.platform.post(HOME, json=body)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def show(self, made: dict[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = (await self.platform.get(f"{HOME}/{made['id']}")).json()
        return shown

    async def refused(self, made: dict[str, Any]) -> list[dict[str, Any]]:
        """The oldest first."""
        found = (await self.platform.get(f"{HOME}/{made['id']}/refused?limit=200")).json()
        return list(reversed(found["items"]))

    async def stream(self, *subjects: str, name: str | None = None, retention: str = "limits") -> str:
        """A stream as another system would keep it."""
        name = name or f"{self.word}-{secrets.token_hex(3)}"
        config = StreamConfig(name=name, subjects=list(subjects), retention=RetentionPolicy(retention))
        await self.client.jetstream().add_stream(config)
        return name

    async def publish(
        self, subject: str, event: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """A structured event, kept by a stream when this returns."""
        event = event or cloud_event()
        said = {"Content-Type": CONTENT_TYPE} if headers is None else headers
        await self.client.jetstream().publish(subject, json.dumps(event).encode(), headers=said)
        return event

    async def received(self, tenant_id: TenantId) -> list[tuple[str, str | None]]:
        """Source event id and subject of what came for this tenant, in the order in which it was announced."""
        async with self.system.db.worker() as tx:
            rows = await tx.connection.fetch(
                "SELECT id FROM notification.outbox WHERE tenant_id = $1 AND subject = 'event.received.v1' ORDER BY seq",
                tenant_id,
            )
        wanted = [(tenant_id, EventId(row["id"])) for row in rows]
        async with self.system.db.tenant(tenant_id) as tx:
            found = {one.id: one for one in await store.load(tx, self.system.kernel.keyring, wanted)}
        return [(found[id_].source_event_id, found[id_].subject) for _, id_ in wanted]

    async def ids(self, tenant_id: TenantId) -> list[str]:
        return [id_ for id_, _ in await self.received(tenant_id)]

    async def until(self, condition: Callable[[], Awaitable[Any]], patience: float = DEADLINE) -> Any:
        """What the condition says as soon as it says yes."""
        async with asyncio.timeout(patience):
            while not (found := await condition()):
                await asyncio.sleep(0.02)
        return found

    async def until_shown(self, made: dict[str, Any], **progress: Any) -> dict[str, Any]:
        """Until the subscription's progress says so."""

        async def says() -> dict[str, Any] | None:
            shown = (await self.show(made))["progress"]
            return shown if all(shown[name] == value for name, value in progress.items()) else None

        return await self.until(says)  # type: ignore[no-any-return]


@contextlib.asynccontextmanager
async def outside_world(server: NatsServer, database: TestDatabase) -> AsyncIterator[OutsideWorld]:
    """All of it, gone afterwards."""
    prefix = f"test-{secrets.token_hex(5)}"
    system = system_over(database, TIDINGS_BUS_URL=server.url(prefix=prefix).reveal())
    async with system:
        world = http_over(system)
        bus = system.kernel.bus
        assert isinstance(bus, NatsBus)
        # The API makes consumers, too: with the same patience.
        vars(bus)["outside"] = NatsOutsideSubjects(bus.connection, OutsideSettings(ack_wait=ACK_WAIT))
        async with world.as_platform() as platform:
            made = OutsideWorld(world, bus, platform, f"pms{secrets.token_hex(4)}")
            made.client = await nats.connect(server.url().reveal())
            try:
                yield made
            finally:
                await made.client.close()
                async with system.db.platform() as tx:
                    await tx.connection.execute("DELETE FROM notification_platform.event_subscriptions")
