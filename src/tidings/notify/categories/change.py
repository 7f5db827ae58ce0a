"""The use cases "we have a new kind of message" and "this kind is different from now on"."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.refusals import InvalidError
from tidings.notify.categories import store
from tidings.notify.categories.errors import CategoryTakenError, UnknownCategoryError
from tidings.notify.categories.model import CategoryPolicy, policy_faults

#: The category after a change; raises where the change may not be made.
Make = Callable[[CategoryPolicy], CategoryPolicy]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryChange:
    """A category as it is now, and what that means for templates that are in force."""

    policy: CategoryPolicy
    warnings: tuple[str, ...] = ()


async def create(
    tx: store.Side, wanted: CategoryPolicy, *, actor: str, audit: AuditLog, clock: Clock
) -> CategoryPolicy:
    """A new category of this side; a name that the platform or the tenant has already is refused."""
    if faults := policy_faults(wanted):
        raise InvalidError(faults)
    known = await store.load_categories(tx)
    if wanted.category in known:
        whose = "the platform" if known[wanted.category].owner == "platform" else "you"
        raise CategoryTakenError(f"{whose} have a category {wanted.category} already")
    version = await store.put_category(tx, wanted, now=clock.now())
    made = replace(wanted, version=version)
    await _told(tx, "created", made, actor=actor, audit=audit)
    return made


async def change(
    tx: store.Side, category: str, make: Make, *, actor: str, audit: AuditLog, clock: Clock
) -> CategoryChange:
    """The category after the change; a tenant changes its own, and how one of the platform's appears to its people."""
    await store.held_version(tx, category)
    before = (await store.load_categories(tx)).get(category)
    if before is None:
        raise UnknownCategoryError(f"there is no category {category}")
    # A tenant that has said nothing about one of the platform's changes version 0.
    if isinstance(tx, TenantTx) and before.owner == "platform" and not await _said(tx, category):
        before = replace(before, version=0)
    after = make(before)
    if after == before:
        return CategoryChange(policy=before)
    if faults := policy_faults(after):
        raise InvalidError(faults)
    version = await store.put_category(tx, after, now=clock.now())
    after = replace(after, version=version)
    warnings: tuple[str, ...] = ()
    if before.can_unsubscribe and not after.can_unsubscribe:
        warnings = tuple(
            f"{name} shows @links, which are empty from now on: messages fail where no {{{{#if}}}} stands around them; "
            f"see `tidings template validate`"
            for name in await store.templates_showing_links(tx, category)
        )
    await _told(tx, "changed", after, actor=actor, audit=audit)
    return CategoryChange(policy=after, warnings=warnings)


async def as_seen(tx: store.Side) -> Mapping[str, CategoryPolicy]:
    """All categories with the versions that this side can change."""
    found = await store.load_categories(tx)
    if not isinstance(tx, TenantTx):
        return found
    said = {row.category for row in await store.load_tenants(tx)}
    return {
        name: policy if policy.owner == "tenant" or name in said else replace(policy, version=0)
        for name, policy in found.items()
    }


async def _said(tx: TenantTx, category: str) -> bool:
    return any(row.category == category for row in await store.load_tenants(tx))


async def _told(tx: store.Side, action: str, policy: CategoryPolicy, *, actor: str, audit: AuditLog) -> None:
    entry = Entry(
        entity_type="category",
        entity_id=policy.category,
        action=f"category.{action}",
        actor=actor,
        after={
            "names": dict(policy.own_names or policy.names),
            "position": policy.position,
            "hidden": policy.hidden,
            "retired": policy.retired,
            "use_case": policy.default_use_case,
            "retention_class": policy.retention_class,
            "needs_consent": policy.needs_consent,
            "can_unsubscribe": policy.can_unsubscribe,
            "breaks_quiet_hours": policy.breaks_quiet_hours,
        },
    )
    await audit.append(tx, [entry])
