"""What HTTP calls about entered secrets: of a tenant, and under `/internal` of the platform."""

import re
from typing import Any, Final

from litestar import Request, Response, Router, delete, get, put

from tidings.kernel.errors import BadValueError
from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.secrets import SecretStoreError
from tidings.router.channel_configs.errors import SecretsNotAskedError
from tidings.router.sealed_secrets.deps import Deps
from tidings.router.sealed_secrets.wire import PutSecret, SecretList, SecretView
from tidings.router.whose import name_of, tx_of

_TAG = "adapters"
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")

AnyRequest = Request[Any, Any, Any]


def _list_secrets(need: TenantNeed) -> Any:
    @get(
        "/",
        name=name_of("list_secrets", need),
        **operation(
            summary="List the secrets that were entered, and which accounts read them; never what is in them.",
            tag=_TAG,
            scope="router:read",
            tenant=need,
            answer=SecretList,
        ),
    )
    async def list_secrets(request: AnyRequest) -> SecretList:
        deps = deps_of(request, Deps)
        async with tx_of(request, deps.db, need) as tx:
            return SecretList(items=[SecretView.of(kept) for kept in await deps.keeper.list(tx)])

    return list_secrets


def _put_secret(need: TenantNeed) -> Any:
    @put(
        "/{name:str}",
        name=name_of("put_secret", need),
        **operation(
            summary="Enter a secret, or another in its place.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            body=PutSecret,
            answer=SecretView,
            problems=["secrets_unavailable"],
            description=(
                "It is sealed under a key of its owner and shown to nobody again; accounts name it as `sealed://<name>` in "
                "`secret_ref`. Where accounts read it already, the new one is looked at first as each of them would use it, "
                "and all processes read it within a second."
            ),
        ),
    )
    async def put_secret(request: AnyRequest) -> Response[SecretView]:
        wanted = await read_body(request, PutSecret)
        deps = deps_of(request, Deps)
        owner = None if need is TenantNeed.NONE else tenant_of(request)
        try:
            kept = await deps.keeper.put(
                lambda: tx_of(request, deps.db, need),
                owner,
                _name(request),
                wanted.text(),
                actor=caller_of(request).actor,
            )
        except SecretStoreError as error:
            raise SecretsNotAskedError(f"{error}; nothing was changed") from None
        return Response(SecretView.of(kept), status_code=200)

    return put_secret


def _delete_secret(need: TenantNeed) -> Any:
    @delete(
        "/{name:str}",
        name=name_of("delete_secret", need),
        **operation(
            summary="Remove a secret that no account reads any more; its key is destroyed.",
            tag=_TAG,
            status=204,
            scope="router:write",
            tenant=need,
            problems=["secret_unknown", "secret_in_use"],
        ),
    )
    async def delete_secret(request: AnyRequest) -> None:
        deps = deps_of(request, Deps)
        async with tx_of(request, deps.db, need) as tx:
            await deps.keeper.remove(tx, _name(request), actor=caller_of(request).actor)

    return delete_secret


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            f"{root}/secrets",
            route_handlers=[make(need) for make in (_list_secrets, _put_secret, _delete_secret)],
            opt=given(deps),
        )
        for root, need in (
            ("/api/v1/router", TenantNeed.REQUIRED),
            ("/internal/v1/router", TenantNeed.NONE),
        )
    ]


def _name(request: AnyRequest) -> str:
    name = str(request.path_params["name"])
    if not _NAME.fullmatch(name):
        raise BadValueError("name", "must be 1 to 63 small letters, digits, dots, dashes or underscores")
    return name
