"""The use cases around a version that is not in force: change it, take it away, approve it, put it away."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.create_version import VersionSpec, content_of
from tidings.notify.templates.errors import ApproverIsRequesterError, TemplateNotDraftError
from tidings.notify.templates.model import (
    Template,
    TemplateVersion,
    VersionName,
    VersionSource,
    VersionStatus,
)

#: Refuses a version that is not the one the caller has read.
Expect = Callable[[TemplateVersion], None]


class DraftChanger:
    """Changes versions that are not in force."""

    def __init__(self, audit: AuditLog, clock: Clock) -> None:
        self._audit = audit
        self._clock = clock

    async def change(
        self, tx: store.Side, name: VersionName, spec: VersionSpec, *, expect: Expect, actor: str
    ) -> TemplateVersion:
        """The draft as it is now; an approval was for what it said before, and is gone."""
        template, version = await held_draft(tx, name)
        expect(version)
        now = self._clock.now()
        changed = rewritten(version, spec, actor=actor, now=now)
        await store.change_drafts(tx, [changed], now=now)
        await self._audit.append(tx, [entry_of(template, version, "version.changed", actor)])
        return changed

    async def delete(self, tx: store.Side, name: VersionName, *, expect: Expect, actor: str) -> None:
        """Take a draft away."""
        template, version = await held_draft(tx, name)
        expect(version)
        await assets_store.delete_assets(tx, [(version.id, name) for name in version.assets])
        await store.delete_draft(tx, id=version.id)
        await self._audit.append(tx, [entry_of(template, version, "version.deleted", actor)])

    async def approve(
        self, tx: store.Side, name: VersionName, *, expect: Expect, actor: str, reason: str | None
    ) -> TemplateVersion:
        """The draft with its approver, who is neither the one who asked for it nor the one who wrote it down."""
        template, version = await held_draft(tx, name)
        expect(version)
        drafted = version.provenance or {}
        if actor in (version.created_by, drafted.get("requested_by"), *drafted.get("changed_by", ())):
            raise ApproverIsRequesterError
        if version.approver_user_id == actor:
            return version
        now = self._clock.now()
        await store.approve_draft(tx, id=version.id, approver=actor, now=now)
        await self._audit.append(tx, [entry_of(template, version, "version.approved", actor, reason)])
        return replace(
            version, approver_user_id=actor, approved_at=now, version=version.version + 1, updated_at=now
        )

    async def archive(
        self, tx: store.Side, name: VersionName, *, actor: str, reason: str | None
    ) -> TemplateVersion:
        """The version, put away. Of the one in force: nothing takes its place, until something is published."""
        template, version = await store.own_version(tx, name, lock=True)
        if version.status is VersionStatus.ARCHIVED:
            return version
        now = self._clock.now()
        await store.archive_version(tx, id=version.id, now=now)
        if template.active_version_id == version.id:
            await store.set_active_version(tx, id=template.id, version_id=None, now=now)
        await self._audit.append(tx, [entry_of(template, version, "version.archived", actor, reason)])
        return replace(
            version,
            status=VersionStatus.ARCHIVED,
            archived_at=now,
            version=version.version + 1,
            updated_at=now,
        )


def rewritten(version: TemplateVersion, spec: VersionSpec, *, actor: str, now: datetime) -> TemplateVersion:
    """A draft that says what the spec says; its pictures stay."""
    # A text that a machine drafted stays an AI draft after a person changes it.
    provenance = spec.provenance if spec.provenance is not None else version.provenance
    if provenance is not None:
        before = version.provenance or {}
        writers = {*before.get("changed_by", ()), actor}
        # Nor can the person who asked for it, or rewrote it, name another one instead.
        provenance = {**provenance, "changed_by": sorted(writers)}
        if "requested_by" in before:
            provenance["requested_by"] = before["requested_by"]
    own = VersionSource.PLATFORM if version.tenant_id is None else VersionSource.TENANT
    return replace(
        version,
        source=own if provenance is None else VersionSource.AI_DRAFTED,
        **content_of(spec),
        provenance=provenance,
        approver_user_id=None,
        approved_at=None,
        version=version.version + 1,
        updated_at=now,
    )


async def held_draft(tx: store.Side, name: VersionName) -> tuple[Template, TemplateVersion]:
    """A draft and its template, held until the end of the transaction."""
    template, version = await store.own_version(tx, name, lock=True)
    if version.status is not VersionStatus.DRAFT:
        raise TemplateNotDraftError
    return template, version


def entry_of(
    template: Template, version: TemplateVersion, action: str, actor: str, reason: str | None = None
) -> Entry:
    """What the audit says of it."""
    return Entry(
        entity_type="template",
        entity_id=template.id,
        action=action,
        actor=actor,
        after={"version_id": version.id, "semver": str(version.semver), "status": version.status},
        reason=reason,
    )
