"""What HTTP calls about templates: a tenant's own, or the platform's for a platform key that names no tenant."""

from litestar import Response, Router, get, post
from msgspec import Struct

from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.etags import etag
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.notify.templates import (
    asset_routes,
    customise_routes,
    draft_routes,
    inspect_routes,
    report_answers,
    store,
)
from tidings.notify.templates.bundle import routes as bundle_routes
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.layouts_routes import layout_router
from tidings.notify.templates.model import Template
from tidings.notify.templates.path_parameters import (
    SIDE,
    TAG,
    AnyRequest,
    begin,
    optional_body,
    semver_asked,
    shown,
    template_asked,
)
from tidings.notify.templates.publish import publish
from tidings.notify.templates.rollback import roll_back
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.visible_templates import Owner, find_readable, find_readable_version, view_of
from tidings.notify.templates.wire import (
    CreateVersion,
    PublishVersion,
    RollBack,
    TemplateView,
    VersionSummary,
    VersionView,
)

_LISTING = "template_versions"
_OWNER = (
    "Your own where you have one, or else the platform's, whose drafts no tenant sees; `owner` says which."
)


class OwnerQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose template is meant."""

    owner: Owner | None = None


class VersionsQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose versions, and which page."""

    owner: Owner | None = None


@get(
    "/{key:str}/{channel:str}",
    **operation(
        summary="Show the template that is used: your own, or the platform's where you have none.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=OwnerQuery,
        answer=TemplateView,
        problems=["template_not_found"],
        description="With `owner=platform` the platform's, also where you have one of your own. "
        "`platform_newer` names a version that the platform has published since you customised it.",
    ),
)
async def show_template(request: AnyRequest) -> Response[TemplateView]:
    """Show a template."""
    query = read_query(request, OwnerQuery)
    async with begin(request) as tx:
        template = await _template(request, tx, query.owner)
        view = await view_of(tx, template)
    return Response(view, headers={"ETag": etag(template.version)})


@get(
    "/{key:str}/{channel:str}/versions",
    **operation(
        summary="List the versions of a template, the newest first.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=VersionsQuery,
        answer=Page[VersionSummary],
        problems=["template_not_found"],
        description=f"{_OWNER} {SIDE}",
    ),
)
async def list_versions(request: AnyRequest) -> Page[VersionSummary]:
    """List versions."""
    query = read_query(request, VersionsQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    key, channel = template_asked(request)
    async with begin(request) as tx:
        template = await find_readable(tx, key=key, channel=channel, owner=query.owner)
        lines = await store.list_versions(
            tx,
            template_id=template.id,
            after_id=after.id if after else None,
            limit=query.limit + 1,
            of_platform=template.tenant_id is None,
        )
    return page_of(
        lines, limit=query.limit, listing=_LISTING, id_of=lambda line: line.id, render=VersionSummary.of
    )


@post(
    "/{key:str}/{channel:str}/versions",
    **operation(
        summary="Add a version as a draft; the first one makes the template.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=CreateVersion,
        answer=VersionView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["template_version_taken"],
        description=SIDE,
    ),
)
async def add_version(request: AnyRequest) -> Response[bytes]:
    """Add a version."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wish = (await read_body(request, CreateVersion)).wish()
    async with begin(request) as tx:

        async def work() -> Done:
            _, version = await create_version(
                tx,
                wish,
                key=key,
                channel=channel,
                actor=caller_of(request).actor,
                audit=deps.audit,
                clock=deps.clock,
            )
            path = f"/api/v1/templates/{key}/{channel}/versions/{version.semver}"
            headers = {"ETag": etag(version.version), "Location": path}
            return Done(status=201, body=VersionView.of(version), headers=headers)

        return await answer_once(request, tx, deps.idempotency, work)


@get(
    "/{key:str}/{channel:str}/versions/{semver:str}",
    **operation(
        summary="Show a version with its texts.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=OwnerQuery,
        answer=VersionView,
        problems=["template_not_found", "template_version_not_found"],
        description=f"{_OWNER} {SIDE}",
    ),
)
async def show_version(request: AnyRequest) -> Response[VersionView]:
    """Show a version."""
    key, channel = template_asked(request)
    owner = read_query(request, OwnerQuery).owner
    async with begin(request) as tx:
        _, version = await find_readable_version(
            tx, key=key, channel=channel, semver=semver_asked(request), owner=owner
        )
    return shown(version)


@post(
    "/{key:str}/{channel:str}/versions/{semver:str}/publish",
    **operation(
        summary="Validate a draft, compile it and put it in force.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=PublishVersion,
        body_optional=True,
        answer=VersionView,
        problems=[
            "template_not_found",
            "template_version_not_found",
            "template_not_draft",
            "approval_missing",
            "template_unpublishable",
            "too_much_checking",
            "render_interrupted",
        ],
        description="Every fault of every locale is named at once. Publishing what is in force changes nothing. "
        + SIDE,
    ),
)
async def publish_version(request: AnyRequest) -> Response[VersionView]:
    """Publish a version."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted = await optional_body(request, PublishVersion)
    version = await publish(
        lambda: begin(request),
        key=key,
        channel=channel,
        semver=semver_asked(request),
        actor=caller_of(request).actor,
        reason=wanted.reason,
        own_hosts=deps.own_hosts,
        engine=deps.engine.of(caller_of(request).tenant_id),
        outbox=deps.outbox,
        audit=deps.audit,
        clock=deps.clock,
    )
    deps.templates.invalidate()
    return shown(version)


@post(
    "/{key:str}/{channel:str}/rollback",
    **operation(
        summary="Put an earlier version in force again.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=RollBack,
        body_optional=True,
        answer=VersionView,
        problems=["template_not_found", "template_version_not_found", "nothing_to_roll_back_to"],
        description="Without `to` it is the version that the present one took the place of. " + SIDE,
    ),
)
async def roll_back_template(request: AnyRequest) -> Response[VersionView]:
    """Roll back."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted = await optional_body(request, RollBack)
    async with begin(request) as tx:
        version = await roll_back(
            tx,
            key=key,
            channel=channel,
            to=None if wanted.to is None else str(Semver.parse(wanted.to, field="to")),
            actor=caller_of(request).actor,
            reason=wanted.reason,
            outbox=deps.outbox,
            audit=deps.audit,
            clock=deps.clock,
        )
    deps.templates.invalidate()
    return shown(version)


async def _template(request: AnyRequest, tx: store.Side, owner: Owner | None) -> Template:
    key, channel = template_asked(request)
    if owner is not None:
        return await find_readable(tx, key=key, channel=channel, owner=owner)
    own = await store.find_template(tx, key=key, channel=channel)
    if own is not None and own.active_version_id is not None:
        return own
    shared = await store.find_platform_template(tx, key=key, channel=channel)
    # A template of one's own that is not published yet does not stand in for the platform's.
    found = shared if shared is not None and shared.active_version_id is not None else own or shared
    if found is None:
        raise UnknownTemplateError(f"there is no template {key} for {channel}")
    return found


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [
        *inspect_routes.HANDLERS,
        show_template,
        list_versions,
        add_version,
        show_version,
        *draft_routes.HANDLERS,
        *asset_routes.HANDLERS,
        publish_version,
        roll_back_template,
        *customise_routes.HANDLERS,
        *bundle_routes.HANDLERS,
    ]
    templates = Router(
        "/api/v1/templates",
        route_handlers=handlers,
        exception_handlers=report_answers.HANDLERS,
        opt=given(deps),
    )
    return [templates, layout_router(deps)]
