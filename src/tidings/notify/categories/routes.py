"""Operations on categories: the platform's registry, and a tenant's own beside it."""

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OwnerTx
from tidings.kernel.http.resources import Owner, Resource
from tidings.notify.categories.change import as_seen, change, create
from tidings.notify.categories.errors import UnknownCategoryError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.registry import Categories
from tidings.notify.categories.wire import CategoryList, CategoryView, ChangeCategory, CreateCategory

categories = Resource("categories", at="/categories", tag="categories", scope="templates")
platform_categories = Resource(
    "categories", at="/categories", tag="categories (platform)", scope="tenants", owner=Owner.PLATFORM
)


@categories.get()
@platform_categories.get(
    name="list_platform_categories", summary="List the platform's categories.", description=""
)
async def list_categories(tx: OwnerTx) -> CategoryList:
    """List the categories that you can use, in the order of pages.

    The platform's and your own; `names` are yours where you have given some.
    """
    found = await as_seen(tx)
    order = sorted(found.values(), key=lambda policy: (policy.position, policy.category))
    return CategoryList(items=tuple(map(CategoryView.of, order)))


@categories.get("/{category}", problems=["category_not_found"])
@platform_categories.get(
    "/{category}",
    name="show_platform_category",
    summary="Show one of the platform's categories.",
    problems=["category_not_found"],
)
async def show_category(tx: OwnerTx, category: str) -> Answer[CategoryView]:
    """Show a category."""
    policy = (await as_seen(tx)).get(category)
    if policy is None:
        raise UnknownCategoryError("there is no category of this name")
    return Answer(CategoryView.of(policy), version=policy.version)


@categories.post(status=201, idempotent=True, problems=["category_taken"])
@platform_categories.post(
    name="create_platform_category",
    summary="Create a category for all tenants.",
    description="A tenant that has a category of this name keeps its own.",
    status=201,
    idempotent=True,
    problems=["category_taken"],
)
async def create_category(
    tx: OwnerTx,
    body: CreateCategory,
    caller: Caller,
    audit: AuditLog,
    clock: Clock,
    registry: Categories,
    after_commit: AfterCommit,
) -> Answer[CategoryView]:
    """Create a category of your own."""
    after_commit(registry.invalidate)
    of_tenant = isinstance(tx, TenantTx)
    wanted = body.policy("tenant" if of_tenant else "platform")
    made = await create(tx, wanted, actor=caller.actor, audit=audit, clock=clock)
    home = "/api/v1/categories" if of_tenant else "/internal/v1/categories"
    return Answer(CategoryView.of(made), version=made.version, location=f"{home}/{made.category}")


@categories.patch("/{category}", problems=["category_not_found", "stale_version"])
@platform_categories.patch(
    "/{category}",
    name="change_platform_category",
    summary="Change one of the platform's categories: names, order, policy, or retire it.",
    description="No category is deleted: `retired` keeps new templates from using it. Where it can't be unsubscribed "
    "from any more, `warnings` names the platform's templates that show a link which is empty then.",
    problems=["category_not_found", "stale_version"],
)
async def change_category(
    tx: OwnerTx,
    category: str,
    body: ChangeCategory,
    if_match: IfMatch,
    caller: Caller,
    audit: AuditLog,
    clock: Clock,
    registry: Categories,
    after_commit: AfterCommit,
) -> Answer[CategoryView]:
    """Change a category of your own, or how one of the platform's appears on your pages.

    Of the platform's you can change `names`, `position` and `hidden`. No category is deleted: `retired` keeps new
    templates from using it.
    """
    after_commit(registry.invalidate)

    def make(before: CategoryPolicy) -> CategoryPolicy:
        if_match.expect(before.version)
        return body.onto(before, by="tenant" if isinstance(tx, TenantTx) else "platform")

    changed = await change(tx, category, make, actor=caller.actor, audit=audit, clock=clock)
    return Answer(CategoryView.of(changed.policy, changed.warnings), version=changed.policy.version)
