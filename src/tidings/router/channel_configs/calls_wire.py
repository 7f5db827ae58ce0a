"""How vendors' calls went, as JSON."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.contracts.moments import Moment
from tidings.kernel.mapping import by_name
from tidings.router.traffic.call_history import HourOfCalls

#: Attempts that are read for one answer.
MOST_ATTEMPTS: Final = 50_000
_A_DAY: Final = 24


class CallsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How far back."""

    hours: Annotated[int, Meta(ge=1, le=168, description="Of the last so many hours.")] = _A_DAY


class HourView(Struct, frozen=True, kw_only=True):
    """Calls of one hour."""

    hour: Moment
    calls: int
    failed: int
    p50_ms: int | None
    p95_ms: int | None


class AccountCalls(Struct, frozen=True, kw_only=True):
    """Calls through one account, also one of the platform's: the tenant's own calls."""

    account_id: str
    vendor: str
    calls: int
    #: Refused, unanswered or too late; what a recipient refuses is not among them.
    failed: int
    #: Hours without calls are left out.
    hours: list[HourView]


class CallsView(Struct, frozen=True, kw_only=True):
    """How vendors' calls went."""

    since: Moment
    items: list[AccountCalls]
    #: There were more calls than were read: only the newest count.
    more: bool

    @classmethod
    def of(cls, found: Sequence[HourOfCalls], since: datetime) -> "CallsView":
        """The answer."""
        items = []
        for (account_id, vendor), group in groupby(found, key=lambda one: (one.account_id, one.vendor)):
            hours = [by_name(HourView, one) for one in group]
            items.append(
                AccountCalls(
                    account_id=account_id,
                    vendor=vendor,
                    calls=sum(one.calls for one in hours),
                    failed=sum(one.failed for one in hours),
                    hours=hours,
                )
            )
        return cls(since=since, items=items, more=sum(one.calls for one in items) >= MOST_ATTEMPTS)
