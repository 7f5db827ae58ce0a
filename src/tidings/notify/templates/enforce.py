"""Puts a version in force, in one transaction with its event, its audit row and the call to look anew."""

from collections.abc import Mapping
from dataclasses import replace

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.templates import TemplatePublished
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.events import new_event
from tidings.kernel.outbox import Outbox
from tidings.kernel.tracing import current_traceparent
from tidings.notify.templates import store
from tidings.notify.templates.model import LocaleText, Template, TemplateVersion, VersionStatus


async def put_in_force(
    tx: store.Side,
    template: Template,
    version: TemplateVersion,
    locales: Mapping[str, LocaleText],
    *,
    rolled_back: bool,
    actor: str,
    reason: str | None,
    outbox: Outbox,
    audit: AuditLog,
    clock: Clock,
) -> TemplateVersion:
    """The version as it is now; the caller holds the template's lock."""
    now = clock.now()
    before = template.active_version_id
    # Whose place a version took is known when it is first published; going back must not turn that round.
    supersedes = None if rolled_back else before
    await store.retire_version(tx, template_id=template.id, now=now)
    await store.activate_version(tx, id=version.id, locales=locales, supersedes_id=supersedes, now=now)
    await store.set_active_version(tx, id=template.id, version_id=version.id, now=now)
    payload = TemplatePublished(
        template_id=template.id,
        key=template.key,
        channel=template.channel,
        version_id=version.id,
        semver=str(version.semver),
        locales=tuple(sorted(locales)),
        supersedes_id=before,
        rolled_back=rolled_back,
    )
    event = new_event(
        "template.published.v1",
        payload,
        tenant_id=template.tenant_id,
        ordering_key=template.id,
        source=NOTIFY_SOURCE,
        clock=clock,
        traceparent=current_traceparent(),
    )
    await outbox.append(tx, [event])
    await store.announce_change(tx)
    entry = Entry(
        entity_type="template",
        entity_id=template.id,
        action="rolled_back" if rolled_back else "published",
        actor=actor,
        before={"version_id": before},
        after={"version_id": version.id, "semver": str(version.semver)},
        reason=reason,
    )
    await audit.append(tx, [entry])
    return replace(
        version,
        status=VersionStatus.ACTIVE,
        locales=locales,
        supersedes_id=version.supersedes_id or supersedes,
        published_at=version.published_at or now,
        archived_at=None,
        version=version.version + 1,
        updated_at=now,
    )
