"""Background jobs: what a job is, and how the jobs of a process run, are restarted and end together."""

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Protocol

from tidings.kernel.durable.job_watch import JobWatch, turn_is_over
from tidings.kernel.durable.retry_policy import Backoff
from tidings.kernel.logs import get_logger
from tidings.kernel.metrics import Metrics

_log = get_logger("jobs")
#: Seconds of the longest pause before a fallen job is started again.
_LONGEST_PAUSE = 30.0
#: Seconds after which a job counts as running well.
_RUNS_WELL = 60.0


class Job(Protocol):
    """Something that runs until it is told to stop."""

    async def run(self, stop: asyncio.Event) -> None:
        """Work; return soon after `stop` is set."""
        ...


async def wait_for_stop(stop: asyncio.Event, seconds: float) -> bool:
    """Wait that long, or until told to stop; whether that was said."""
    turn_is_over(next_in=seconds)
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return False
    return True


async def run_jobs(
    jobs: Mapping[str, Job],
    stop: asyncio.Event,
    metrics: Metrics,
    *,
    last: Collection[str] = (),
    watch: JobWatch | None = None,
) -> None:
    """Run them all until `stop`; one that falls is started again, later and later, and counted.

    Those named in `last` are told to stop when all the others have ended; `watch` knows how each of them is.
    """
    stop_last = asyncio.Event()
    watched = watch or JobWatch()

    async def others() -> None:
        running = (
            _keep_running(name, job, stop, metrics, watched) for name, job in jobs.items() if name not in last
        )
        await asyncio.gather(stop.wait(), *running)
        stop_last.set()

    kept = (
        _keep_running(name, job, stop_last, metrics, watched) for name, job in jobs.items() if name in last
    )
    await asyncio.gather(others(), *kept)


async def _keep_running(name: str, job: Job, stop: asyncio.Event, metrics: Metrics, watch: JobWatch) -> None:
    metrics.job_overdue.labels(name).set_function(lambda: watch.overdue(name))
    backoff = Backoff(first=1.0, longest=_LONGEST_PAUSE)
    while not stop.is_set():
        started_at = time.monotonic()
        fell: Exception | None = None
        try:
            with watch.follow(name):
                await job.run(stop)
        except Exception as error:  # noqa: BLE001  # one job's mistake must not end the others
            fell = error
        if stop.is_set() and fell is None:
            watch.ended(name)
            return
        if time.monotonic() - started_at > _RUNS_WELL:
            backoff.after_success()
        pause = backoff.after_failure()
        metrics.job_failures.labels(name).inc()
        # One that ends without being told has fallen too; started again at once it would do nothing else.
        reason = type(fell).__name__ if fell else "ended untold"
        watch.fell(name, reason)
        _log.error("job_fell", job=name, error=reason, retry_seconds=pause, exc_info=fell)
        await wait_for_stop(stop, pause)
