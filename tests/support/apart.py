"""The pipeline with notify and the router in two systems, which share the database and meet over the bus and by requests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.support.local_requests import LocalRequests
from tests.support.pipeline import PipelineWorld
from tests.support.system import announce, services_over
from tidings.bootstrap import System
from tidings.bootstrap.services import Service


class ApartWorld(PipelineWorld):
    """The API is a process of its own, as `tidings serve` is; two workers have a service each."""

    notify: System
    router: System
    requests: LocalRequests

    async def settle(self) -> None:
        """Do all that can be done now, each in its process."""
        while True:
            done = await self.notify.dispatch.schedule.drain()
            done += await self.notify.dispatch.job.drain()
            done += await self.relays[0].drain()
            done += await self.router.executions.requests.drain()
            done += await self.router.executions.due.drain()
            done += await self.relays[1].drain()
            done += await self.notify.consumers.outcomes.drain()
            if not done:
                return


@asynccontextmanager
async def apart(world: PipelineWorld) -> AsyncIterator[ApartWorld]:
    """The same world, with its workers apart."""
    requests = LocalRequests()
    each: tuple[Service, ...] = ("notify", "router")
    made = [services_over(world.database, [one], requests, world.folder, world.clock) for one in each]
    # Before they are opened, as a worker does: it serves what its jobs serve.
    for one in made:
        one.jobs()
    async with made[0] as notify, made[1] as router:
        for one in (notify, router):
            await announce(one)
        both = ApartWorld(world.database, world.system, world.sandbox, world.clock, world.folder)
        both.notify, both.router, both.requests = notify, router, requests
        yield both
