"""What all processes saw in the last minute."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from tidings.kernel.ids import TenantId
from tidings.router.traffic.circuit import NONE, Counts


@dataclass(frozen=True, slots=True, kw_only=True)
class Sum:
    """Answers of one account, about one country, under one version of its circuit."""

    account_id: str
    tenant_id: TenantId | None
    vendor: str
    prefix: str
    era: int
    counts: Counts
    seconds: float = 0.0


@dataclass(slots=True)
class Sums:
    """The same, added up as circuits and weights need it."""

    #: By account: whose it is, and with which vendor.
    accounts: dict[str, tuple[TenantId | None, str]] = field(default_factory=dict)
    #: By account and version of its circuit.
    by_era: dict[tuple[str, int], Counts] = field(default_factory=dict)
    #: By account and country.
    by_prefix: dict[tuple[str, str], Counts] = field(default_factory=dict)

    @classmethod
    def of(cls, sums: Iterable[Sum]) -> "Sums":
        """Added up."""
        found = cls()
        for one in sums:
            found.accounts[one.account_id] = (one.tenant_id, one.vendor)
            era, place = (one.account_id, one.era), (one.account_id, one.prefix)
            found.by_era[era] = found.by_era.get(era, NONE) + one.counts
            found.by_prefix[place] = found.by_prefix.get(place, NONE) + one.counts
        return found
