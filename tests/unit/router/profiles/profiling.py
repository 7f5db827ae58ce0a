"""Profiles for tests, made of what was observed."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from tidings.contracts.ids import RecipientId
from tidings.contracts.tenants import Channel
from tidings.router.profiles.model import PROFILE, Observation, Profile
from tidings.router.profiles.observe import observed

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
LAILA = RecipientId("rcp_01JCQ0000000000000000000AA")


def nobody() -> Profile:
    """A profile in which nothing stands yet."""
    return Profile(id=PROFILE.new(NOON), recipient_id=LAILA, created_at=NOON, updated_at=NOON)


def saw(channel: Channel, delivered: bool, *, days_ago: float = 0, **facts: Any) -> Observation:
    """One observation."""
    return Observation(
        recipient_id=LAILA,
        channel=channel,
        delivered=delivered,
        at=NOON - timedelta(days=days_ago),
        fields=facts,  # type: ignore[arg-type]
    )


def known(seen: Mapping[Channel, Sequence[bool]]) -> Profile:
    """A profile after these observations, all of them of now."""
    return observed(
        nobody(), [saw(channel, arrived) for channel, all_ in seen.items() for arrived in all_], now=NOON
    )
