"""What HTTP calls to take over the platform's templates, and to put whole templates away."""

from typing import Literal

from litestar import Response, post
from litestar.handlers import HTTPRouteHandler

from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.etags import etag
from tidings.kernel.http.once import Done, answer_once
from tidings.kernel.http.operations import deps_of, operation
from tidings.notify.templates.archive_template import set_status
from tidings.notify.templates.customise import customise
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.path_parameters import (
    SIDE,
    TAG,
    AnyRequest,
    begin,
    optional_body,
    template_asked,
)
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.visible_templates import view_of
from tidings.notify.templates.wire import Customise, CustomisedView, PublishVersion, TemplateView

_PATH = "/{key:str}/{channel:str}"


@post(
    f"{_PATH}/customise",
    **operation(
        summary="Copy the platform's template into a draft of your own.",
        tag=TAG,
        scope="templates:write",
        body=Customise,
        body_optional=True,
        answer=CustomisedView,
        status=201,
        headers=["Idempotency-Key"],
        problems=["template_not_found", "template_version_taken"],
        description="All locales, the schema, the samples and the pictures of the version in force. Once the draft is "
        "published it wins over the platform's; archive the template, and the platform's counts again. When the platform "
        "publishes a newer version, `platform_newer` names it, until you customise again or note it with `note_only`.",
    ),
)
async def customise_template(request: AnyRequest) -> Response[bytes]:
    """Customise."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted: Customise = await optional_body(request, Customise)
    caller = caller_of(request)
    async with deps.db.tenant(tenant_of(request), caller_role=caller.role) as tx:

        async def work() -> Done:
            made = await customise(
                tx,
                key=key,
                channel=channel,
                semver=None if wanted.semver is None else Semver.parse(wanted.semver),
                note_only=wanted.note_only,
                actor=caller.actor,
                audit=deps.audit,
                clock=deps.clock,
            )
            view = CustomisedView(
                key=key,
                channel=channel,
                customised_from=made.platform_semver,
                draft=None if made.draft is None else str(made.draft.semver),
            )
            return Done(status=201, body=view)

        return await answer_once(request, tx, deps.idempotency, work)


@post(
    f"{_PATH}/archive",
    **operation(
        summary="Put a whole template away.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=PublishVersion,
        body_optional=True,
        answer=TemplateView,
        problems=["template_not_found"],
        description="Nothing takes its place but the platform's template of this key. What was accepted before is still "
        "sent with it. `restore` brings it back as it was. " + SIDE,
    ),
)
async def archive_template(request: AnyRequest) -> Response[TemplateView]:
    """Archive a template."""
    return await _set(request, "archived")


@post(
    f"{_PATH}/restore",
    **operation(
        summary="Take an archived template back, as it was.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        body=PublishVersion,
        body_optional=True,
        answer=TemplateView,
        problems=["template_not_found"],
        description=SIDE,
    ),
)
async def restore_template(request: AnyRequest) -> Response[TemplateView]:
    """Restore a template."""
    return await _set(request, "active")


async def _set(request: AnyRequest, status: Literal["active", "archived"]) -> Response[TemplateView]:
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted: PublishVersion = await optional_body(request, PublishVersion)
    async with begin(request) as tx:
        template = await set_status(
            tx,
            status,
            key=key,
            channel=channel,
            actor=caller_of(request).actor,
            reason=wanted.reason,
            audit=deps.audit,
            clock=deps.clock,
        )
        view = await view_of(tx, template)
    deps.templates.invalidate()
    return Response(view, headers={"ETag": etag(template.version)})


HANDLERS: list[HTTPRouteHandler] = [customise_template, archive_template, restore_template]
