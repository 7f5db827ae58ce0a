"""What HTTP calls about categories: the platform's registry, and a tenant's own beside it."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Literal

from litestar import Request, Response, Router, get, patch, post

from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.etags import etag, expect_version
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.notify.categories import store
from tidings.notify.categories.change import as_seen, change, create
from tidings.notify.categories.deps import Deps
from tidings.notify.categories.errors import UnknownCategoryError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.wire import CategoryList, CategoryView, ChangeCategory, CreateCategory

AnyRequest = Request[Any, Any, Any]
_TAG = "categories"
_PLATFORM_TAG = "categories (platform)"
_ONE = "/{category:str}"


@get(
    "/",
    **operation(
        summary="List the categories that you can use, in the order of pages.",
        tag=_TAG,
        scope="templates:read",
        answer=CategoryList,
        description="The platform's and your own; `names` are yours where you have given some.",
    ),
)
async def list_categories(request: AnyRequest) -> CategoryList:
    """List categories."""
    return await _listed(request)


@get(
    _ONE,
    **operation(
        summary="Show a category.",
        tag=_TAG,
        scope="templates:read",
        answer=CategoryView,
        problems=["category_not_found"],
    ),
)
async def show_category(request: AnyRequest) -> Response[CategoryView]:
    """Show a category."""
    return await _one(request)


@post(
    "/",
    **operation(
        summary="Create a category of your own.",
        tag=_TAG,
        scope="templates:write",
        body=CreateCategory,
        answer=CategoryView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["category_taken"],
    ),
)
async def create_category(request: AnyRequest) -> Response[bytes]:
    """Create a category."""
    return await _created(request, "tenant")


@patch(
    _ONE,
    **operation(
        summary="Change a category of your own, or how one of the platform's appears on your pages.",
        tag=_TAG,
        scope="templates:write",
        body=ChangeCategory,
        answer=CategoryView,
        headers=["If-Match"],
        problems=["category_not_found", "stale_version"],
        description="Of the platform's you can change `names`, `position` and `hidden`. No category is deleted: "
        "`retired` keeps new templates from using it.",
    ),
)
async def change_category(request: AnyRequest) -> Response[CategoryView]:
    """Change a category."""
    return await _changed(request, "tenant")


@get(
    "/",
    **operation(
        summary="List the platform's categories.",
        tag=_PLATFORM_TAG,
        scope="tenants:read",
        tenant=TenantNeed.NONE,
        answer=CategoryList,
    ),
)
async def list_platform_categories(request: AnyRequest) -> CategoryList:
    """List categories."""
    return await _listed(request)


@get(
    _ONE,
    **operation(
        summary="Show one of the platform's categories.",
        tag=_PLATFORM_TAG,
        scope="tenants:read",
        tenant=TenantNeed.NONE,
        answer=CategoryView,
        problems=["category_not_found"],
    ),
)
async def show_platform_category(request: AnyRequest) -> Response[CategoryView]:
    """Show a category."""
    return await _one(request)


@post(
    "/",
    **operation(
        summary="Create a category for all tenants.",
        tag=_PLATFORM_TAG,
        scope="tenants:write",
        tenant=TenantNeed.NONE,
        body=CreateCategory,
        answer=CategoryView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["category_taken"],
        description="A tenant that has a category of this name keeps its own.",
    ),
)
async def create_platform_category(request: AnyRequest) -> Response[bytes]:
    """Create a category."""
    return await _created(request, "platform")


@patch(
    _ONE,
    **operation(
        summary="Change one of the platform's categories: names, order, policy, or retire it.",
        tag=_PLATFORM_TAG,
        scope="tenants:write",
        tenant=TenantNeed.NONE,
        body=ChangeCategory,
        answer=CategoryView,
        headers=["If-Match"],
        problems=["category_not_found", "stale_version"],
        description="No category is deleted: `retired` keeps new templates from using it. Where it can't be unsubscribed "
        "from any more, `warnings` names the platform's templates that show a link which is empty then.",
    ),
)
async def change_platform_category(request: AnyRequest) -> Response[CategoryView]:
    """Change a category."""
    return await _changed(request, "platform")


def _begin(request: AnyRequest) -> AbstractAsyncContextManager[store.Side]:
    caller, db = caller_of(request), deps_of(request, Deps).db
    if caller.tenant_id is None:
        return db.platform(caller_role=caller.role)
    return db.tenant(caller.tenant_id, caller_role=caller.role)


async def _listed(request: AnyRequest) -> CategoryList:
    async with _begin(request) as tx:
        found = await as_seen(tx)
    order = sorted(found.values(), key=lambda policy: (policy.position, policy.category))
    return CategoryList(items=tuple(map(CategoryView.of, order)))


async def _one(request: AnyRequest) -> Response[CategoryView]:
    name = str(request.path_params["category"])
    async with _begin(request) as tx:
        policy = (await as_seen(tx)).get(name)
    if policy is None:
        raise UnknownCategoryError("there is no category of this name")
    return Response(CategoryView.of(policy), headers={"ETag": etag(policy.version)})


async def _created(request: AnyRequest, owner: Literal["platform", "tenant"]) -> Response[bytes]:
    deps = deps_of(request, Deps)
    wanted = (await read_body(request, CreateCategory)).policy(owner)
    home = "/internal/v1/categories" if owner == "platform" else "/api/v1/categories"
    async with _begin(request) as tx:

        async def work() -> Done:
            made = await create(
                tx, wanted, actor=caller_of(request).actor, audit=deps.audit, clock=deps.clock
            )
            headers = {"ETag": etag(made.version), "Location": f"{home}/{made.category}"}
            return Done(status=201, body=CategoryView.of(made), headers=headers)

        answer = await answer_once(request, tx, deps.idempotency, work)
    deps.categories.invalidate()
    return answer


async def _changed(request: AnyRequest, by: Literal["platform", "tenant"]) -> Response[CategoryView]:
    deps = deps_of(request, Deps)
    wanted = await read_body(request, ChangeCategory)

    def make(before: CategoryPolicy) -> CategoryPolicy:
        expect_version(request.scope, before.version)
        return wanted.onto(before, by=by)

    async with _begin(request) as tx:
        changed = await change(
            tx,
            str(request.path_params["category"]),
            make,
            actor=caller_of(request).actor,
            audit=deps.audit,
            clock=deps.clock,
        )
    deps.categories.invalidate()
    view = CategoryView.of(changed.policy, changed.warnings)
    return Response(view, headers={"ETag": etag(changed.policy.version)})


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router(
            "/api/v1/categories",
            route_handlers=[list_categories, show_category, create_category, change_category],
            opt=given(deps),
        ),
        Router(
            "/internal/v1/categories",
            route_handlers=[
                list_platform_categories,
                show_platform_category,
                create_platform_category,
                change_platform_category,
            ],
            opt=given(deps),
        ),
    ]
