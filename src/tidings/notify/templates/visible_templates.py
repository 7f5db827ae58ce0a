"""Whose template a reader means: their own, or the platform's, which every tenant may read once it is published."""

from typing import Literal

from msgspec import Struct

from tidings.kernel.db import TenantTx
from tidings.notify.templates import store
from tidings.notify.templates.errors import UnknownTemplateError, UnknownTemplateVersionError
from tidings.notify.templates.model import Template, TemplateName, TemplateVersion, VersionName
from tidings.notify.templates.wire import TemplateView

TemplateOwner = Literal["tenant", "platform"]


class OwnerQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose template is meant."""

    owner: TemplateOwner | None = None


async def find_readable(tx: store.Side, name: TemplateName, owner: TemplateOwner | None = None) -> Template:
    """The template of this owner; without one the reader's own, or else the platform's."""
    if not isinstance(tx, TenantTx):
        owner = "platform"
    own = None if owner == "platform" else await store.find_template(tx, name)
    if own is not None:
        return own
    if owner == "tenant":
        raise UnknownTemplateError(f"there is no template {name} of your own")
    shared = await store.find_platform_template(tx, name)
    if shared is None or (isinstance(tx, TenantTx) and shared.active_version_id is None):
        whose = "of the platform's" if owner == "platform" else "of your own or of the platform's"
        raise UnknownTemplateError(f"there is no template {name} {whose}")
    return shared


async def find_in_use(tx: store.Side, name: TemplateName, owner: TemplateOwner | None = None) -> Template:
    """The template of this owner; without one that which is used: the reader's own once it is published."""
    if owner is not None:
        return await find_readable(tx, name, owner)
    own = await store.find_template(tx, name)
    if own is not None and own.active_version_id is not None:
        return own
    shared = await store.find_platform_template(tx, name)
    # A template of one's own that is not published yet does not stand in for the platform's.
    found = shared if shared is not None and shared.active_version_id is not None else own or shared
    if found is None:
        raise UnknownTemplateError(f"there is no template {name}")
    return found


async def find_readable_version(
    tx: store.Side, name: VersionName, owner: TemplateOwner | None = None
) -> tuple[Template, TemplateVersion]:
    """A template by the same rule, and one of its versions."""
    template = await find_readable(tx, name, owner)
    version = await store.find_version(
        tx, template_id=template.id, semver=name.semver, of_platform=template.tenant_id is None
    )
    if version is None:
        raise UnknownTemplateVersionError(f"{name} has no version {name.semver}")
    return template, version


async def platforms_in_force(tx: store.Side, template: Template) -> str | None:
    """The number of the platform's version in force of the same key and channel."""
    shared = await store.find_platform_template(tx, template.name)
    if shared is None or shared.active_version_id is None:
        return None
    return await store.find_semver(tx, id=shared.active_version_id, of_platform=True)


async def view_of(tx: store.Side, template: Template) -> TemplateView:
    """A template as it is answered, with the version in force and the platform's where that is newer."""
    active = None
    if template.active_version_id is not None:
        of_platform = template.tenant_id is None
        active = await store.find_semver(tx, id=template.active_version_id, of_platform=of_platform)
    platforms = None if template.platform_semver is None else await platforms_in_force(tx, template)
    return TemplateView.of(template, active, platforms)
