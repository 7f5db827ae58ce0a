"""Whoever watches a process hears which of its jobs run."""

import asyncio

import pytest

from tidings.kernel.durable.job_watch import LATE, JobWatch, turn_is_over
from tidings.kernel.durable.jobs import run_jobs, wait_for_stop
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import NotReadyError
from tidings.kernel.metrics import Metrics


class Time:
    """Moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class Sleeping:
    """Takes a turn and waits for an hour."""

    async def run(self, stop: asyncio.Event) -> None:
        while not await wait_for_stop(stop, 3600):
            pass


class Woken:
    """Waits for a call, in a task of its own as many jobs do."""

    async def run(self, stop: asyncio.Event) -> None:
        await asyncio.gather(Wakeup().wait(stop, 60), stop.wait())


class Hanging:
    """Took one turn, then never comes back from somewhere."""

    async def run(self, stop: asyncio.Event) -> None:
        Backoff().after_success()
        await stop.wait()


class Falling:
    """Can't."""

    async def run(self, stop: asyncio.Event) -> None:
        raise LookupError("ada@example.org")


async def running(
    jobs: dict[str, object], watch: JobWatch, metrics: Metrics
) -> tuple[asyncio.Event, asyncio.Task[None]]:
    stop = asyncio.Event()
    task = asyncio.create_task(run_jobs(jobs, stop, metrics, watch=watch))  # type: ignore[arg-type]
    for _ in range(20):
        await asyncio.sleep(0)
    return stop, task


async def test_a_job_that_waits_is_well_until_its_next_turn_is_due() -> None:
    """However long it waits; by itself, or in a task that it has begun."""
    time, metrics = Time(), Metrics()
    watch = JobWatch(time)
    stop, task = await running({"sleeping": Sleeping(), "woken": Woken()}, watch, metrics)

    time.seconds = 50.0
    said = await watch.check()
    time.seconds = 3000.0
    with pytest.raises(NotReadyError, match="woken has taken no turn for 3000 s"):
        await watch.check()
    overdue = metrics.render().decode()
    stop.set()
    await task

    assert said == "2 run; the oldest last turn is of sleeping, 50 s ago"
    assert 'tidings_job_overdue_seconds{job="sleeping"} 0.0' in overdue
    assert 'tidings_job_overdue_seconds{job="woken"} 2940.0' in overdue
    assert await watch.check() == "none runs here"


async def test_a_job_that_hangs_is_late() -> None:
    """A long turn is none."""
    time = Time()
    watch = JobWatch(time)
    stop, task = await running({"hanging": Hanging()}, watch, Metrics())

    time.seconds = LATE
    await watch.check()
    time.seconds = LATE + 1
    with pytest.raises(NotReadyError, match="hanging has taken no turn for 901 s"):
        await watch.check()
    stop.set()
    await task


async def test_a_job_that_fell_is_named_and_its_words_are_not() -> None:
    """What an error says may be anything."""
    watch = JobWatch(Time())
    stop, task = await running({"falling": Falling(), "sleeping": Sleeping()}, watch, Metrics())

    with pytest.raises(NotReadyError) as found:
        await watch.check()
    stop.set()
    await task

    assert str(found.value) == "falling fell (LookupError)"


async def test_nobody_has_to_be_a_job() -> None:
    """The same waits are used elsewhere."""
    turn_is_over()
    await Wakeup().wait(asyncio.Event(), 0)
