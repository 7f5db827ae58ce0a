"""Retry of webhooks: when one that did not take a call is called again, and when it is given up."""

from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.signed_webhooks.call import WebhookResult

WEBHOOK_RETRY: Final = RetryPolicy(
    max_attempts=None,
    first_delay=timedelta(seconds=5),
    factor=3.0,
    longest_delay=timedelta(hours=4),
    jitter=1 / 3,
    give_up_after=timedelta(hours=24),
)


def next_attempt(result: WebhookResult, attempts: int, *, now: datetime, chance: float) -> datetime | None:
    """When to call again after so many calls, the last of which failed; None where it is given up.

    A webhook that names a time in Retry-After is left alone until then at least.
    """
    pause = None if result.final else WEBHOOK_RETRY.next_delay(attempts, chance)
    return None if pause is None else now + max(pause, result.after or timedelta(0))
