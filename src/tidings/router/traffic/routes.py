"""What HTTP calls about circuits and weights: of a tenant, and under `/internal` of the platform."""

from collections.abc import Sequence
from typing import Any

from litestar import Request, Response, Router, delete, get, post, put

from tidings.contracts.enums import CHANNELS
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.etags import etag, expect_nothing, expect_version
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.router.channel_configs.configure import ADAPTER_CONFIG
from tidings.router.channel_configs.errors import UnknownAccountError
from tidings.router.traffic import store
from tidings.router.traffic.circuit import NONE, Counts
from tidings.router.traffic.deps import Deps
from tidings.router.traffic.errors import NoWeightsError
from tidings.router.traffic.hold import CircuitHolder
from tidings.router.traffic.known import AccountCircuit, ChannelWeights
from tidings.router.traffic.share import WeightSetter
from tidings.router.traffic.sums import Sums
from tidings.router.traffic.wire import (
    CircuitList,
    CircuitView,
    HoldCircuit,
    LetGo,
    PutWeights,
    WeightsList,
    WeightsView,
)
from tidings.router.whose import name_of, tx_of

_CIRCUITS = "circuits"
_WEIGHTS = "weights"

AnyRequest = Request[Any, Any, Any]


def _list_circuits(need: TenantNeed) -> Any:
    @get(
        "/",
        name=name_of("list_circuits", need),
        **operation(
            summary=f"List the circuits of {_whose(need)} vendor accounts.",
            tag=_CIRCUITS,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=CircuitList,
        ),
    )
    async def list_circuits(request: AnyRequest) -> CircuitList:
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = await store.find_circuits(tx)
        return CircuitList(items=await _shown(request, need, _sent_through(found)))

    return list_circuits


def _show_circuit(need: TenantNeed) -> Any:
    @get(
        "/{account_id:str}",
        name=name_of("show_circuit", need),
        **operation(
            summary="Show the circuit of a vendor account.",
            tag=_CIRCUITS,
            scope="router:read",
            test_keys=True,
            tenant=need,
            path={"account_id": ADAPTER_CONFIG},
            answer=CircuitView,
            problems=["adapter_not_found"],
        ),
    )
    async def show_circuit(request: AnyRequest) -> CircuitView:
        account_id = path_id(request, ADAPTER_CONFIG, "account_id")
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = await store.find_circuits(tx, account_id=account_id)
        if not found:
            raise UnknownAccountError(f"there is no vendor account with the id {account_id}")
        (shown,) = await _shown(request, need, found[:1])
        return shown

    return show_circuit


def _hold_circuit(need: TenantNeed) -> Any:
    @post(
        "/{account_id:str}/override",
        name=name_of("hold_circuit", need),
        **operation(
            summary="Hold a circuit open or closed by hand, whatever is counted.",
            tag=_CIRCUITS,
            scope="router:write",
            tenant=need,
            path={"account_id": ADAPTER_CONFIG},
            body=HoldCircuit,
            answer=CircuitView,
            problems=["adapter_not_found", "platform_account", "contested"],
            description=(
                "All processes keep to it within about a second. Without `until` it holds until it is let go. "
                "`channel.degraded.v1` and `channel.restored.v1` tell of it, and the audit has the reason."
            ),
        ),
    )
    async def hold_circuit(request: AnyRequest) -> CircuitView:
        wanted = await read_body(request, HoldCircuit)
        account_id = path_id(request, ADAPTER_CONFIG, "account_id")
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            held = await _holder(request).hold(
                tx, account_id, wanted.override(), actor=caller_of(request).actor
            )
        (shown,) = await _shown(request, need, [held])
        return shown

    return hold_circuit


def _let_circuit_go(need: TenantNeed) -> Any:
    @delete(
        "/{account_id:str}/override",
        name=name_of("let_circuit_go", need),
        **operation(
            summary="Let a circuit follow the counts again.",
            tag=_CIRCUITS,
            scope="router:write",
            tenant=need,
            path={"account_id": ADAPTER_CONFIG},
            query=LetGo,
            answer=CircuitView,
            problems=["adapter_not_found", "platform_account", "contested"],
            description="One that was held open is tried with a few messages before all go through it. `reason` stays in the audit.",
        ),
    )
    async def let_circuit_go(request: AnyRequest) -> CircuitView:
        reason = read_query(request, LetGo).reason
        account_id = path_id(request, ADAPTER_CONFIG, "account_id")
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            free = await _holder(request).let_go(
                tx, account_id, actor=caller_of(request).actor, reason=reason
            )
        (shown,) = await _shown(request, need, [free])
        return shown

    return let_circuit_go


def _list_weights(need: TenantNeed) -> Any:
    @get(
        "/",
        name=name_of("list_weights", need),
        **operation(
            summary=f"List how vendors share {_whose(need)} channels.",
            tag=_WEIGHTS,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=WeightsList,
        ),
    )
    async def list_weights(request: AnyRequest) -> WeightsList:
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = await store.find_weights(tx)
        by_channel: dict[str, ChannelWeights] = {}
        for one in found:
            if one.home:
                by_channel.setdefault(one.channel, one)
        return WeightsList(items=[WeightsView.of(one) for _, one in sorted(by_channel.items())])

    return list_weights


