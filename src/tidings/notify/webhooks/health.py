"""How an endpoint is, by what it answered: when it is called again, with how many calls, and when it is disabled. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, Literal

from tidings.kernel.durable.retry_policy import RetryPolicy
from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.notify.webhooks.model import DisabledReason

#: An endpoint that fails is left alone for a while after each failure in a row. It takes about a quarter of an hour until twenty
#: have come together: a restart of the receiver does not disable it.
REST: Final = RetryPolicy(
    max_attempts=None,
    first_delay=timedelta(seconds=0.5),
    factor=2.0,
    longest_delay=timedelta(minutes=1),
    jitter=0.2,
)
#: Warnings on the way to being disabled, in percent.
WARNINGS: Final[tuple[Literal[50, 70, 90], ...]] = (50, 70, 90)
#: Calls that are limited by the minute may come together for so long.
_BURST: Final = timedelta(seconds=1)


class EndpointStanding(Enum):
    """How far an endpoint is trusted with calls side by side."""

    #: Its last calls were taken.
    PROVEN = "proven"
    #: Nothing is known of it yet.
    NEW = "new"
    #: Its last calls failed.
    FAILING = "failing"


def standing_of(consecutive_failures: int, *, proven: bool) -> EndpointStanding:
    """One that fails gets one call at a time, so that it takes no connections from others; so does one that is new."""
    if consecutive_failures:
        return EndpointStanding.FAILING
    return EndpointStanding.PROVEN if proven else EndpointStanding.NEW


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointVerdict:
    """How an endpoint stands after some calls."""

    consecutive_failures: int
    proven: bool
    #: It is left alone until then.
    resting_until: datetime | None
    #: The marks that it has come to with these calls.
    warnings: tuple[Literal[50, 70, 90], ...] = ()
    disabled: DisabledReason | None = None


def verdict_of(
    results: Iterable[WebhookResult],
    failures_before: int,
    *,
    disable_after: int,
    now: datetime,
    chance: float,
) -> EndpointVerdict | None:
    """What some calls that were made together say about the endpoint; None where none was made.

    One that was taken ends the row. Calls that fail together count as one failure: an outage of a moment does not disable
    an endpoint that had many calls under way.
    """
    results = list(results)
    if not results:
        return None
    if any(result.final for result in results):
        return EndpointVerdict(
            consecutive_failures=failures_before + 1, proven=False, resting_until=None, disabled="gone"
        )
    waits = [result.after for result in results if result.after is not None]
    asked_for = now + max(waits) if waits else None
    if any(result.delivered for result in results):
        return EndpointVerdict(consecutive_failures=0, proven=True, resting_until=asked_for)
    failures = failures_before + 1
    rest = now + REST.delay(failures, chance)
    return EndpointVerdict(
        consecutive_failures=failures,
        proven=False,
        resting_until=rest if asked_for is None else max(rest, asked_for),
        warnings=tuple(
            mark
            for mark in WARNINGS
            if failures_before * 100 < mark * disable_after <= failures * 100 and failures < disable_after
        ),
        disabled="failures" if failures >= disable_after else None,
    )


def slots_of(wanted: int, max_per_minute: int | None, next_slot_at: datetime | None, *, now: datetime) -> int:
    """How many calls may be made now, of so many that are wanted."""
    if max_per_minute is None:
        return wanted
    each = timedelta(minutes=1) / max_per_minute
    begins = max(next_slot_at or now, now)
    if begins > now:
        return 0
    return min(wanted, max(1, _BURST // each))


def next_slot(made: int, max_per_minute: int | None, *, now: datetime) -> datetime | None:
    """When the next call may be made, after so many were made now."""
    if max_per_minute is None or not made:
        return None
    return now + made * (timedelta(minutes=1) / max_per_minute)
