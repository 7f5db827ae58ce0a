"""Operations that look at versions without changing anything: the validator, the preview, the difference."""

from dataclasses import replace
from typing import Annotated

from msgspec import Meta, Struct

from tidings.contracts.ids import RECIPIENT
from tidings.contracts.prices import PriceList
from tidings.contracts.templates import TemplateFinding
from tidings.contracts.tenants import Channel
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx, OwnerTx
from tidings.kernel.http.own_address import OwnAddress
from tidings.kernel.http.requests import Request
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.channels import store as channels_store
from tidings.notify.facts.load import FactsLoader
from tidings.notify.facts.store import load_tenant
from tidings.notify.templates import assets_store, store
from tidings.notify.templates.authoring import Authoring
from tidings.notify.templates.diff import DiffView
from tidings.notify.templates.preview import Reader, preview, read_reader
from tidings.notify.templates.preview_page import HEADERS, page
from tidings.notify.templates.preview_wire import PreviewVersion, PreviewView
from tidings.notify.templates.read_version import in_surroundings
from tidings.notify.templates.resource import (
    TEMPLATE,
    UNKNOWN,
    VERSION,
    TemplateInPath,
    VersionInPath,
    template_resource,
)
from tidings.notify.templates.semver import Semver
from tidings.notify.templates.unsaved_changes import with_changes
from tidings.notify.templates.visible_templates import OwnerQuery, TemplateOwner, find_readable_version
from tidings.notify.templates.wire import ChangeVersion, SemverText

inspection = template_resource()


class ValidationView(Struct, frozen=True, kw_only=True):
    """What the validator says."""

    #: Whether it could be published.
    publishable: bool
    findings: tuple[TemplateFinding, ...]


class ValidateVersion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is to be looked at."""

    #: What is not saved yet, as `PATCH` would take it.
    changes: ChangeVersion | None = None


class DiffQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """Which two versions."""

    from_: SemverText
    to: Annotated[SemverText, Meta(description="The later one.")]
    #: Whose versions they are: your own where you have one, or else the platform's.
    from_owner: TemplateOwner | None = None
    to_owner: TemplateOwner | None = None


@inspection.post(
    f"{VERSION}/validate",
    verb="validate-version",
    writes=False,
    test_keys=True,
    problems=[*UNKNOWN, "too_much_checking", "render_interrupted"],
)
async def validate_version(
    open_tx: OpenTx[OwnerTx],
    name: VersionInPath,
    caller: Caller,
    own: OwnAddress,
    authoring: Authoring,
    body: ValidateVersion = ValidateVersion(),  # noqa: B008  # frozen
) -> ValidationView:
    """Say everything that is wrong with a version; writes nothing.

    Errors stand in the way of publishing, warnings do not. With `changes`: what would be wrong with them.
    """
    async with open_tx() as tx:
        template, version = await store.own_version(tx, name)
        changed = with_changes(version, body.changes)
        read = await in_surroundings(tx, template, changed, own_hosts=own.hosts)
    report = await read.validated(authoring.of(caller.tenant_id))
    return ValidationView(publishable=not report.errors, findings=report.findings)


@inspection.post(
    f"{VERSION}/preview",
    verb="preview-version",
    writes=False,
    test_keys=True,
    problems=[
        *UNKNOWN,
        "template_unpublishable",
        "invalid_variables",
        "recipient_not_found",
        "too_much_checking",
        "render_interrupted",
    ],
)
async def preview_version(
    open_tx: OpenTx[OwnerTx],
    name: VersionInPath,
    query: OwnerQuery,
    request: Request,
    caller: Caller,
    own: OwnAddress,
    authoring: Authoring,
    facts: FactsLoader,
    prices: PriceList,
    body: PreviewVersion = PreviewVersion(),  # noqa: B008  # frozen
) -> PreviewView | Reply:
    """Show what somebody would get.

    Of your own template where you have one, or else of the platform's; `owner` says which. With `changes` as it would
    be with them, with `branding` as if you looked so. With `Accept: text/html` the answer is a page that shows the message.
    """
    reader, vendor = Reader(), None
    async with open_tx() as tx:
        template, version = await find_readable_version(tx, name, query.owner)
        changed = with_changes(version, body.changes)
        read = await in_surroundings(tx, template, changed, own_hosts=own.hosts)
        assets = await assets_store.find_assets(tx, read.version)
        if body.recipient_id is not None:
            # A preview shows their name.
            if "recipients:read" not in caller.scopes:
                raise MissingScopeError("recipients:read")
            recipient_id = RECIPIENT.parse(body.recipient_id, field="recipient_id")
            reader = await read_reader(tx, recipient_id, channel=name.channel, loader=facts)
        if isinstance(tx, TenantTx):
            tenant = await load_tenant(tx)
            if body.branding is not None:
                tenant = replace(tenant, branding=body.branding)
            reader = replace(reader, brand=tenant.brand_on(name.channel))
            vendor = await _sms_vendor(tx, name.channel)
    made = await preview(read, body.spec(), reader, engine=authoring.of(caller.tenant_id), assets=assets)
    cost = None
    if vendor is not None and caller.tenant_id is not None:
        cost = await prices.of_text(caller.tenant_id, vendor, name.channel, made.rendered.text or "")
    view = PreviewView.of(made, body.width, cost)
    return Reply.page(page(view), headers=HEADERS) if _wants_page(request) else view


@inspection.get(f"{TEMPLATE}/diff", problems=[*UNKNOWN, "too_much_checking", "render_interrupted"])
async def show_diff(
    open_tx: OpenTx[OwnerTx], name: TemplateInPath, query: DiffQuery, caller: Caller, authoring: Authoring
) -> DiffView:
    """Show what is different between two versions.

    `from_owner=platform` compares the platform's version with your own.
    """
    before, after = Semver.parse(query.from_, field="from"), Semver.parse(query.to, field="to")
    async with open_tx() as tx:
        _, old = await find_readable_version(tx, name.version(before), query.from_owner)
        _, new = await find_readable_version(tx, name.version(after), query.to_owner)
    return await authoring.of(caller.tenant_id).diff(old, new)


async def _sms_vendor(tx: TenantTx, channel: Channel) -> str | None:
    """The vendor whose price an SMS has; the platform's own templates go through no vendor."""
    known = await channels_store.find_channels(tx, channels=[channel]) if channel == "sms" else []
    return known[0].vendor if known else None


def _wants_page(request: Request) -> bool:
    """Whether a page is what the caller names first."""
    accepted = ",".join(request.headers("accept")).lower()
    page_at, json_at = accepted.find("text/html"), accepted.find("application/json")
    return page_at != -1 and (json_at == -1 or page_at < json_at)
