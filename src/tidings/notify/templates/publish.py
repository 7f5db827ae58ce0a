"""The use case "publish this version": validated and compiled first, then put in force in one transaction.

Validating takes its time in V8 and the tools; no transaction is open meanwhile.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import StaleVersionError
from tidings.notify.categories.model import CategoryPolicy
from tidings.notify.categories.store import load_categories
from tidings.notify.templates import layouts_store, store
from tidings.notify.templates.assemble import AssemblyContext
from tidings.notify.templates.authoring import Engine
from tidings.notify.templates.enforce import put_in_force
from tidings.notify.templates.errors import (
    ApprovalMissingError,
    TemplateNotDraftError,
    UnknownTemplateError,
    UnknownTemplateVersionError,
)
from tidings.notify.templates.model import LinkPolicy, Template, TemplateVersion, VersionSource, VersionStatus
from tidings.notify.templates.validate import ValidationReport, ValidationRequest
from tidings.notify.tenants import store as tenants

#: Begins a transaction of a tenant, or of the platform.
Begin = Callable[[], AbstractAsyncContextManager[store.Side]]


async def publish(
    begin: Begin,
    *,
    key: str,
    channel: Channel,
    semver: str,
    actor: str,
    reason: str | None = None,
    own_hosts: Sequence[str] = (),
    engine: Engine,
    outbox: Outbox,
    audit: AuditLog,
    clock: Clock,
) -> TemplateVersion:
    """The version in force; publishing what is in force already changes nothing."""
    async with begin() as tx:
        read = await read_version(tx, key=key, channel=channel, semver=semver, own_hosts=own_hosts)
    version = read.version
    if version.status is VersionStatus.ACTIVE:
        return version
    _refuse_unready(version)
    ready = await read.validated(engine)
    ready.refuse_errors()
    async with begin() as tx:
        held = await store.lock_template(tx, key=key, channel=channel)
        now_there = held and await store.find_version(tx, template_id=held.id, semver=semver)
        if held is None or not now_there or now_there.version != version.version:
            raise StaleVersionError
        return await put_in_force(
            tx,
            held,
            version,
            ready.locales,
            rolled_back=False,
            actor=actor,
            reason=reason,
            outbox=outbox,
            audit=audit,
            clock=clock,
        )


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

    async def validated(self, engine: Engine) -> ValidationReport:
        """What the validator says about it."""
        return await engine.validate(by_name(ValidationRequest, self))


async def read_version(
    tx: store.Side, *, key: str, channel: Channel, semver: str, own_hosts: Sequence[str]
) -> ReadVersion:
    """A version of this side, in its surroundings."""
    template, version = await find(tx, key=key, channel=channel, semver=semver)
    return await in_surroundings(tx, template, version, own_hosts=own_hosts)


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
                key=template.key,
                channel=template.channel,
                default_locale=template.default_locale,
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


async def find(
    tx: store.Side, *, key: str, channel: Channel, semver: str
) -> tuple[Template, TemplateVersion]:
    """A template of this side and one of its versions."""
    template = await store.find_template(tx, key=key, channel=channel)
    if template is None:
        raise UnknownTemplateError(f"there is no template {key} for {channel} of your own")
    version = await store.find_version(tx, template_id=template.id, semver=semver)
    if version is None:
        raise UnknownTemplateVersionError(f"{key} for {channel} has no version {semver}")
    return template, version


def _refuse_unready(version: TemplateVersion) -> None:
    if version.status is not VersionStatus.DRAFT:
        raise TemplateNotDraftError
    if version.source is VersionSource.AI_DRAFTED and (
        version.approver_user_id is None
        or version.approver_user_id in (version.created_by, (version.provenance or {}).get("requested_by"))
    ):
        raise ApprovalMissingError


async def _links(tx: store.Side, own_hosts: Sequence[str]) -> LinkPolicy:
    if not isinstance(tx, TenantTx):
        return LinkPolicy(own_hosts=own_hosts)
    tenant = await tenants.find_tenant(tx, tenant_id=tx.tenant_id)
    allowed = tenant.notification_policy.allowed_link_domains if tenant else ()
    return LinkPolicy(allowed=allowed, own_hosts=own_hosts)
