"""What all processes saw in the last minute."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from tidings.kernel.ids import TenantId
from tidings.router.traffic.circuit import NONE, Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """Answers of one account, about one country, under one version of its circuit."""

    account_id: str
    tenant_id: TenantId | None
    vendor: str
    prefix: str
    era: int
    counts: Counts
    seconds: float = 0.0
    #: The beginning of the latest bucket in which it took a message; None: it took none.
    took_at: datetime | None = None


@dataclass(slots=True)
class AnswerTotals:
    """The same, added up as circuits and weights need it."""

    #: By account: its owner, and its vendor.
    accounts: dict[str, tuple[TenantId | None, str]] = field(default_factory=dict)
    #: By account and version of its circuit.
    by_era: dict[tuple[str, int], Counts] = field(default_factory=dict)
    #: By account and country.
    by_prefix: dict[tuple[str, str], Counts] = field(default_factory=dict)

    #: By account: the beginning of the latest bucket in which it took a message.
    took_at: dict[str, datetime] = field(default_factory=dict)

    @classmethod
    def of(cls, sums: Iterable[AnswerCounts]) -> "AnswerTotals":
        """Added up."""
        found = cls()
        for one in sums:
            found.accounts[one.account_id] = (one.tenant_id, one.vendor)
            if one.took_at is not None:
                found.took_at[one.account_id] = max(
                    one.took_at, found.took_at.get(one.account_id, one.took_at)
                )
            era, place = (one.account_id, one.era), (one.account_id, one.prefix)
            found.by_era[era] = found.by_era.get(era, NONE) + one.counts
            found.by_prefix[place] = found.by_prefix.get(place, NONE) + one.counts
        return found
