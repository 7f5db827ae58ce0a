"""What HTTP calls to look at versions without changing anything: the list, the validator, the preview, the difference."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from msgspec import Meta, Struct

from tidings.contracts.ids import RECIPIENT
from tidings.contracts.prices import MessageCost
from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.operations import deps_of, operation
from tidings.kernel.http.paging import Page, PageQuery, page_of, read_cursor
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.channels import store as channels_store
from tidings.notify.facts.store import load_tenant
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.diff import DiffView
from tidings.notify.templates.model import Template, VersionStatus
from tidings.notify.templates.path_parameters import (
    SIDE,
    TAG,
    AnyRequest,
    begin,
    optional_body,
    semver_asked,
    template_asked,
)
from tidings.notify.templates.preview import Reader, preview, read_reader
from tidings.notify.templates.preview_page import HEADERS, page
from tidings.notify.templates.preview_wire import PreviewVersion, PreviewView
from tidings.notify.templates.publish import in_surroundings, read_version
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.visible_templates import Owner, find_readable_version
from tidings.notify.templates.wire import SemverText, TemplateSummary, key_of

_LISTING = "templates"
_PATH = "/{key:str}/{channel:str}"
_KNOWN = ["template_not_found", "template_version_not_found"]


class TemplateQuery(PageQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which templates are wanted."""

    key: str | None = None
    channel: Channel | None = None
    #: `active`: something is in force; else the state of the latest version.
    status: VersionStatus | None = None


class ValidationView(Struct, frozen=True, kw_only=True):
    """What the validator says."""

    #: Whether it could be published.
    publishable: bool
    findings: tuple[TemplateFinding, ...]


class DiffQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """Which two versions."""

    from_: SemverText
    to: Annotated[SemverText, Meta(description="The later one.")]
    #: Whose versions they are: your own where you have one, or else the platform's.
    from_owner: Owner | None = None
    to_owner: Owner | None = None


class PreviewQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose template is shown."""

    owner: Owner | None = None


@get(
    "/",
    **operation(
        summary="List templates, the newest first: your own, and the platform's.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=TemplateQuery,
        answer=Page[TemplateSummary],
        description="Your own wins over the platform's of the same key and channel once it is published. "
        + SIDE,
    ),
)
async def list_templates(request: AnyRequest) -> Page[TemplateSummary]:
    """List templates."""
    query = read_query(request, TemplateQuery)
    after = read_cursor(query.cursor, listing=_LISTING)
    async with begin(request) as tx:
        lines = await store.list_templates(
            tx,
            key=None if query.key is None else key_of(query.key),
            channel=query.channel,
            status=query.status,
            after_id=after.id if after else None,
            limit=query.limit + 1,
        )
        usage = await store.usage(tx, day=deps_of(request, Deps).clock.now().date())
    return page_of(
        lines,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda line: line.template.id,
        render=lambda line: TemplateSummary.of(line, _accepted(line.template, usage)),
    )


@post(
    f"{_PATH}/versions/{{semver:str}}/validate",
    **operation(
        summary="Say everything that is wrong with a version; writes nothing.",
        tag=TAG,
        scope="templates:read",
        test_keys=True,
        tenant=TenantNeed.OPTIONAL,
        writes=False,
        answer=ValidationView,
        problems=[*_KNOWN, "too_much_checking", "render_interrupted"],
        description="Errors stand in the way of publishing, warnings do not. " + SIDE,
    ),
)
async def validate_version(request: AnyRequest) -> ValidationView:
    """Validate a version."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    async with begin(request) as tx:
        read = await read_version(
            tx, key=key, channel=channel, semver=semver_asked(request), own_hosts=deps.own_hosts
        )
    report = await read.validated(deps.engine.of(caller_of(request).tenant_id))
    return ValidationView(publishable=not report.errors, findings=report.findings)


