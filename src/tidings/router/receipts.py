"""A receipt: what a vendor says about an attempt after it has answered; and the port through which executions take it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import msgspec

from tidings.contracts.callback_forms import Canonical, Effect
from tidings.kernel.db import TenantTx

#: That a message is where it was to go.
ARRIVED: Final[frozenset[Canonical]] = frozenset({"delivered", "delivered_read", "opened", "clicked"})


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What a vendor says about an attempt after it has answered."""

    #: The vendor event's own, so that it is taken once.
    id: str
    attempt_id: str
    execution_id: str
    attempt_started_at: datetime
    #: As `chan.delivery_attempt_events` names it.
    status: Canonical
    occurred_at: datetime | None = None
    provider_code: str | None = None
    reason: str | None = None
    cost_micros: int | None = None
    cost_currency: str | None = None
    #: What it means for the address.
    effect: Effect | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What came of a set."""

    #: Those that were not known yet.
    fresh: frozenset[str]
    #: Whether executions under way have something to hear now.
    woken: bool
    #: The traces of those executions.
    traceparents: tuple[str, ...] = ()


class ApplyReceipts(Protocol):
    """Keeps receipts and wakes the executions that wait for them, as `executions.receipts.apply`; a known one changes nothing."""

    async def __call__(self, tx: TenantTx, receipts: Sequence[Receipt], /, *, now: datetime) -> Applied:
        """In the tenant's transaction."""
        ...
