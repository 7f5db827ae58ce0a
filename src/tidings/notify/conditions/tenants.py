"""What tenants should know of: bounces, complaints, disabled webhooks, keys that end."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.conditions import Condition, Look
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, Row
from tidings.notify.conditions import store
from tidings.notify.conditions.store import Trouble

#: Shares of the messages: from which on it is a warning, from which on critical, below which it is well. As large
#: providers of mailboxes publish them.
_BOUNCES: Final = (0.05, 0.10, 0.03)
_COMPLAINTS: Final = (0.001, 0.003, 0.0005)
#: Fewer messages say nothing about a share.
_FEWEST_MESSAGES: Final = 50
_FEWEST_TROUBLED: Final = 3
_KEYS_AHEAD: Final = timedelta(days=14)
_KEYS_SOON: Final = timedelta(days=2)
_REMEMBERED: Final = timedelta(days=30)


class TenantConditions:
    """One look for all tenants: of what is well no row is read."""

    name = "tenants"
    every = timedelta(minutes=1)

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def look(self) -> Look:
        """Three statements over partial indexes."""
        now = self._clock.now()
        async with self._db.worker() as tx:
            trouble = await store.trouble_of_channels(
                tx, since=(now - timedelta(days=1)).date(), least=_FEWEST_TROUBLED
            )
            disabled = await store.disabled_webhooks(tx, since=now - _REMEMBERED)
            keys = await store.expiring_keys(tx, now=now, until=now + _KEYS_AHEAD)
        return Look(
            conditions=[
                *judge_channels(trouble),
                *(_disabled(row) for row in disabled),
                *_expiring(keys, now),
            ]
        )


def judge_channels(trouble: Sequence[Trouble]) -> Iterator[Condition]:
    """Which of these are too many."""
    for one in trouble:
        warning, critical, well = _BOUNCES if one.name == "bounced" else _COMPLAINTS
        share = one.troubled / max(one.messages, 1)
        if one.messages < _FEWEST_MESSAGES or share < well:
            continue
        bounced = one.name == "bounced"
        yield Condition(
            category="bounce_rate" if bounced else "complaint_rate",
            about=one.channel,
            severity="critical" if share >= critical else "warning",
            tenant_id=one.tenant_id,
            facts={
                "channel": one.channel,
                "messages": one.messages,
                "bounced" if bounced else "complaints": one.troubled,
            },
            is_fading=share < warning,
        )


def _disabled(row: Row) -> Condition:
    return Condition(
        category="webhook_disabled",
        about=row["id"],
        severity="critical",
        tenant_id=row["tenant_id"],
        facts={"subscription_id": row["id"], "failures": row["consecutive_failures"]},
    )


def _expiring(rows: Sequence[Row], now: datetime) -> Iterator[Condition]:
    for row in rows:
        left = row["expires_at"] - now
        yield Condition(
            category="api_key_expiring",
            about=row["id"],
            severity="critical" if left <= _KEYS_SOON else "warning",
            tenant_id=row["tenant_id"],
            facts={"key_id": row["id"], "days": max(left.days, 0)},
        )
