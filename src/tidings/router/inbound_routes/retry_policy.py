"""Retry policy of inbound webhooks: when one that did not take a message is called again, and when it is given up."""

from datetime import timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy

WEBHOOK_RETRY: Final = RetryPolicy(
    max_attempts=None,
    first_delay=timedelta(seconds=5),
    factor=3.0,
    longest_delay=timedelta(hours=4),
    jitter=1 / 3,
    give_up_after=timedelta(hours=24),
)
