"""What these tests share: accounts, circuits and weights, and a board that knows them."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from tests.support.clock import ManualClock
from tidings.kernel.hot_state import Take, Taken, TenantTakes, take_side_by_side
from tidings.kernel.ids import TenantId
from tidings.router.accounts.model import StoredAccount
from tidings.router.traffic.circuit import Circuit, CircuitState, Override
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.vendor_selection import VendorSelection
from tidings.router.traffic.weights import Points, WeightShift


class NoLimits:
    """Must not be asked."""

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        raise AssertionError("limits were asked")

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        return await take_side_by_side(self, wishes)


def traffic(clock: ManualClock | None = None, *, name: str = "me") -> VendorSelection:
    return VendorSelection(NoLimits(), clock=clock or ManualClock(), name=name)


def account(vendor: str, *, per_second: int | None = None, per_day: int | None = None) -> StoredAccount:
    return StoredAccount(
        id=f"adcfg_of_{vendor}",
        platform=True,
        vendor=vendor,
        handle=None,
        secret_ref="known://x",
        per_second=per_second,
        per_day=per_day,
    )


def circuit(
    of: StoredAccount,
    state: CircuitState,
    *,
    version: int,
    until: datetime | None = None,
    prober: str | None = None,
    override: Override | None = None,
) -> AccountCircuit:
    return AccountCircuit(
        account_id=of.id,
        tenant_id=None,
        vendor=of.vendor,
        circuit=Circuit(state=state, version=version, until=until, prober=prober, override=override),
    )


def weights(
    tenant_id: TenantId | None,
    *,
    home: Points,
    by_prefix: Mapping[str, Points] | None = None,
    shifts: Mapping[str, WeightShift] | None = None,
    version: int = 1,
) -> ChannelWeights:
    return ChannelWeights(
        id="wgt_1",
        tenant_id=tenant_id,
        channel="sms",
        version=version,
        home=home,
        by_prefix=by_prefix or {},
        shifts=shifts or {},
    )
