"""A receipt: what a vendor says about an attempt after it has answered."""

from datetime import datetime
from typing import Final

import msgspec

from tidings.contracts.callback_forms import Canonical, Effect

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
