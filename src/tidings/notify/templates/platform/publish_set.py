"""Publishes the platform's templates; done again, it changes nothing."""

from tidings.kernel.db import Database
from tidings.kernel.refusals import StaleVersionError
from tidings.notify.templates import store
from tidings.notify.templates.authoring import TenantAuthoring
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.errors import TemplateNotDraftError, TemplateVersionTakenError
from tidings.notify.templates.model import VersionStatus
from tidings.notify.templates.platform.files import PlatformTemplate, read_set
from tidings.notify.templates.publish import TemplatePublisher

ACTOR = "tidings"
#: More templates than a platform has.
_MANY = 10_000


async def publish_platform_set(db: Database, *, engine: TenantAuthoring, publisher: TemplatePublisher) -> int:
    """How many versions were published; none where they all were before, or the platform has its own."""
    count = 0
    for wanted in read_set():
        if not await _wanted(db, wanted):
            continue
        try:
            async with db.platform() as tx:
                await create_version(
                    tx, wanted.name, wanted.spec, actor=ACTOR, audit=publisher.audit, clock=publisher.clock
                )
        except TemplateVersionTakenError:
            pass  # A draft that an earlier start left behind, or another process is just ahead of us.
        try:
            await publisher.publish(db.platform, wanted.name, actor=ACTOR, engine=engine)
        except (StaleVersionError, TemplateNotDraftError):
            continue  # Another process has published it meanwhile.
        count += 1
    return count


async def unpublished(db: Database) -> list[str]:
    """Those of the set that nothing of the platform stands in for: `otp/sms`."""
    async with db.platform() as tx:
        lines = await store.list_templates(
            tx, key=None, channel=None, status=VersionStatus.ACTIVE, after_id=None, limit=_MANY
        )
    there = {(line.template.key, line.template.channel) for line in lines}
    return [f"{one.key}/{one.channel}" for one in read_set() if (one.key, one.channel) not in there]


async def _wanted(db: Database, wanted: PlatformTemplate) -> bool:
    """Whether ours is to be published: it never was, and what is in force is ours or nothing."""
    async with db.platform() as tx:
        template = await store.find_template(tx, wanted.name)
        if template is None:
            return True
        ours = await store.find_version(tx, template_id=template.id, semver=str(wanted.semver))
        if ours is not None and ours.published_at is not None:
            return False
        if template.active_version_id is None:
            return True
        semver = await store.find_semver(tx, id=template.active_version_id)
        in_force = semver and await store.find_version(tx, template_id=template.id, semver=semver)
        return not in_force or in_force.created_by == ACTOR
