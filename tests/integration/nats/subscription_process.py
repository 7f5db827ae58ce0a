"""A reader of subscriptions in a process of its own, for tests that kill it. Arguments: database URL, data dir, bus URL."""

import asyncio
import sys

from tests.support.outside_events import ACK_WAIT, LEASE
from tidings import settings
from tidings.bootstrap import System
from tidings.kernel.nats_bus.bus import NatsBus
from tidings.kernel.nats_bus.outside_subjects import NatsOutsideSubjects, OutsideSettings


async def main(url: str, folder: str, bus_url: str) -> None:
    system = System(settings.load({"TIDINGS_DATA_DIR": folder, "TIDINGS_BUS_URL": bus_url}), runtime_url=url)
    async with system:
        bus = system.kernel.bus
        assert isinstance(bus, NatsBus)
        subjects = NatsOutsideSubjects(bus.connection, OutsideSettings(batch=50, ack_wait=ACK_WAIT))
        stop = asyncio.Event()
        sys.stdout.write("reading\n")
        sys.stdout.flush()
        await asyncio.gather(bus.wakeups.run(stop), system.events.readers(subjects, lease=LEASE).run(stop))


asyncio.run(main(*sys.argv[1:]))
