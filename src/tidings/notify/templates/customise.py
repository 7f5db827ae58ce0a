"""The use case "we want this one of the platform's in our own words": a draft copy that knows which version it came from."""

from dataclasses import dataclass, replace

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.mapping import attributes
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.create_version import VersionSpec, create_version
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template, TemplateName, TemplateVersion
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.visible_templates import find_readable, find_readable_version

_FIRST = Semver(1, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomisedDraft:
    """A tenant's template, and the draft that was made; None where only the platform's version was noted."""

    template: Template
    platform_semver: str
    draft: TemplateVersion | None


async def customise(
    tx: TenantTx,
    name: TemplateName,
    *,
    semver: Semver | None,
    note_only: bool,
    actor: str,
    audit: AuditLog,
    clock: Clock,
) -> CustomisedDraft:
    """Copy the platform's version in force into a draft of the tenant's own: all locales, schema, samples, pictures.

    With `note_only` nothing is copied: the tenant has looked at the platform's newer version and wants no more of it.
    """
    shared, version = await _in_force(tx, name)
    own = await store.lock_template(tx, name)
    draft = None
    if note_only:
        if own is None:
            raise UnknownTemplateError(f"there is no template {name} of your own to note it with")
    else:
        number = semver or await _next_number(tx, own)
        own, draft = await create_version(
            tx, name, _spec(shared, version, number, first=own is None), actor=actor, audit=audit, clock=clock
        )
        draft = await _with_pictures(tx, version, draft, clock)
    now = clock.now()
    await store.note_platform_version(tx, id=own.id, platform_semver=str(version.semver), now=now)
    entry = Entry(
        entity_type="template",
        entity_id=own.id,
        action="template.customised",
        actor=actor,
        after={
            "platform_version": str(version.semver),
            "draft": None if draft is None else str(draft.semver),
        },
    )
    await audit.append(tx, [entry])
    return CustomisedDraft(template=own, platform_semver=str(version.semver), draft=draft)


async def _in_force(tx: TenantTx, name: TemplateName) -> tuple[Template, TemplateVersion]:
    shared = await find_readable(tx, name, "platform")
    assert shared.active_version_id is not None  # noqa: S101  # a tenant finds none that is not in force
    number = await store.find_semver(tx, id=shared.active_version_id, of_platform=True)
    return await find_readable_version(tx, name.version(number or ""), "platform")


def _spec(shared: Template, version: TemplateVersion, number: Semver, *, first: bool) -> VersionSpec:
    spec = VersionSpec(
        semver=number,
        locales={tag: text.source for tag, text in version.locales.items()},
        **attributes(version, "variables_schema samples fallback_chain partials strings layout"),
    )
    if not first:
        return spec
    return replace(
        spec,
        **attributes(shared, "category default_locale default_priority"),
        template_fallback_chain=shared.fallback_chain,
    )


async def _next_number(tx: TenantTx, own: Template | None) -> Semver:
    """1.0.0, or the next minor number after all that the template has used."""
    used = (
        [] if own is None else [Semver.parse(one) for one in await store.list_semvers(tx, template_id=own.id)]
    )
    if not used:
        return _FIRST
    latest = max(used)
    return Semver(latest.major, latest.minor + 1, 0)


async def _with_pictures(
    tx: TenantTx, version: TemplateVersion, draft: TemplateVersion, clock: Clock
) -> TemplateVersion:
    if not version.assets:
        return draft
    now = clock.now()
    pictures = await assets_store.find_assets(tx, version)
    await assets_store.put_assets(tx, [(draft.id, picture) for picture in pictures], now=now)
    await assets_store.note_assets(tx, draft.id, version.assets, now)
    return replace(draft, assets=version.assets, version=draft.version + 1, updated_at=now)
