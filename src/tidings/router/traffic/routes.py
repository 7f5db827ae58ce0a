"""Operations on circuits and weights: of a tenant, and under `/internal` of the platform."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from tidings.contracts.channels import channel_named
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx, OwnerTx, Parsed
from tidings.kernel.http.resources import Owner, Resource
from tidings.router.accounts.errors import UnknownAccountError
from tidings.router.accounts.model import AdapterConfigId
from tidings.router.traffic import store
from tidings.router.traffic.change_weights import WeightSetter
from tidings.router.traffic.circuit import NONE, Counts
from tidings.router.traffic.circuit_override import CircuitHolder
from tidings.router.traffic.errors import NoWeightsError
from tidings.router.traffic.settings import TrafficSettings
from tidings.router.traffic.sums import AnswerTotals
from tidings.router.traffic.traffic_state import AccountCircuit, ChannelWeights
from tidings.router.traffic.wire import (
    CircuitList,
    CircuitView,
    HoldCircuit,
    LetGo,
    PutWeights,
    WeightsList,
    WeightsView,
)

circuits = Resource(
    "circuits", at="/router/circuits", tag="circuits", scope="router", owner=Owner.TENANT_OR_PLATFORM
)
weights = Resource(
    "weights", at="/router/weights", tag="weights", scope="router", owner=Owner.TENANT_OR_PLATFORM
)

_HOLD = "/{account_id}/override"
_PROBLEMS = ("adapter_not_found", "platform_account", "contested")
_Channel = Annotated[str, Parsed(channel_named)]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CircuitReader:
    """Shows circuits with what was counted lately."""

    db: Database
    _: KW_ONLY
    clock: Clock
    settings: TrafficSettings

    async def views(self, caller: Caller, circuits: Sequence[AccountCircuit]) -> list[CircuitView]:
        """A tenant is shown how the platform's stand, and nothing of what others send through them."""
        shared = {
            circuit.account_id
            for circuit in circuits
            if circuit.tenant_id is None and caller.tenant_id is not None
        }
        counts = await self._counts([c.account_id for c in circuits if c.account_id not in shared])
        return [
            CircuitView.of(circuit, counts.get(circuit.account_id, NONE), shared=circuit.account_id in shared)
            for circuit in circuits
        ]

    async def _counts(self, account_ids: Sequence[str]) -> dict[str, Counts]:
        """Of these accounts alone; the caller was shown them."""
        if not account_ids:
            return {}
        since = self.clock.now() - self.settings.circuits.window
        async with self.db.worker() as tx:
            sums = AnswerTotals.of(await store.read_sums(tx, since=since, account_ids=account_ids))
        counts: dict[str, Counts] = {}
        for (account_id, _), of_prefix in sums.by_prefix.items():
            if account_id in account_ids:
                counts[account_id] = counts.get(account_id, NONE) + of_prefix
        return counts


@circuits.get(test_keys=True, platform_summary="List the circuits of the platform's vendor accounts.")
async def list_circuits(open_tx: OpenTx[OwnerTx], caller: Caller, reader: CircuitReader) -> CircuitList:
    """List the circuits of your vendor accounts."""
    async with open_tx() as tx:
        known = await store.find_circuits(tx)
    # The platform's are not sent through where the tenant has an account of its own with the vendor.
    own = {circuit.vendor for circuit in known if circuit.tenant_id is not None}
    used = [circuit for circuit in known if circuit.tenant_id is not None or circuit.vendor not in own]
    return CircuitList(items=await reader.views(caller, used))


@circuits.get("/{account_id}", test_keys=True, problems=["adapter_not_found"])
async def show_circuit(
    open_tx: OpenTx[OwnerTx], account_id: AdapterConfigId, caller: Caller, reader: CircuitReader
) -> CircuitView:
    """Show the circuit of a vendor account."""
    async with open_tx() as tx:
        known = await store.find_circuits(tx, account_id=account_id)
    if not known:
        raise UnknownAccountError(f"there is no vendor account with the id {account_id}")
    (shown,) = await reader.views(caller, known[:1])
    return shown


@circuits.post(_HOLD, problems=_PROBLEMS)
async def hold_circuit(
    open_tx: OpenTx[OwnerTx],
    account_id: AdapterConfigId,
    body: HoldCircuit,
    caller: Caller,
    holder: CircuitHolder,
    reader: CircuitReader,
) -> CircuitView:
    """Hold a circuit open or closed by hand, whatever is counted.

    All processes keep to it within about a second. Without `until` it holds until it is let go.
    `channel.degraded.v1` and `channel.restored.v1` tell of it, and the audit has the reason.
    """
    async with open_tx() as tx:
        held = await holder.hold(tx, account_id, body.override(), actor=caller.actor)
    (shown,) = await reader.views(caller, [held])
    return shown


@circuits.delete(_HOLD, problems=_PROBLEMS)
async def let_circuit_go(
    open_tx: OpenTx[OwnerTx],
    account_id: AdapterConfigId,
    query: LetGo,
    caller: Caller,
    holder: CircuitHolder,
    reader: CircuitReader,
) -> CircuitView:
    """Let a circuit follow the counts again.

    One that was held open is tried with a few messages before all go through it. `reason` stays in the audit.
    """
    async with open_tx() as tx:
        free = await holder.let_go(tx, account_id, actor=caller.actor, reason=query.reason)
    (shown,) = await reader.views(caller, [free])
    return shown


@weights.get(test_keys=True, platform_summary="List how vendors share the platform's channels.")
async def list_weights(tx: OwnerTx) -> WeightsList:
    """List how vendors share your channels."""
    by_channel: dict[str, ChannelWeights] = {}
    for known in await store.find_weights(tx):
        if known.home:
            by_channel.setdefault(known.channel, known)
    return WeightsList(items=[WeightsView.of(known) for _, known in sorted(by_channel.items())])


@weights.get("/{channel}", test_keys=True, problems=["weights_not_found"])
async def show_weights(tx: OwnerTx, channel: _Channel) -> Answer[WeightsView]:
    """Show how vendors share a channel, and where the points are now."""
    known = [known for known in await store.find_weights(tx, channel=channel) if known.home]
    if not known:
        raise NoWeightsError(f"the vendors of {channel} have no weights; they are called in their order")
    return _shown(known[0])


@weights.put("/{channel}", if_match="where_there", problems=["contested"])
async def put_weights(
    tx: OwnerTx, channel: _Channel, body: PutWeights, if_match: IfMatch, caller: Caller, setter: WeightSetter
) -> Answer[WeightsView]:
    """Say how vendors share a channel; a change names the version it is made from by If-Match.

    Points by vendor, 100 in all. A vendor that fails or is slow loses ten at a time, not twice within a minute, and
    gets them back after fifteen quiet minutes. Points that are away go home at once when this is called. An empty
    `home` removes the weights.
    """
    nothing = "the channel has no weights, so there is no version to change from"

    def expect(known: ChannelWeights | None) -> None:
        if_match.expect(known.version if known is not None and known.home else None, nothing=nothing)

    return _shown(await setter.put(tx, channel, body.home, body.by_prefix, expect=expect, actor=caller.actor))


def _shown(known: ChannelWeights) -> Answer[WeightsView]:
    return Answer(WeightsView.of(known), version=known.version)
