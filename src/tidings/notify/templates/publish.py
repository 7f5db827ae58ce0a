"""The use cases "publish this version" and "go back to an earlier one".

A version is validated and compiled first, which takes its time in V8 and the tools: no transaction is open meanwhile. It is
put in force in one transaction with its event, its audit row and the notice that makes every process look anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tidings.contracts.events import NOTIFY_SOURCE
from tidings.contracts.templates import TemplatePublished
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.events import new_event
from tidings.kernel.mapping import attributes
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import StaleVersionError
from tidings.kernel.tracing import current_traceparent
from tidings.notify.templates import store
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.errors import (
    ApprovalMissingError,
    NothingToRollBackToError,
    TemplateNotDraftError,
    UnknownTemplateVersionError,
)
from tidings.notify.templates.model import (
    LocaleText,
    Template,
    TemplateName,
    TemplateVersion,
    VersionName,
    VersionSource,
    VersionStatus,
)
from tidings.notify.templates.read_version import Begin, read_version


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TemplatePublisher:
    """Puts versions in force."""

    outbox: Outbox
    audit: AuditLog
    clock: Clock

    async def publish(
        self,
        begin: Begin,
        name: VersionName,
        *,
        actor: str,
        reason: str | None = None,
        own_hosts: Sequence[str] = (),
        engine: TenantAuthoring,
    ) -> TemplateVersion:
        """The version in force; publishing what is in force already changes nothing."""
        async with begin() as tx:
            read = await read_version(tx, name, own_hosts=own_hosts)
        version = read.version
        if version.status is VersionStatus.ACTIVE:
            return version
        _refuse_unready(version)
        ready = await read.validated(engine)
        ready.refuse_errors()
        async with begin() as tx:
            held = await store.lock_template(tx, name)
            now_there = held and await store.find_version(tx, template_id=held.id, semver=name.semver)
            if held is None or not now_there or now_there.version != version.version:
                raise StaleVersionError
            return await self._put_in_force(
                tx, held, version, ready.locales, rolled_back=False, actor=actor, reason=reason
            )

    async def roll_back(
        self, tx: store.Side, name: TemplateName, *, to: str | None, actor: str, reason: str | None
    ) -> TemplateVersion:
        """The version in force now: the one named, or the one before the present one."""
        template = await store.own_template(tx, name, lock=True)
        semver = to or await _before(tx, template)
        version = await store.find_version(tx, template_id=template.id, semver=semver)
        if version is None:
            raise UnknownTemplateVersionError(f"{name} has no version {semver}")
        if version.status is VersionStatus.ACTIVE:
            return version
        if version.published_at is None:
            raise NothingToRollBackToError(f"version {semver} was never published; publish it instead")
        return await self._put_in_force(
            tx, template, version, version.locales, rolled_back=True, actor=actor, reason=reason
        )

    async def _put_in_force(
        self,
        tx: store.Side,
        template: Template,
        version: TemplateVersion,
        locales: Mapping[str, LocaleText],
        *,
        rolled_back: bool,
        actor: str,
        reason: str | None,
    ) -> TemplateVersion:
        """The version as it is now; the caller holds the template's lock."""
        now = self.clock.now()
        before = template.active_version_id
        # Which version it superseded is known when it is first published; a rollback must not turn that round.
        supersedes = None if rolled_back else before
        await store.retire_version(tx, template_id=template.id, now=now)
        await store.activate_version(tx, id=version.id, locales=locales, supersedes_id=supersedes, now=now)
        await store.set_active_version(tx, id=template.id, version_id=version.id, now=now)
        payload = TemplatePublished(
            template_id=template.id,
            **attributes(template, "key channel"),
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
            clock=self.clock,
            traceparent=current_traceparent(),
        )
        await self.outbox.append(tx, [event])
        entry = Entry(
            entity_type="template",
            entity_id=template.id,
            action="rolled_back" if rolled_back else "published",
            actor=actor,
            before={"version_id": before},
            after={"version_id": version.id, "semver": str(version.semver)},
            reason=reason,
        )
        await self.audit.append(tx, [entry])
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


def _refuse_unready(version: TemplateVersion) -> None:
    if version.status is not VersionStatus.DRAFT:
        raise TemplateNotDraftError
    if version.source is VersionSource.AI_DRAFTED and (
        version.approver_user_id is None
        or version.approver_user_id in (version.created_by, (version.provenance or {}).get("requested_by"))
    ):
        raise ApprovalMissingError


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