def _show_weights(need: TenantNeed) -> Any:
    @get(
        "/{channel:str}",
        name=name_of("show_weights", need),
        **operation(
            summary="Show how vendors share a channel, and where the points are now.",
            tag=_WEIGHTS,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=WeightsView,
            problems=["weights_not_found"],
        ),
    )
    async def show_weights(request: AnyRequest) -> Response[WeightsView]:
        channel = _channel(request)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = [one for one in await store.find_weights(tx, channel=channel) if one.home]
        if not found:
            raise NoWeightsError(f"the vendors of {channel} have no weights; they are called in their order")
        return _weights(found[0])

    return show_weights


def _put_weights(need: TenantNeed) -> Any:
    @put(
        "/{channel:str}",
        name=name_of("put_weights", need),
        **operation(
            summary="Say how vendors share a channel; a change names the version it is made from by If-Match.",
            tag=_WEIGHTS,
            scope="router:write",
            tenant=need,
            body=PutWeights,
            answer=WeightsView,
            problems=["contested"],
            headers=["If-Match"],
            if_match="where_there",
            description=(
                "Points by vendor, 100 in all. A vendor that fails or is slow loses ten at a time, not twice within a "
                "minute, and gets them back after fifteen quiet minutes. Points that are away go home at once when "
                "this is called. An empty `home` removes the weights."
            ),
        ),
    )
    async def put_weights(request: AnyRequest) -> Response[WeightsView]:
        wanted = await read_body(request, PutWeights)
        channel = _channel(request)
        deps = deps_of(request, Deps)
        setter = WeightSetter(deps.adapters, audit=deps.audit, clock=deps.clock)

        def expect(known: ChannelWeights | None) -> None:
            if known is not None and known.home:
                expect_version(request.scope, known.version)
            else:
                expect_nothing(
                    request.scope, "the channel has no weights, so there is no version to change from"
                )

        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            after = await setter.put(
                tx, channel, wanted.home, wanted.by_prefix, expect=expect, actor=caller_of(request).actor
            )
        return _weights(after)

    return put_weights


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            f"{root}/{name}",
            route_handlers=[make(need) for make in makers],
            opt=given(deps),
        )
        for root, need in (
            ("/api/v1/router", TenantNeed.REQUIRED),
            ("/internal/v1/router", TenantNeed.NONE),
        )
        for name, makers in (
            (_CIRCUITS, (_list_circuits, _show_circuit, _hold_circuit, _let_circuit_go)),
            (_WEIGHTS, (_list_weights, _show_weights, _put_weights)),
        )
    ]


def _whose(need: TenantNeed) -> str:
    return "the platform's" if need is TenantNeed.NONE else "your"


def _holder(request: AnyRequest) -> CircuitHolder:
    deps = deps_of(request, Deps)
    return CircuitHolder(deps.changer, clock=deps.clock)


def _channel(request: AnyRequest) -> str:
    channel = str(request.path_params["channel"])
    if channel not in CHANNELS:
        raise BadValueError("channel", f"must be one of {', '.join(CHANNELS)}")
    return channel


def _sent_through(found: Sequence[AccountCircuit]) -> list[AccountCircuit]:
    """Those that can be sent through: the platform's are not, where the tenant has an account of its own with the vendor."""
    own = {one.vendor for one in found if one.tenant_id is not None}
    return [one for one in found if one.tenant_id is not None or one.vendor not in own]


async def _shown(request: AnyRequest, need: TenantNeed, found: Sequence[AccountCircuit]) -> list[CircuitView]:
    """A tenant is shown how the platform's stand, and nothing of what others send through them."""
    shared = {one.account_id for one in found if one.tenant_id is None and need is not TenantNeed.NONE}
    counts = await _counts(request, [one for one in found if one.account_id not in shared])
    return [
        CircuitView.of(one, counts.get(one.account_id, NONE), shared=one.account_id in shared)
        for one in found
    ]


async def _counts(request: AnyRequest, found: Sequence[AccountCircuit]) -> dict[str, Counts]:
    """Of these accounts alone; whoever asks was shown them."""
    deps = deps_of(request, Deps)
    since = deps.clock.now() - deps.settings.circuits.window
    ids = [one.account_id for one in found]
    if not ids:
        return {}
    async with deps.db.worker() as tx:
        sums = Sums.of(await store.read_sums(tx, since=since, account_ids=ids))
    counts: dict[str, Counts] = {}
    for (account_id, _), some in sums.by_prefix.items():
        if account_id in ids:
            counts[account_id] = counts.get(account_id, NONE) + some
    return counts


def _weights(weights: ChannelWeights) -> Response[WeightsView]:
    return Response(WeightsView.of(weights), headers={"ETag": etag(weights.version)})
