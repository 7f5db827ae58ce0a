"""The use case "go back": an earlier published version is in force again, as it was."""

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.outbox import Outbox
from tidings.notify.templates import store
from tidings.notify.templates.enforce import put_in_force
from tidings.notify.templates.errors import (
    NothingToRollBackToError,
    UnknownTemplateError,
    UnknownTemplateVersionError,
)
from tidings.notify.templates.model import Template, TemplateVersion, VersionStatus


async def roll_back(
    tx: store.Side,
    *,
    key: str,
    channel: Channel,
    to: str | None,
    actor: str,
    reason: str | None,
    outbox: Outbox,
    audit: AuditLog,
    clock: Clock,
) -> TemplateVersion:
    """The version in force now: the one named, or the one before the present one."""
    template = await store.lock_template(tx, key=key, channel=channel)
    if template is None:
        raise UnknownTemplateError(f"there is no template {key} for {channel} of your own")
    semver = to or await _before(tx, template)
    version = await store.find_version(tx, template_id=template.id, semver=semver)
    if version is None:
        raise UnknownTemplateVersionError(f"{key} for {channel} has no version {semver}")
    if version.status is VersionStatus.ACTIVE:
        return version
    if version.published_at is None:
        raise NothingToRollBackToError(f"version {semver} was never published; publish it instead")
    return await put_in_force(
        tx,
        template,
        version,
        version.locales,
        rolled_back=True,
        actor=actor,
        reason=reason,
        outbox=outbox,
        audit=audit,
        clock=clock,
    )


async def _before(tx: store.Side, template: Template) -> str:
    """The version that the present one took the place of."""
    if template.active_version_id is None:
        raise NothingToRollBackToError
    present = await store.find_semver(tx, id=template.active_version_id)
    version = present and await store.find_version(tx, template_id=template.id, semver=present)
    earlier = (
        await store.find_semver(tx, id=version.supersedes_id) if version and version.supersedes_id else None
    )
    if earlier is None:
        raise NothingToRollBackToError
    return earlier
