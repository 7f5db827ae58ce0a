"""Retry policies of conversations: inbound messages that could not be taken on, and confirmations that were not sent."""

from datetime import timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.router.callbacks.retry_policy import CORRELATION_RETRY

#: As for callbacks that did not find their attempts.
INBOUND_RETRY: Final = CORRELATION_RETRY
#: For a vendor that certainly has not taken the confirmation.
CONFIRMATION_RETRY: Final = RetryPolicy(
    max_attempts=5, first_delay=timedelta(seconds=5), factor=4.0, jitter=0.0
)
