"""What HTTP calls to look at vendor accounts: a tenant's own, and under `/internal` the platform's."""

from datetime import timedelta
from typing import Any, Final

from litestar import Request, Router, post

from tidings.kernel.hot_state import Take
from tidings.kernel.http.bodies import body_of, read_body
from tidings.kernel.http.callers import TenantNeed, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.limit_windows import SlidingWindow
from tidings.router.channel_configs import store
from tidings.router.channel_configs.check_deps import Deps
from tidings.router.channel_configs.check_wire import AdapterCheck, CheckAdapter
from tidings.router.channel_configs.configure import ADAPTER_CONFIG
from tidings.router.channel_configs.errors import PlatformAccountError, TooManyChecksError
from tidings.router.whose import name_of, tx_of

#: Of one tenant, or of the platform: each makes us call a host of their choice.
_LIMIT: Final = SlidingWindow(limit=60, window=timedelta(hours=1))

AnyRequest = Request[Any, Any, Any]


def _check_adapter(need: TenantNeed) -> Any:
    @post(
        "/{adapter_id:str}/check",
        name=name_of("check_adapter", need),
        **operation(
            summary="Look step by step whether a vendor account works, and send nothing.",
            tag="adapters",
            scope="router:write",
            tenant=need,
            path={"adapter_id": ADAPTER_CONFIG},
            body=CheckAdapter,
            body_optional=True,
            answer=AdapterCheck,
            problems=["adapter_not_found", "platform_account", "too_many_checks"],
            description=(
                "Its secret, its settings, the vendor's name, address and port, the credentials, callbacks; with "
                "`dry_call` what the vendor would say to a message, where it can be asked that. A tenant looks at its "
                "own accounts. At most 60 times an hour."
            ),
        ),
    )
    async def check_adapter(request: AnyRequest) -> AdapterCheck:
        account_id = path_id(request, ADAPTER_CONFIG, "adapter_id")
        wanted = await read_body(request, CheckAdapter) if await body_of(request) else CheckAdapter()
        deps = deps_of(request, Deps)
        tenant_id = None if need is TenantNeed.NONE else tenant_of(request)
        async with tx_of(request, deps.db, need) as tx:
            account = await store.find_account(tx, account_id)
        if account.platform and tenant_id is not None:
            raise PlatformAccountError
        (taken,) = await deps.limits.take(tenant_id, [[Take(key="adapter_check", limit=_LIMIT)]])
        if not taken.granted:
            raise TooManyChecksError
        return AdapterCheck.of(account, await deps.checker.check(account, tenant_id, dry_call=wanted.wish()))

    return check_adapter


def routers(deps: Deps) -> list[Router]:
    """The routes of a look."""
    return [
        Router(f"{root}/adapters", route_handlers=[_check_adapter(need)], opt=given(deps))
        for root, need in (
            ("/api/v1/router", TenantNeed.REQUIRED),
            ("/internal/v1/router", TenantNeed.NONE),
        )
    ]
