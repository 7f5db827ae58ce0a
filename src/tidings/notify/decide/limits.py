"""Which limits a notification or a step takes from, and what it means when one has no room.

Deciding takes nothing by itself: the caller takes for all of a set that passed, in one go, and
hands each its answer.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final, Literal

from tidings.contracts.enums import AUTO, NotificationStatus
from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel, SendingLimits
from tidings.kernel.hot_state import Take, Taken
from tidings.kernel.limit_windows import FixedWindow, SlidingWindow
from tidings.notify.decide.model import PASS, Defer, Stop, Verdict
from tidings.notify.decide.reasons import GateReason
from tidings.notify.facts.model import TenantFacts

_SECOND = timedelta(seconds=1)
_MINUTE = timedelta(minutes=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
#: Keys of what one recipient gets over one channel begin so.
_OF_RECIPIENT: Final = "recipient-channel:"
#: And of tests, before all else.
_TEST: Final = "test:"


def takes_once(
    tenant: TenantFacts,
    recipient_id: RecipientId,
    channel: Channel | Literal["auto"] = AUTO,
    *,
    is_test: bool = False,
) -> tuple[Take, ...]:
    """What a notification takes from the tenant's limits and the recipient's; all or nothing.

    Also the recipient's on the channel, where one is asked for: with `auto` a step takes them. Tests have windows of their
    own, of the same size: however many there are, they take no room from what is sent.
    """
    limits = tenant.policy.limits
    if limits is None:
        return ()
    takes: list[Take] = []
    if limits.per_second is not None:
        takes.append(Take(key="tenant:second", limit=FixedWindow(limits.per_second, _SECOND)))
    if limits.per_day is not None:
        takes.append(Take(key="tenant:day", limit=FixedWindow(limits.per_day, _DAY)))
    if limits.per_recipient_per_hour is not None:
        hour = SlidingWindow(limits.per_recipient_per_hour, _HOUR)
        takes.append(Take(key=f"recipient:{recipient_id}:hour", limit=hour))
    if limits.per_recipient_per_day is not None:
        day = SlidingWindow(limits.per_recipient_per_day, _DAY)
        takes.append(Take(key=f"recipient:{recipient_id}:day", limit=day))
    if channel != AUTO:
        takes += _of_recipient_on(channel, limits, recipient_id)
    return _apart(takes) if is_test else tuple(takes)


def takes_of_step(
    tenant: TenantFacts, channel: Channel, recipient_id: RecipientId | None = None, *, is_test: bool = False
) -> tuple[Take, ...]:
    """What a step takes from the channel's limits, and from those of a recipient on it; all or nothing.

    `recipient_id` None: it was counted before. A second call of a step is no second message.
    """
    takes: list[Take] = []
    limits = tenant.policy.limits
    of_policy = limits.per_channel_per_second.get(channel) if limits is not None else None
    if of_policy is not None:
        takes.append(Take(key=f"policy:{channel}:second", limit=FixedWindow(of_policy, _SECOND)))
    config = tenant.config_of(channel)
    if config is not None:
        own = config.rate_limit
        for name, limit, window in (
            ("second", own.per_second, _SECOND),
            ("minute", own.per_minute, _MINUTE),
            ("day", own.per_day, _DAY),
        ):
            if limit is not None:
                takes.append(Take(key=f"channel:{channel}:{name}", limit=FixedWindow(limit, window)))
    if limits is not None and recipient_id is not None:
        takes += _of_recipient_on(channel, limits, recipient_id)
    return _apart(takes) if is_test else tuple(takes)


def _apart(takes: Sequence[Take]) -> tuple[Take, ...]:
    return tuple(replace(take, key=f"{_TEST}{take.key}") for take in takes)


def counts_recipients_on(tenant: TenantFacts, channel: Channel) -> bool:
    """Whether there is a limit for each recipient on this channel."""
    limits = tenant.policy.limits
    return limits is not None and (
        channel in limits.per_recipient_per_channel_per_hour
        or channel in limits.per_recipient_per_channel_per_day
    )


def _of_recipient_on(channel: Channel, limits: SendingLimits, recipient_id: RecipientId) -> list[Take]:
    key = f"{_OF_RECIPIENT}{recipient_id}:{channel}"
    hour = limits.per_recipient_per_channel_per_hour.get(channel)
    day = limits.per_recipient_per_channel_per_day.get(channel)
    takes = [Take(key=f"{key}:hour", limit=SlidingWindow(hour, _HOUR))] if hour is not None else []
    return [*takes, Take(key=f"{key}:day", limit=SlidingWindow(day, _DAY))] if day is not None else takes


def judge(taken: Taken | None, *, expires_at: datetime, now: datetime) -> Verdict:
    """What the answer means: over a limit it waits for room, and is never dropped unless its time is over first."""
    if taken is None or taken.granted:
        return PASS
    until = taken.retry_at or now + _DAY
    if until >= expires_at:
        return Stop(NotificationStatus.EXPIRED, GateReason.EXPIRES_BEFORE_LIMIT_FREES)
    of_recipient = any(key.removeprefix(_TEST).startswith(_OF_RECIPIENT) for key in taken.refused_by)
    return Defer(until, GateReason.RECIPIENT_CHANNEL_LIMITED if of_recipient else GateReason.RATE_LIMITED)
