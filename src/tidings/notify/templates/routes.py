"""What HTTP calls about templates: a tenant's own, or the platform's for a platform key that names no tenant."""

from contextlib import AbstractAsyncContextManager
from typing import Any

from litestar import Request, Response, Router, get, post

from tidings.kernel.http.bodies import body_of, decode, read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.etags import etag
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.notify.templates import store
from tidings.notify.templates.create_version import create_version
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.errors import UnknownTemplateError
from tidings.notify.templates.model import Template, Version
from tidings.notify.templates.publish import find, publish
from tidings.notify.templates.rollback import roll_back
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.wire import (
    CreateVersion,
    PublishVersion,
    RollBack,
    TemplateView,
    VersionSummary,
    VersionView,
    channel_of,
    key_of,
)

_TAG = "templates"
_LISTING = "template_versions"
_SIDE = "A platform key that names no tenant works on the platform's templates."

AnyRequest = Request[Any, Any, Any]


@get(
    "/{key:str}/{channel:str}",
    **operation(
        summary="Show the template that is used: your own, or the platform's where you have none.",
        tag=_TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        answer=TemplateView,
        problems=["template_not_found"],
    ),
)
async def show_template(request: AnyRequest) -> Response[TemplateView]:
    """Show a template."""
    async with _begin(request) as tx:
        template = await _template(request, tx)
        active = None
        if template.active_version_id is not None:
            active = await _semver(tx, template)
    return Response(TemplateView.of(template, active), headers={"ETag": etag(template.version)})


@get(
    "/{key:str}/{channel:str}/versions",
    **operation(
        summary="List the versions of a template, the newest first.",
        tag=_TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=PageQuery,
        answer=Page[VersionSummary],
        problems=["template_not_found"],
        description=_SIDE,
    ),
)
async def list_versions(request: AnyRequest) -> Page[VersionSummary]:
    """List versions."""
    query = read_query(request, PageQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _begin(request) as tx:
        template = await _own_template(request, tx)
        lines = await store.list_versions(
            tx, template_id=template.id, after_id=after.id if after else None, limit=query.limit + 1
        )
    return page_of(
        lines, limit=query.limit, listing=_LISTING, id_of=lambda line: line.id, render=VersionSummary.of
    )


@post(
    "/{key:str}/{channel:str}/versions",
    **operation(
        summary="Add a version as a draft; the first one makes the template.",
        tag=_TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=CreateVersion,
        answer=VersionView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["template_version_taken"],
        description=_SIDE,
    ),
)
async def add_version(request: AnyRequest) -> Response[bytes]:
    """Add a version."""
    deps = deps_of(request, Deps)
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    wish = (await read_body(request, CreateVersion)).wish()
    async with _begin(request) as tx:

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
        tag=_TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        answer=VersionView,
        problems=["template_not_found", "template_version_not_found"],
        description=_SIDE,
    ),
)
async def show_version(request: AnyRequest) -> Response[VersionView]:
    """Show a version."""
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    async with _begin(request) as tx:
        _, version = await find(tx, key=key, channel=channel, semver=_semver_of(request))
    return _shown(version)


@post(
    "/{key:str}/{channel:str}/versions/{semver:str}/publish",
    **operation(
        summary="Validate a draft, compile it and put it in force.",
        tag=_TAG,
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
        ],
        description="Every fault of every locale is named at once. Publishing what is in force changes nothing. "
        + _SIDE,
    ),
)
async def publish_version(request: AnyRequest) -> Response[VersionView]:
    """Publish a version."""
    deps = deps_of(request, Deps)
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    wanted = await _optional(request, PublishVersion)
    version = await publish(
        lambda: _begin(request),
        key=key,
        channel=channel,
        semver=_semver_of(request),
        actor=caller_of(request).actor,
        reason=wanted.reason,
        own_hosts=deps.own_hosts,
        engine=deps.engine,
        outbox=deps.outbox,
        audit=deps.audit,
        clock=deps.clock,
    )
    deps.templates.invalidate()
    return _shown(version)


@post(
    "/{key:str}/{channel:str}/rollback",
    **operation(
        summary="Put an earlier version in force again.",
        tag=_TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=RollBack,
        body_optional=True,
        answer=VersionView,
        problems=["template_not_found", "template_version_not_found", "nothing_to_roll_back_to"],
        description="Without `to` it is the version that the present one took the place of. " + _SIDE,
    ),
)
async def roll_back_template(request: AnyRequest) -> Response[VersionView]:
    """Roll back."""
    deps = deps_of(request, Deps)
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    wanted = await _optional(request, RollBack)
    async with _begin(request) as tx:
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
    return _shown(version)


def _begin(request: AnyRequest) -> AbstractAsyncContextManager[store.Side]:
    # The role goes with it: the database too lets a caller who may only read do no more.
    caller, db = caller_of(request), deps_of(request, Deps).db
    if caller.tenant_id is None:
        return db.platform(caller_role=caller.role)
    return db.tenant(caller.tenant_id, caller_role=caller.role)


async def _template(request: AnyRequest, tx: store.Side) -> Template:
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    own = await store.find_template(tx, key=key, channel=channel)
    if own is not None and own.active_version_id is not None:
        return own
    shared = await store.find_platform_template(tx, key=key, channel=channel)
    # A template of one's own that is not published yet does not stand in for the platform's.
    found = shared if shared is not None and shared.active_version_id is not None else own or shared
    if found is None:
        raise UnknownTemplateError(f"there is no template {key} for {channel}")
    return found


async def _own_template(request: AnyRequest, tx: store.Side) -> Template:
    key, channel = key_of(request.path_params["key"]), channel_of(request.path_params["channel"])
    own = await store.find_template(tx, key=key, channel=channel)
    if own is None:
        raise UnknownTemplateError(f"there is no template {key} for {channel} of your own")
    return own


async def _semver(tx: store.Side, template: Template) -> str | None:
    if template.active_version_id is None:
        return None
    return await store.find_semver(tx, id=template.active_version_id, of_platform=template.tenant_id is None)


def _semver_of(request: AnyRequest) -> str:
    return str(Semver.parse(str(request.path_params["semver"])))


async def _optional(request: AnyRequest, wanted: type[Any]) -> Any:
    return await read_body(request, wanted) if await body_of(request) else decode(b"{}", wanted)


def _shown(version: Version) -> Response[VersionView]:
    return Response(VersionView.of(version), headers={"ETag": etag(version.version)})


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    handlers = [show_template, list_versions, add_version, show_version, publish_version, roll_back_template]
    return [Router("/api/v1/templates", route_handlers=handlers, opt=given(deps))]