@post(
    f"{_PATH}/versions/{{semver:str}}/preview",
    **operation(
        summary="Show what somebody would get.",
        tag=TAG,
        scope="templates:read",
        test_keys=True,
        tenant=TenantNeed.OPTIONAL,
        writes=False,
        query=PreviewQuery,
        body=PreviewVersion,
        body_optional=True,
        answer=PreviewView,
        problems=[
            *_KNOWN,
            "template_unpublishable",
            "invalid_variables",
            "recipient_not_found",
            "too_much_checking",
            "render_interrupted",
        ],
        description="Of your own template where you have one, or else of the platform's; `owner` says which. With `Accept: text/html` the answer is a page that shows the message. "
        + SIDE,
    ),
)
async def preview_version(request: AnyRequest) -> Response[PreviewView] | Response[str]:
    """Preview a version."""
    deps = deps_of(request, Deps)
    key, channel = template_asked(request)
    wanted: PreviewVersion = await optional_body(request, PreviewVersion)
    reader = Reader()
    owner = read_query(request, PreviewQuery).owner
    async with begin(request) as tx:
        found = await find_readable_version(
            tx, key=key, channel=channel, semver=semver_asked(request), owner=owner
        )
        read = await in_surroundings(tx, *found, own_hosts=deps.own_hosts)
        assets = await assets_store.find_assets(tx, read.version)
        if wanted.recipient_id is not None:
            # A preview shows their name.
            if "recipients:read" not in caller_of(request).scopes:
                raise MissingScopeError("recipients:read")
            recipient_id = RECIPIENT.parse(wanted.recipient_id, field="recipient_id")
            reader = await read_reader(tx, recipient_id, channel=channel, loader=deps.facts)
        if isinstance(tx, TenantTx):
            reader = replace(reader, brand=(await load_tenant(tx)).brand_on(channel))
    made = await preview(
        read, wanted.wish(), reader, engine=deps.engine.of(caller_of(request).tenant_id), assets=assets
    )
    view = PreviewView.of(made, wanted.width, await _cost(request, channel, made.rendered.text))
    if _wants_page(request):
        return Response(page(view), media_type="text/html", headers=HEADERS)
    return Response(view)


@get(
    f"{_PATH}/diff",
    **operation(
        summary="Show what is different between two versions.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=DiffQuery,
        answer=DiffView,
        problems=[*_KNOWN, "too_much_checking", "render_interrupted"],
        description="`from_owner=platform` compares the platform's version with your own. " + SIDE,
    ),
)
async def show_diff(request: AnyRequest) -> DiffView:
    """Compare two versions."""
    key, channel = template_asked(request)
    query = read_query(request, DiffQuery)
    before, after = Semver.parse(query.from_, field="from"), Semver.parse(query.to, field="to")
    async with begin(request) as tx:
        _, old = await find_readable_version(
            tx, key=key, channel=channel, semver=str(before), owner=query.from_owner
        )
        _, new = await find_readable_version(
            tx, key=key, channel=channel, semver=str(after), owner=query.to_owner
        )
    return await deps_of(request, Deps).engine.of(caller_of(request).tenant_id).diff(old, new)


def _accepted(template: Template, usage: Mapping[tuple[str, str], int]) -> int | None:
    """Those for its channel and those for whichever suits; None where nothing is counted by template."""
    if not usage:
        return None
    return sum(usage.get((template.key, channel), 0) for channel in (template.channel, "auto"))


async def _cost(request: AnyRequest, channel: str, text: str | None) -> MessageCost | None:
    """What an SMS costs through the tenant's vendor; the platform's own templates go through nobody's."""
    deps, tenant_id = deps_of(request, Deps), caller_of(request).tenant_id
    if channel != "sms" or deps.prices is None or tenant_id is None:
        return None
    async with deps.db.tenant(tenant_id, caller_role=caller_of(request).role) as tx:
        found = await channels_store.find_channels(tx, channels=[channel])
    return await deps.prices.of_text(tenant_id, found[0].vendor, channel, text or "") if found else None


def _wants_page(request: AnyRequest) -> bool:
    """Whether a page is what the caller names first."""
    accepted = ",".join(headers(request.scope, b"accept")).lower()
    page_at, json_at = accepted.find("text/html"), accepted.find("application/json")
    return page_at != -1 and (json_at == -1 or page_at < json_at)


HANDLERS: list[HTTPRouteHandler] = [list_templates, validate_version, preview_version, show_diff]
