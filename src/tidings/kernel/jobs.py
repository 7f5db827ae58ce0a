"""Long-running work beside the API: what a job is, and how many of them run and end together."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics

_log = get_logger("jobs")


class Job(Protocol):
    """Something that runs until it is told to stop."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work; return soon after `stop` is set."""
        ...


async def wait_for_stop(stop: asyncio.Event, seconds: float) -> bool:
    """Wait that long, or until told to stop; whether that was said."""
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return False
    return True


async def run_jobs(jobs: Mapping[str, Job], stop: asyncio.Event, metrics: Metrics) -> None:
    """Run them all until `stop`; one that falls is started again after a second, and counted."""
    await asyncio.gather(*(_keep_running(name, job, stop, metrics) for name, job in jobs.items()))


async def _keep_running(name: str, job: Job, stop: asyncio.Event, metrics: Metrics) -> None:
    while not stop.is_set():
        try:
            await job.run(stop)
        except Exception as error:  # noqa: BLE001  # one job's mistake must not end the others
            metrics.job_failures.labels(name).inc()
            _log.error("job_fell", job=name, error=type(error).__name__, exc_info=error)
            await wait_for_stop(stop, 1.0)
