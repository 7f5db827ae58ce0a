"""What HTTP calls about a version that is not in force."""

from litestar import Response, delete, patch, post, put
from litestar.handlers import HTTPRouteHandler
from msgspec import structs

from tidings.kernel.http.bodies import read_body
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.etags import expect_version
from tidings.kernel.http.operations import deps_of, operation
from tidings.kernel.refusals import StaleVersionError
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.drafts import Expect, approve_draft, archive_version, change_draft, delete_draft
from tidings.notify.templates.model import TemplateVersion
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
from tidings.notify.templates.publish import find
from tidings.notify.templates.wire import (
    ChangeVersion,
    CreateVersion,
    PublishVersion,
    VersionContent,
    VersionView,
)

_PATH = "/{key:str}/{channel:str}/versions/{semver:str}"
_KNOWN = ["template_not_found", "template_version_not_found"]


@put(
    _PATH,
    **operation(
        summary="Replace what a draft says.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=VersionContent,
        answer=VersionView,
        headers=["If-Match"],
        problems=[*_KNOWN, "template_not_draft", "stale_version"],
        description="An approval it had is gone: it was for the words before. " + SIDE,
    ),
)
async def replace_draft(request: AnyRequest) -> Response[VersionView]:
    """Replace a draft."""
    content = await read_body(request, VersionContent)
    return await _changed(request, content)


@patch(
    _PATH,
    **operation(
        summary="Change parts of a draft.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=ChangeVersion,
        answer=VersionView,
        headers=["If-Match"],
        problems=[*_KNOWN, "template_not_draft", "stale_version"],
        description="Each field that is given replaces that field; `locales` those locales that it names, "
        "null takes one away. " + SIDE,
    ),
)
async def change_parts(request: AnyRequest) -> Response[VersionView]:
    """Change parts of a draft."""
    change = await read_body(request, ChangeVersion)
    key, channel = template_asked(request)
    async with begin(request) as tx:
        _, version = await find(tx, key=key, channel=channel, semver=semver_asked(request))
    _expect(request)(version)
    return await _changed(request, change.onto(version), seen=version.version)


@delete(
    _PATH,
    **operation(
        summary="Take a draft away.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        status=204,
        headers=["If-Match"],
        problems=[*_KNOWN, "template_not_draft", "stale_version"],
        description=SIDE,
    ),
)
async def remove_draft(request: AnyRequest) -> None:
    """Delete a draft."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    async with begin(request) as tx:
        await delete_draft(
            tx,
            key=key,
            channel=channel,
            semver=semver_asked(request),
            expect=_expect(request),
            actor=caller_of(request).actor,
            audit=deps.audit,
        )


@post(
    f"{_PATH}/approve",
    **operation(
        summary="Approve a draft: somebody other than its author has read it.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=PublishVersion,
        body_optional=True,
        answer=VersionView,
        headers=["If-Match"],
        if_match="optional",
        problems=[*_KNOWN, "template_not_draft", "approver_is_requester"],
        description="What a machine has drafted can't be published without. With If-Match it is sure that what was "
        "read is what is approved. " + SIDE,
    ),
)
async def approve_version(request: AnyRequest) -> Response[VersionView]:
    """Approve a draft."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted = await optional_body(request, PublishVersion)
    async with begin(request) as tx:
        version = await approve_draft(
            tx,
            key=key,
            channel=channel,
            semver=semver_asked(request),
            expect=_expect(request, required=False),
            actor=caller_of(request).actor,
            reason=wanted.reason,
            audit=deps.audit,
            clock=deps.clock,
        )
    return shown(version)


@post(
    f"{_PATH}/archive",
    **operation(
        summary="Put a version away.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=PublishVersion,
        body_optional=True,
        answer=VersionView,
        problems=_KNOWN,
        description="Of the version in force: nothing takes its place but the platform's template of this key, until "
        "something is published or rolled back to. What was accepted before is still sent with it. " + SIDE,
    ),
)
async def put_away(request: AnyRequest) -> Response[VersionView]:
    """Archive a version."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted = await optional_body(request, PublishVersion)
    async with begin(request) as tx:
        version = await archive_version(
            tx,
            key=key,
            channel=channel,
            semver=semver_asked(request),
            actor=caller_of(request).actor,
            reason=wanted.reason,
            audit=deps.audit,
            clock=deps.clock,
        )
    deps.templates.invalidate()
    return shown(version)


async def _changed(
    request: AnyRequest, content: VersionContent, *, seen: int | None = None
) -> Response[VersionView]:
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wish = CreateVersion(semver=semver_asked(request), **structs.asdict(content)).wish()
    async with begin(request) as tx:
        version = await change_draft(
            tx,
            wish,
            key=key,
            channel=channel,
            expect=_expect(request) if seen is None else _same(seen),
            actor=caller_of(request).actor,
            audit=deps.audit,
            clock=deps.clock,
        )
    return shown(version)


def _expect(request: AnyRequest, *, required: bool = True) -> Expect:
    return lambda version: expect_version(request.scope, version.version, required=required)


def _same(seen: int) -> Expect:
    def expect(version: TemplateVersion) -> None:
        if version.version != seen:
            raise StaleVersionError

    return expect


HANDLERS: list[HTTPRouteHandler] = [replace_draft, change_parts, remove_draft, approve_version, put_away]
