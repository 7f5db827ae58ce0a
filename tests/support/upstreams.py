"""The simulated upstream services, for tests: a server of their own, and what was asked of it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidings.bootstrap import System
from tidings.kernel.clock import Clock
from tidings.sandbox.faults import FaultSpec
from tidings.sandbox.property.simulator import PropertySimulator

#: A house of the simulator, and another one.
HOTEL = "kabul-garden"
OTHER_HOTEL = "lagos-marina"


@asynccontextmanager
async def running_simulator(clock: Clock, *systems: System) -> AsyncIterator[PropertySimulator]:
    """The simulator, with these systems connected to it."""
    async with PropertySimulator(clock) as simulator:
        for system in systems:
            system.backoffice.places.add(simulator.url)
        yield simulator


def fault(
    simulator: PropertySimulator,
    mode: str,
    service: str | None = None,
    *,
    count: int | None = None,
    seconds: float | None = None,
) -> None:
    """Have a service, or all of them, fail from now on, or so many times."""
    simulator.faults.set(
        FaultSpec(adapter="property", mode=mode, vendor=service, count=count, seconds=seconds)  # type: ignore[arg-type]
    )
