"""Jobs that fall are started again, and never in a hurry."""

import asyncio

from tidings.kernel.durable.jobs import run_jobs
from tidings.kernel.metrics import Metrics


class Falling:
    """Raises at once, or ends at once, each time."""

    def __init__(self, *, raises: bool) -> None:
        self._raises = raises
        self.starts = 0

    async def run(self, stop: asyncio.Event) -> None:
        self.starts += 1
        if self._raises:
            raise LookupError


class Steady:
    """Does as it is told."""

    def __init__(self) -> None:
        self.ended = False

    async def run(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self.ended = True


async def test_one_that_falls_does_not_spin_and_does_not_take_the_others_along() -> None:
    """Whether it raises or just ends; both are counted."""
    raising, ending, steady = Falling(raises=True), Falling(raises=False), Steady()
    stop, metrics = asyncio.Event(), Metrics()
    jobs = asyncio.create_task(
        run_jobs({"raising": raising, "ending": ending, "steady": steady}, stop, metrics)
    )

    for _ in range(1_000):  # Time for a thousand starts, if nothing held them back.
        await asyncio.sleep(0)
    stop.set()
    await jobs

    assert (raising.starts, ending.starts) == (1, 1)
    assert steady.ended
    rendered = metrics.render().decode()
    assert 'tidings_job_failures_total{job="raising"} 1.0' in rendered
    assert 'tidings_job_failures_total{job="ending"} 1.0' in rendered
    assert 'tidings_job_failures_total{job="steady"}' not in rendered


async def test_the_last_one_is_told_when_all_the_others_have_ended() -> None:
    """However long they take."""
    slow, last = Slow(), Steady()
    stop = asyncio.Event()
    jobs = asyncio.create_task(run_jobs({"last": last, "slow": slow}, stop, Metrics(), last={"last"}))
    for _ in range(100):
        await asyncio.sleep(0)

    stop.set()
    for _ in range(100):
        await asyncio.sleep(0)
    assert not last.ended
    slow.may_end.set()
    await jobs

    assert last.ended


class Slow:
    """Takes its time after it was told."""

    def __init__(self) -> None:
        self.may_end = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        await stop.wait()
        await self.may_end.wait()
