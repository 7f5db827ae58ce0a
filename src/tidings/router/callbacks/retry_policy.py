"""Retry policy of callbacks: when an event without its attempt is looked at again, and when it is given up."""

from datetime import timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy

#: A receipt may overtake the note of the very call that it is about: then the next look finds it.
CORRELATION_RETRY: Final = RetryPolicy(
    max_attempts=None,
    first_delay=timedelta(milliseconds=250),
    longest_delay=timedelta(minutes=10),
    jitter=0.0,
    give_up_after=timedelta(hours=24),
)
#: An attempt that began longer ago is not looked for.
OLDEST_ATTEMPT: Final = timedelta(days=35)
