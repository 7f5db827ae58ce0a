"""What HTTP calls to manage API keys: parse, call a verb file, render."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from litestar import Request, Response, Router, delete, get, post

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import Caller, TenantNeed, caller_of
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.notify.access import store
from tidings.notify.access.create import create_key
from tidings.notify.access.deps import Deps
from tidings.notify.access.errors import UnknownKeyError
from tidings.notify.access.model import ApiKey, credential
from tidings.notify.access.revoke import revoke_key
from tidings.notify.access.rotate import rotate_key
from tidings.notify.access.wire import CreateKey, KeyView, NewKey, RotateKey
from tidings.notify.ids import API_KEY

_TAG = "api keys"
_LISTING = "api_keys"
_PATH = {"key_id": API_KEY}
#: A secret must not stay in anybody's cache.
_NO_STORE = {"Cache-Control": "no-store"}

AnyRequest = Request[Any, Any, Any]


@post(
    "/",
    **operation(
        summary="Create a key; its secret is shown this once.",
        tag=_TAG,
        scope="api_keys:write",
        tenant=TenantNeed.OPTIONAL,
        body=CreateKey,
        answer=NewKey,
        status=201,
        headers=["Idempotency-Key"],
        problems=["escalation"],
        description="With a platform key: a key of the platform, or of the tenant that X-Tenant-Id names.",
    ),
)
async def create_api_key(request: AnyRequest) -> Response[bytes]:
    """Create a key."""
    deps = deps_of(request, Deps)
    wanted = await read_body(request, CreateKey)
    caller = caller_of(request)
    async with _side(deps, caller) as tx:

        async def work() -> Done:
            key, secret = await create_key(
                tx, wanted.wish(), grantor=caller, actor=caller.actor, ledger=deps.ledger, clock=deps.clock
            )
            return _new_key(deps, key, secret)

        return await answer_once(request, tx, deps.idempotency, work)


@get(
    "/",
    **operation(
        summary="List keys, the newest first; never their secrets.",
        tag=_TAG,
        scope="api_keys:read",
        tenant=TenantNeed.OPTIONAL,
        query=PageQuery,
        answer=Page[KeyView],
    ),
)
async def list_api_keys(request: AnyRequest) -> Page[KeyView]:
    """List keys."""
    deps = deps_of(request, Deps)
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _side(deps, caller_of(request)) as tx:
        found = await store.list_keys(tx, after_id=after.id if after else None, limit=query.limit + 1)
    now = deps.clock.now()
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda key: key.id,
        render=lambda key: KeyView.of(key, now),
    )


@get(
    "/{key_id:str}",
    **operation(
        summary="Show a key; never its secret.",
        tag=_TAG,
        scope="api_keys:read",
        tenant=TenantNeed.OPTIONAL,
        path=_PATH,
        answer=KeyView,
        problems=["key_not_found"],
    ),
)
async def show_api_key(request: AnyRequest) -> KeyView:
    """Show a key."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, API_KEY, "key_id")
    async with _side(deps, caller_of(request)) as tx:
        key = await store.find_key(tx, key_id=wanted)
    if key is None:
        raise UnknownKeyError
    return KeyView.of(key, deps.clock.now())


@post(
    "/{key_id:str}/rotate",
    **operation(
        summary="Give a key a successor; both work until the overlap ends.",
        tag=_TAG,
        scope="api_keys:write",
        tenant=TenantNeed.OPTIONAL,
        path=_PATH,
        body=RotateKey,
        answer=NewKey,
        status=201,
        headers=["Idempotency-Key"],
        problems=["key_not_found", "key_already_rotated", "key_ended", "escalation"],
    ),
)
async def rotate_api_key(request: AnyRequest) -> Response[bytes]:
    """Rotate a key."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, API_KEY, "key_id")
    how = await read_body(request, RotateKey)
    async with _side(deps, caller_of(request)) as tx:

        async def work() -> Done:
            key, secret = await rotate_key(
                tx,
                wanted,
                overlap=timedelta(seconds=how.overlap_seconds),
                expires_at=how.expires_at,
                grantor=caller_of(request),
                ledger=deps.ledger,
                clock=deps.clock,
            )
            return _new_key(deps, key, secret)

        response = await answer_once(request, tx, deps.idempotency, work)
    deps.keys.forget(wanted)
    return response


def _new_key(deps: Deps, key: ApiKey, secret: str) -> Done:
    shown = NewKey(api_key=credential(key.id, secret), key=KeyView.of(key, deps.clock.now()))
    location = {"Location": f"/api/v1/api-keys/{key.id}"}
    return Done(status=201, body=shown, headers={**_NO_STORE, **location}, again=shown.again())


@delete(
    "/{key_id:str}",
    **operation(
        summary="Revoke a key; it stops working everywhere within a second.",
        tag=_TAG,
        scope="api_keys:write",
        tenant=TenantNeed.OPTIONAL,
        # A leaked key must be ended even while its tenant is frozen.
        writes=False,
        path=_PATH,
        answer=KeyView,
        problems=["key_not_found", "escalation"],
    ),
)
async def revoke_api_key(request: AnyRequest) -> KeyView:
    """Revoke a key."""
    deps = deps_of(request, Deps)
    wanted = path_id(request, API_KEY, "key_id")
    async with _side(deps, caller_of(request)) as tx:
        key = await revoke_key(
            tx,
            wanted,
            actor=caller_of(request).actor,
            ledger=deps.ledger,
            clock=deps.clock,
            revoker=caller_of(request),
        )
    deps.keys.forget(wanted)
    return KeyView.of(key, deps.clock.now())


@asynccontextmanager
async def _side(deps: Deps, caller: Caller) -> AsyncIterator[TenantTx | PlatformTx]:
    """The transaction of the tenant this is about, or of the platform where it is about none."""
    if caller.tenant_id is not None:
        async with deps.db.tenant(caller.tenant_id, caller_role=caller.role) as tenant_tx:
            yield tenant_tx
    else:
        async with deps.db.platform(caller_role=caller.role) as platform_tx:
            yield platform_tx


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [create_api_key, list_api_keys, show_api_key, rotate_api_key, revoke_api_key]
    return [Router("/api/v1/api-keys", route_handlers=handlers, opt=given(deps))]
