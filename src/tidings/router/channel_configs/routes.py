"""What HTTP calls about vendor accounts: of a tenant, and under `/internal` of the platform."""

from collections.abc import Sequence
from typing import Any

from litestar import Request, Response, Router, get, patch, post, put

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.ids import TenantId
from tidings.router.adapters.registry import ADAPTERS
from tidings.router.channel_configs import store
from tidings.router.channel_configs.configure import ADAPTER_CONFIG, Terms
from tidings.router.channel_configs.deps import Deps
from tidings.router.channel_configs.hook import hook_of
from tidings.router.channel_configs.store import StoredAccount
from tidings.router.channel_configs.wire import (
    AdapterList,
    AdapterView,
    CreateAdapter,
    KindList,
    KindView,
    PatchAdapter,
    PutAdapter,
)
from tidings.router.traffic.store import find_circuits, find_weights
from tidings.router.whose import name_of, tx_of

_TAG = "adapters"

AnyRequest = Request[Any, Any, Any]


def _list_adapters(need: TenantNeed) -> Any:
    @get(
        "/",
        name=name_of("list_adapters", need),
        **operation(
            summary="List vendor accounts with what they can do, cost and take, their circuits and weights.",
            tag=_TAG,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=AdapterList,
            description="A tenant's own, then the platform's that it may use; its own win over those.",
        ),
    )
    async def list_adapters(request: AnyRequest) -> AdapterList:
        deps = deps_of(request, Deps)
        async with tx_of(request, deps.db, need) as tx:
            found = await store.find_accounts(tx)
            ordered = sorted(found, key=lambda one: (one.platform, one.vendor, one.id))
            return AdapterList(items=await _views(tx, ordered, deps.public_url))

    return list_adapters


def _list_kinds(need: TenantNeed) -> Any:
    @get(
        "/kinds",
        name=name_of("list_adapter_kinds", need),
        **operation(
            summary="List all kinds of vendors with what they can do and what their accounts need.",
            tag=_TAG,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=KindList,
        ),
    )
    async def list_adapter_kinds() -> KindList:
        return KindList(items=[KindView.of(kind) for _, kind in sorted(ADAPTERS.items())])

    return list_adapter_kinds


def _show_adapter(need: TenantNeed) -> Any:
    @get(
        "/{adapter_id:str}",
        name=name_of("show_adapter", need),
        **operation(
            summary="Show a vendor account.",
            tag=_TAG,
            scope="router:read",
            test_keys=True,
            tenant=need,
            path={"adapter_id": ADAPTER_CONFIG},
            answer=AdapterView,
            problems=["adapter_not_found"],
        ),
    )
    async def show_adapter(request: AnyRequest) -> Response[AdapterView]:
        wanted = path_id(request, ADAPTER_CONFIG, "adapter_id")
        deps = deps_of(request, Deps)
        async with tx_of(request, deps.db, need) as tx:
            found = await store.find_account(tx, wanted)
            return _shown((await _views(tx, [found], deps.public_url))[0])

    return show_adapter


def _put_adapter(need: TenantNeed) -> Any:
    @put(
        "/{adapter_id:str}",
        name=name_of("put_adapter", need),
        **operation(
            summary="Say what a vendor account costs and how much it takes.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            path={"adapter_id": ADAPTER_CONFIG},
            body=PutAdapter,
            answer=AdapterView,
            problems=["adapter_not_found", "platform_account"],
            headers=["If-Match"],
            description="Whole: what is left out has no price, or no limit. Seen by all processes within a second.",
        ),
    )
    async def put_adapter(request: AnyRequest) -> Response[AdapterView]:
        wanted = await read_body(request, PutAdapter)
        account_id = path_id(request, ADAPTER_CONFIG, "adapter_id")
        deps = deps_of(request, Deps)

        def expect(known: StoredAccount) -> None:
            expect_version(request.scope, known.version)

        async with tx_of(request, deps.db, need) as tx:
            after = await deps.configs.set_terms(
                tx,
                account_id,
                Terms(prices=wanted.prices, per_second=wanted.per_second, per_day=wanted.per_day),
                expect=expect,
                actor=caller_of(request).actor,
            )
            return _shown((await _views(tx, [after], deps.public_url))[0])

    return put_adapter


