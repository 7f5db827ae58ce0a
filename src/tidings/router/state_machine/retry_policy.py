"""Retry policies of the steps of an execution: attempts, backoff and timeouts, by what a message is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tidings.contracts.enums import UseCase
from tidings.kernel.durable.retry_policy import RetryPolicy

#: No vendor is called again sooner than this, whatever it says.
_SHORTEST = timedelta(milliseconds=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRetryPolicy:
    """The attempts, the timeout and the backoff of a step."""

    #: Vendor calls in one step at most.
    tries: int
    #: A step that has another one behind it is left after this, counted from its first call.
    step_timeout: timedelta
    #: The same for the last step: there is nothing better to do than to try again.
    last_step_timeout: timedelta
    #: The waits between two calls of one step.
    backoff: RetryPolicy


def _backoff(first: timedelta, longest: timedelta, factor: float = 3.0) -> RetryPolicy:
    return RetryPolicy(
        max_attempts=None, first_delay=first, factor=factor, longest_delay=longest, shortest_delay=_SHORTEST
    )


def asked_pause(after: timedelta, *, jitter: float) -> timedelta:
    """What a vendor asked for, and up to a tenth more, so that not all come back in the same moment."""
    return max(after, _SHORTEST) * (1 + jitter / 10)


STEP_RETRY_POLICIES: Final[Mapping[UseCase, StepRetryPolicy]] = {
    # A code is worthless in a minute: the next way is better than a second try.
    "otp": StepRetryPolicy(
        tries=3,
        step_timeout=timedelta(seconds=30),
        last_step_timeout=timedelta(seconds=60),
        backoff=_backoff(timedelta(seconds=2), timedelta(seconds=8), factor=2.0),
    ),
    "alert": StepRetryPolicy(
        tries=6,
        step_timeout=timedelta(minutes=5),
        last_step_timeout=timedelta(hours=1),
        backoff=_backoff(timedelta(seconds=2), timedelta(minutes=10)),
    ),
    "txn": StepRetryPolicy(
        tries=9,
        step_timeout=timedelta(minutes=15),
        last_step_timeout=timedelta(hours=4),
        backoff=_backoff(timedelta(seconds=5), timedelta(minutes=30)),
    ),
    "conversational": StepRetryPolicy(
        tries=6,
        step_timeout=timedelta(minutes=15),
        last_step_timeout=timedelta(hours=1),
        backoff=_backoff(timedelta(seconds=5), timedelta(minutes=10)),
    ),
    "marketing": StepRetryPolicy(
        tries=9,
        step_timeout=timedelta(hours=1),
        last_step_timeout=timedelta(hours=12),
        backoff=_backoff(timedelta(seconds=30), timedelta(hours=2)),
    ),
}
