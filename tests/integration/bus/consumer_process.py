"""A consumer in a process of its own, for tests that kill it. Arguments: database URL, group, value to hang at, bus URL."""

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta

from tests.support.bus import note, quick
from tidings.kernel.bus import Subscription
from tidings.kernel.bus_url import open_bus
from tidings.kernel.clock import SystemClock
from tidings.kernel.db import Database, TenantTx
from tidings.kernel.events import Event
from tidings.kernel.secrets import Secret


async def main(url: str, group: str, hang_at: int, bus_url: str = "postgres:") -> None:
    async def handle(tx: TenantTx, events: Sequence[Event]) -> None:
        await note(tx, group, events)
        if any(event.payload()["value"] == hang_at for event in events):
            sys.stdout.write("hanging\n")
            sys.stdout.flush()
            await asyncio.Event().wait()

    db = Database(url)
    await db.open()
    settings = quick(lease=timedelta(seconds=1), batch=20)
    bus = open_bus(Secret(bus_url), url, db, clock=SystemClock(), settings=settings)
    consumer = bus.consumer(
        Subscription(group=group, subjects=(">",), ledger="notification", on_tenant_events=handle)
    )
    stop = asyncio.Event()
    await asyncio.gather(bus.run(stop), consumer.run(stop))


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