def _post_adapter(need: TenantNeed) -> Any:
    @post(
        "/",
        name=name_of("create_adapter", need),
        **operation(
            summary="Make a vendor account.",
            tag=_TAG,
            status=201,
            scope="router:write",
            tenant=need,
            body=CreateAdapter,
            answer=AdapterView,
            problems=["adapter_exists", "secrets_unavailable"],
            description=(
                "Of the tenant's own, or under `/internal` of the platform, which all tenants may send through. Its settings are "
                "read before it is written, and refused by name where the adapter can't use them; the vendor is not asked "
                "(`POST …/{adapter_id}/check` does that). An owner has one account with each vendor."
            ),
        ),
    )
    async def post_adapter(request: AnyRequest) -> Response[AdapterView]:
        wanted = await read_body(request, CreateAdapter)
        deps = deps_of(request, Deps)
        after = await deps.keeper.add(
            lambda: tx_of(request, deps.db, need),
            _owner(request, need),
            wanted.command(),
            actor=caller_of(request).actor,
        )
        async with tx_of(request, deps.db, need) as tx:
            return _shown((await _views(tx, [after], deps.public_url))[0], status=201)

    return post_adapter


def _patch_adapter(need: TenantNeed) -> Any:
    @patch(
        "/{adapter_id:str}",
        name=name_of("patch_adapter", need),
        **operation(
            summary="Switch a vendor account off or on, or let it read its settings anew.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            path={"adapter_id": ADAPTER_CONFIG},
            body=PatchAdapter,
            answer=AdapterView,
            problems=["adapter_not_found", "platform_account", "secrets_unavailable"],
            headers=["If-Match"],
            description=(
                "Accounts are never deleted: `active` is how one is taken away. What would go through one that is off takes the "
                "next vendor, or waits as for an open circuit; callbacks about what it sent still count. A tenant's own that is "
                "off makes room for the platform's with the same vendor. Seen by all processes within a second."
            ),
        ),
    )
    async def patch_adapter(request: AnyRequest) -> Response[AdapterView]:
        wanted = await read_body(request, PatchAdapter)
        account_id = path_id(request, ADAPTER_CONFIG, "adapter_id")
        deps = deps_of(request, Deps)

        def expect(known: StoredAccount) -> None:
            expect_version(request.scope, known.version)

        after = await deps.keeper.change(
            lambda: tx_of(request, deps.db, need),
            _owner(request, need),
            account_id,
            wanted.change(),
            expect=expect,
            actor=caller_of(request).actor,
        )
        async with tx_of(request, deps.db, need) as tx:
            return _shown((await _views(tx, [after], deps.public_url))[0])

    return patch_adapter


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            f"{root}/adapters",
            route_handlers=[
                make(need)
                for make in (
                    _list_adapters,
                    _post_adapter,
                    _list_kinds,
                    _show_adapter,
                    _put_adapter,
                    _patch_adapter,
                )
            ],
            opt=given(deps),
        )
        for root, need in (
            ("/api/v1/router", TenantNeed.REQUIRED),
            ("/internal/v1/router", TenantNeed.NONE),
        )
    ]


async def _views(
    tx: TenantTx | PlatformTx, accounts: Sequence[StoredAccount], public_url: str | None
) -> list[AdapterView]:
    circuits = {one.account_id: one for one in await find_circuits(tx)}
    weights = {one.channel: one for one in reversed(await find_weights(tx)) if one.home}
    return [
        AdapterView.of(one, circuits.get(one.id), list(weights.values()), hook_of(one, public_url))
        for one in accounts
    ]


def _owner(request: AnyRequest, need: TenantNeed) -> TenantId | None:
    return None if need is TenantNeed.NONE else tenant_of(request)


def _shown(view: AdapterView, *, status: int = 200) -> Response[AdapterView]:
    return Response(view, status_code=status, headers={"ETag": etag(view.version)})
