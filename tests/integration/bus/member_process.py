"""A relay and a consumer in a process of their own, to be killed. Arguments: database URL, group, seed, bus URL.

The handler refuses one set in thirty, so that events are set aside and come back while processes die.
"""

import asyncio
import random
import sys
from collections.abc import Sequence
from datetime import timedelta

from tests.support.bus import Refused, note
from tidings.kernel.bus import Subscription
from tidings.kernel.bus_url import open_bus
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, PoolSettings, TenantTx
from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.events import Event
from tidings.kernel.postgres_bus import ConsumerSettings, PostgresBusSettings, RelaySettings
from tidings.kernel.secrets import Secret


async def main(url: str, group: str, seed: int, bus_url: str) -> None:
    luck = random.Random(seed)

    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        await note(tx, group, events)
        await asyncio.sleep(luck.random() * 0.01)
        if luck.random() < 1 / 30:
            raise Refused

    db = Database(url, PoolSettings(min_size=1, max_size=6))
    await db.open()
    settings = PostgresBusSettings(
        relay=RelaySettings(batch=luck.choice((3, 20, 200)), survey_every=0.0),
        consumer=ConsumerSettings(batch=luck.choice((5, 50)), lease=timedelta(seconds=1)),
    )
    bus = open_bus(Secret(bus_url), url, db, clock=SystemClock(), settings=settings)
    consumer = bus.consumer(
        Subscription(
            group=group,
            subjects=(">",),
            ledger="notification",
            on_tenant_events=handle,
            retry=RetryPolicy(
                max_attempts=50, first_delay=timedelta(seconds=0.05), longest_delay=timedelta(seconds=0.2)
            ),
        )
    )
    stop = asyncio.Event()
    await asyncio.gather(*(part.run(stop) for part in (bus, bus.relay("notification"), consumer)))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]))
