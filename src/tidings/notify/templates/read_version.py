"""Reads a version with everything that checking and compiling it needs: layouts, link policy, category, sibling channels."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import attributes, by_name
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.store import load_categories
from tidings.notify.templates import layouts_store, store
from tidings.notify.templates.assemble import AssemblyContext
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.model import LinkPolicy, Template, TemplateVersion, VersionName
from tidings.notify.templates.validate import ValidationReport, ValidationRequest
from tidings.notify.tenants import store as tenants

#: Begins a transaction of a tenant, or of the platform.
Begin = Callable[[], AbstractAsyncContextManager[store.Side]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadVersion:
    """A version with everything that checking and compiling it needs."""

    template: Template
    version: TemplateVersion
    around: AssemblyContext
    links: LinkPolicy
    #: The locales of the key's other channels.
    siblings: Mapping[str, Sequence[str]]
    #: What messages of its category may do, and which links they have.
    category: CategoryPolicy | None = None

    async def validated(self, engine: TenantAuthoring) -> ValidationReport:
        """What the validator says about it."""
        return await engine.validate(by_name(ValidationRequest, self))


async def read_version(tx: store.Side, name: VersionName, *, own_hosts: Sequence[str]) -> ReadVersion:
    """A version of this side, in its surroundings."""
    return await in_surroundings(tx, *await store.own_version(tx, name), own_hosts=own_hosts)


async def in_surroundings(
    tx: store.Side, template: Template, version: TemplateVersion, *, own_hosts: Sequence[str]
) -> ReadVersion:
    """A version with what it stands in; it need not be stored."""
    [found] = await all_in_surroundings(tx, [(template, version)], own_hosts=own_hosts)
    return found


async def all_in_surroundings(
    tx: store.Side, versions: Sequence[tuple[Template, TemplateVersion]], *, own_hosts: Sequence[str]
) -> list[ReadVersion]:
    """Versions with what they stand in, which is read once for all of them."""
    if not versions:
        return []
    layouts = {layout.name: layout.text for layout in await layouts_store.list_layouts(tx)}
    links = await _links(tx, own_hosts)
    categories = await load_categories(tx)
    spoken = await store.locales_in_force(tx, keys=sorted({template.key for template, _ in versions}))
    return [
        ReadVersion(
            template=template,
            version=version,
            around=AssemblyContext(
                **attributes(template, "key channel default_locale"),
                template_chain=template.fallback_chain,
                layouts=layouts,
            ),
            links=links,
            siblings={
                channel: tags
                for channel, tags in spoken.get(template.key, {}).items()
                if channel != template.channel
            },
            category=categories.get(template.category),
        )
        for template, version in versions
    ]


async def _links(tx: store.Side, own_hosts: Sequence[str]) -> LinkPolicy:
    if not isinstance(tx, TenantTx):
        return LinkPolicy(own_hosts=own_hosts)
    tenant = await tenants.find_tenant(tx, tenant_id=tx.tenant_id)
    allowed = tenant.notification_policy.allowed_link_domains if tenant else ()
    return LinkPolicy(allowed=allowed, own_hosts=own_hosts)
