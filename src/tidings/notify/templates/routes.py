"""Operations on whole templates: a tenant's own, or the platform's for a platform key that names no tenant."""

from collections.abc import Mapping, Sequence
from functools import partial

from tidings.contracts.tenants import Channel
from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import AfterCommit, OwnerTx
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.mapping import attributes
from tidings.notify.templates import asset_routes, inspect_routes, layouts_routes, store, version_routes
from tidings.notify.templates.archive_template import TemplateArchiver
from tidings.notify.templates.bundle import routes as bundle_routes
from tidings.notify.templates.customise import customise
from tidings.notify.templates.model import Template, VersionStatus
from tidings.notify.templates.publish import TemplatePublisher
from tidings.notify.templates.resolve import TemplateResolver
from tidings.notify.templates.resource import (
    TEMPLATE,
    UNKNOWN,
    TemplateInPath,
    template_resource,
    version_answer,
)
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.visible_templates import OwnerQuery, find_in_use, view_of
from tidings.notify.templates.wire import (
    Customise,
    CustomisedView,
    PublishVersion,
    RollBack,
    TemplateSummary,
    TemplateView,
    VersionView,
    key_of,
)

templates = template_resource()


class TemplateQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which templates are wanted."""

    key: str | None = None
    channel: Channel | None = None
    #: `active`: something is in force; else the state of the latest version.
    status: VersionStatus | None = None


@templates.get()
async def list_templates(
    tx: OwnerTx, query: TemplateQuery, paging: Paging, clock: Clock
) -> Page[TemplateSummary]:
    """List templates, the newest first: your own, and the platform's.

    Your own wins over the platform's of the same key and channel once it is published.
    """
    lines = await store.list_templates(
        tx,
        key=None if query.key is None else key_of(query.key),
        channel=query.channel,
        status=query.status,
        after_id=paging.after_id,
        limit=paging.fetch,
    )
    usage = await store.usage(tx, day=clock.now().date())
    return paging.page(
        lines,
        lambda line: TemplateSummary.of(line, _accepted(line.template, usage)),
        id_of=lambda line: line.template.id,
    )


@templates.get(
    TEMPLATE,
    problems=["template_not_found"],
    description="With `owner=platform` the platform's, also where you have one of your own. "
    "`platform_newer` names a version that the platform has published since you customised it.",
)
async def show_template(tx: OwnerTx, name: TemplateInPath, query: OwnerQuery) -> Answer[TemplateView]:
    """Show the template that is used: your own, or the platform's where you have none."""
    template = await find_in_use(tx, name, query.owner)
    return Answer(await view_of(tx, template), version=template.version)


@templates.post(f"{TEMPLATE}/rollback", problems=[*UNKNOWN, "nothing_to_roll_back_to"])
async def roll_back_template(
    tx: OwnerTx,
    name: TemplateInPath,
    caller: Caller,
    publisher: TemplatePublisher,
    cache: TemplateResolver,
    after_commit: AfterCommit,
    body: RollBack = RollBack(),  # noqa: B008  # frozen
) -> Answer[VersionView]:
    """Put an earlier version in force again.

    Without `to` it is the version that the present one took the place of.
    """
    version = await publisher.roll_back(
        tx,
        name,
        to=None if body.to is None else str(Semver.parse(body.to, field="to")),
        actor=caller.actor,
        reason=body.reason,
    )
    after_commit(partial(cache.invalidate, caller.tenant_id))
    return version_answer(version)


@templates.post(
    f"{TEMPLATE}/customise",
    owner=Owner.TENANT,
    status=201,
    idempotent=True,
    problems=["template_not_found", "template_version_taken"],
    description="All locales, the schema, the samples and the pictures of the version in force. Once the draft is "
    "published it wins over the platform's; archive the template, and the platform's counts again. When the platform "
    "publishes a newer version, `platform_newer` names it, until you customise again or note it with `note_only`.",
)
async def customise_template(
    tx: TenantTx,
    name: TemplateInPath,
    caller: Caller,
    audit: AuditLog,
    clock: Clock,
    body: Customise = Customise(),  # noqa: B008  # frozen
) -> CustomisedView:
    """Copy the platform's template into a draft of your own."""
    made = await customise(
        tx,
        name,
        semver=None if body.semver is None else Semver.parse(body.semver),
        note_only=body.note_only,
        actor=caller.actor,
        audit=audit,
        clock=clock,
    )
    return CustomisedView(
        **attributes(name, "key channel"),
        customised_from=made.platform_semver,
        draft=None if made.draft is None else str(made.draft.semver),
    )


@templates.post(f"{TEMPLATE}/archive", problems=["template_not_found"])
async def archive_template(
    tx: OwnerTx,
    name: TemplateInPath,
    caller: Caller,
    archiver: TemplateArchiver,
    cache: TemplateResolver,
    after_commit: AfterCommit,
    body: PublishVersion = PublishVersion(),  # noqa: B008  # frozen
) -> Answer[TemplateView]:
    """Put a whole template away.

    Nothing takes its place but the platform's template of this key. What was accepted before is still sent with it.
    `restore` brings it back as it was.
    """
    after_commit(partial(cache.invalidate, caller.tenant_id))
    template = await archiver.archive(tx, name, actor=caller.actor, reason=body.reason)
    return Answer(await view_of(tx, template), version=template.version)


@templates.post(f"{TEMPLATE}/restore", problems=["template_not_found"])
async def restore_template(
    tx: OwnerTx,
    name: TemplateInPath,
    caller: Caller,
    archiver: TemplateArchiver,
    cache: TemplateResolver,
    after_commit: AfterCommit,
    body: PublishVersion = PublishVersion(),  # noqa: B008  # frozen
) -> Answer[TemplateView]:
    """Take an archived template back, as it was."""
    after_commit(partial(cache.invalidate, caller.tenant_id))
    template = await archiver.restore(tx, name, actor=caller.actor, reason=body.reason)
    return Answer(await view_of(tx, template), version=template.version)


def _accepted(template: Template, usage: Mapping[tuple[str, str], int]) -> int | None:
    """Those for its channel and those for whichever suits; None where nothing is counted by template."""
    if not usage:
        return None
    return sum(usage.get((template.key, channel), 0) for channel in (template.channel, "auto"))


#: Every resource of this package.
RESOURCES: Sequence[Resource] = (
    templates,
    version_routes.versions,
    inspect_routes.inspection,
    asset_routes.assets,
    bundle_routes.bundles,
    layouts_routes.layouts,
)
