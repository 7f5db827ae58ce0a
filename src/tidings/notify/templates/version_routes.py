"""Operations on the versions of a template: drafts are written, approved and published, versions put away."""

from functools import partial

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OpenTx, OwnerTx
from tidings.kernel.http.own_address import OwnAddress
from tidings.kernel.http.paging import Page, PageQuery, Paging
from tidings.kernel.refusals import StaleVersionError
from tidings.notify.templates import store
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.drafts import DraftChanger
from tidings.notify.templates.model import TemplateVersion
from tidings.notify.templates.publish import TemplatePublisher
from tidings.notify.templates.resolve import TemplateResolver
from tidings.notify.templates.resource import (
    TEMPLATE,
    UNKNOWN,
    VERSION,
    TemplateInPath,
    VersionInPath,
    template_resource,
    version_answer,
)
from tidings.notify.templates.unsaved_changes import spec_of
from tidings.notify.templates.visible_templates import (
    OwnerQuery,
    TemplateOwner,
    find_readable,
    find_readable_version,
)
from tidings.notify.templates.wire import (
    ChangeVersion,
    CreateVersion,
    PublishVersion,
    VersionContent,
    VersionSummary,
    VersionView,
)

versions = template_resource()


class VersionsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose versions, and which page."""

    owner: TemplateOwner | None = None


@versions.get(f"{TEMPLATE}/versions", listing="template_versions", problems=["template_not_found"])
async def list_versions(
    tx: OwnerTx, name: TemplateInPath, query: VersionsQuery, paging: Paging
) -> Page[VersionSummary]:
    """List the versions of a template, the newest first.

    Your own where you have one, or else the platform's, whose drafts no tenant sees; `owner` says which.
    """
    template = await find_readable(tx, name, query.owner)
    lines = await store.list_versions(
        tx,
        template_id=template.id,
        after_id=paging.after_id,
        limit=paging.fetch,
        of_platform=template.tenant_id is None,
    )
    return paging.page(lines, VersionSummary.of)


@versions.post(
    f"{TEMPLATE}/versions",
    verb="add-version",
    status=201,
    idempotent=True,
    problems=["template_version_taken"],
)
async def add_version(
    tx: OwnerTx, name: TemplateInPath, body: CreateVersion, caller: Caller, audit: AuditLog, clock: Clock
) -> Answer[VersionView]:
    """Add a version as a draft; the first one makes the template."""
    _, version = await create_version(tx, name, body.spec(), actor=caller.actor, audit=audit, clock=clock)
    return Answer(
        VersionView.of(version),
        version=version.version,
        location=f"/api/v1/templates/{name.key}/{name.channel}/versions/{version.semver}",
    )


@versions.get(VERSION, verb="version", problems=UNKNOWN)
async def show_version(tx: OwnerTx, name: VersionInPath, query: OwnerQuery) -> Answer[VersionView]:
    """Show a version with its texts.

    Your own where you have one, or else the platform's, whose drafts no tenant sees; `owner` says which.
    """
    _, version = await find_readable_version(tx, name, query.owner)
    return version_answer(version)


@versions.put(VERSION, verb="put-version", problems=[*UNKNOWN, "template_not_draft"])
async def replace_draft(
    tx: OwnerTx,
    name: VersionInPath,
    body: VersionContent,
    if_match: IfMatch,
    caller: Caller,
    changer: DraftChanger,
) -> Answer[VersionView]:
    """Replace what a draft says.

    An approval it had is gone: it was for the words before.
    """
    version = await changer.change(
        tx,
        name,
        spec_of(name.semver, body),
        expect=lambda version: if_match.expect(version.version),
        actor=caller.actor,
    )
    return version_answer(version)


@versions.patch(VERSION, verb="change-version", problems=[*UNKNOWN, "template_not_draft"])
async def change_parts(
    tx: OwnerTx,
    name: VersionInPath,
    body: ChangeVersion,
    if_match: IfMatch,
    caller: Caller,
    changer: DraftChanger,
) -> Answer[VersionView]:
    """Change parts of a draft.

    Each field that is given replaces that field; `locales` those locales that it names, null takes one away.
    """
    _, read = await store.own_version(tx, name)
    if_match.expect(read.version)

    def expect_same(version: TemplateVersion) -> None:
        if version.version != read.version:
            raise StaleVersionError

    version = await changer.change(
        tx, name, spec_of(name.semver, body.onto(read)), expect=expect_same, actor=caller.actor
    )
    return version_answer(version)


@versions.delete(VERSION, verb="delete-version", problems=[*UNKNOWN, "template_not_draft"])
async def remove_draft(
    tx: OwnerTx, name: VersionInPath, if_match: IfMatch, caller: Caller, changer: DraftChanger
) -> None:
    """Take a draft away."""
    await changer.delete(
        tx, name, expect=lambda version: if_match.expect(version.version), actor=caller.actor
    )


@versions.post(
    f"{VERSION}/approve",
    verb="approve-version",
    if_match="optional",
    problems=[*UNKNOWN, "template_not_draft", "approver_is_requester"],
)
async def approve_version(
    tx: OwnerTx,
    name: VersionInPath,
    if_match: IfMatch,
    caller: Caller,
    changer: DraftChanger,
    body: PublishVersion = PublishVersion(),  # noqa: B008  # frozen
) -> Answer[VersionView]:
    """Approve a draft: somebody other than its author has read it.

    What a machine has drafted can't be published without. With If-Match it is sure that what was read is what is
    approved.
    """
    version = await changer.approve(
        tx,
        name,
        expect=lambda version: if_match.expect(version.version),
        actor=caller.actor,
        reason=body.reason,
    )
    return version_answer(version)


@versions.post(
    f"{VERSION}/publish",
    verb="publish-version",
    problems=[
        *UNKNOWN,
        "template_not_draft",
        "approval_missing",
        "template_unpublishable",
        "too_much_checking",
        "render_interrupted",
    ],
)
async def publish_version(
    open_tx: OpenTx[OwnerTx],
    name: VersionInPath,
    caller: Caller,
    own: OwnAddress,
    authoring: Authoring,
    publisher: TemplatePublisher,
    cache: TemplateResolver,
    body: PublishVersion = PublishVersion(),  # noqa: B008  # frozen
) -> Answer[VersionView]:
    """Validate a draft, compile it and put it in force.

    Every fault of every locale is named at once. Publishing what is in force changes nothing.
    """
    version = await publisher.publish(
        open_tx,
        name,
        actor=caller.actor,
        reason=body.reason,
        own_hosts=own.hosts,
        engine=authoring.of(caller.tenant_id),
    )
    cache.invalidate(caller.tenant_id)
    return version_answer(version)


@versions.post(f"{VERSION}/archive", verb="archive-version", problems=UNKNOWN)
async def put_away(
    tx: OwnerTx,
    name: VersionInPath,
    caller: Caller,
    changer: DraftChanger,
    cache: TemplateResolver,
    after_commit: AfterCommit,
    body: PublishVersion = PublishVersion(),  # noqa: B008  # frozen
) -> Answer[VersionView]:
    """Put a version away.

    Of the version in force: nothing takes its place but the platform's template of this key, until something is
    published or rolled back to. What was accepted before is still sent with it.
    """
    after_commit(partial(cache.invalidate, caller.tenant_id))
    version = await changer.archive(tx, name, actor=caller.actor, reason=body.reason)
    return version_answer(version)
