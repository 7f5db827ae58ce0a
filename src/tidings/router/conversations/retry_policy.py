"""Retry policies of conversations: inbound messages that could not be taken on, and confirmations that were not sent."""

from datetime import timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy

INBOUND_RETRY: Final = RetryPolicy(
    max_attempts=None,
    first_delay=timedelta(milliseconds=250),
    longest_delay=timedelta(minutes=10),
    jitter=0.0,
    give_up_after=timedelta(hours=24),
)
#: For a vendor that certainly has not taken the confirmation.
CONFIRMATION_RETRY: Final = RetryPolicy(
    max_attempts=5, first_delay=timedelta(seconds=5), factor=4.0, jitter=0.0
)
