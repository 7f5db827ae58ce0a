"""What a process knows of circuits and weights; each as it is stored."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidings.kernel.ids import TenantId
from tidings.router.traffic.circuit import Circuit
from tidings.router.traffic.weights import Points, WeightShift


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountCircuit:
    """The circuit of one account."""

    account_id: str
    #: None: the account is the platform's.
    tenant_id: TenantId | None
    vendor: str
    circuit: Circuit


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWeights:
    """How the vendors of one channel share its traffic."""

    id: str
    #: None: of the platform, for all tenants that have none of their own.
    tenant_id: TenantId | None
    channel: str
    version: int
    #: By vendor; empty: there are no weights any more.
    home: Points
    #: Other homes, by calling code.
    by_prefix: Mapping[str, Points] = field(default_factory=dict)
    #: Where points are or were away from home, by calling code.
    shifts: Mapping[str, WeightShift] = field(default_factory=dict)

    def home_of(self, prefix: str) -> Points:
        """Where the points of a country belong."""
        return self.by_prefix.get(prefix) or self.home

    def points_of(self, prefix: str) -> Points:
        """Where they are."""
        shift = self.shifts.get(prefix)
        return shift.points if shift is not None else self.home_of(prefix)
