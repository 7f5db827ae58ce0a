"""What HTTP calls about zips of templates."""

import asyncio
from typing import Final

from litestar import get, post
from litestar.response import Stream

from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import body_of, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of
from tidings.kernel.http.errors import WrongContentTypeError
from tidings.kernel.http.operations import deps_of, operation
from tidings.notify.templates.bundle.archive import MOST_PACKED_BYTES, UnpackedFiles, unpack
from tidings.notify.templates.bundle.export_bundle import chunks, export_bundle
from tidings.notify.templates.bundle.import_bundle import import_bundle
from tidings.notify.templates.bundle.read import ReadBundle, read_bundle
from tidings.notify.templates.bundle.wire import (
    ExportTemplatesQuery,
    ImportReport,
    ImportTemplatesQuery,
    report_of,
)
from tidings.notify.templates.deps import Deps
from tidings.notify.templates.path_parameters import SIDE, TAG, AnyRequest, begin
from tidings.notify.templates.wire import channel_of, key_of

_MEDIA_TYPE: Final = "application/zip"
_TAKEN_AS_ZIP: Final = (_MEDIA_TYPE, "application/x-zip-compressed", "application/octet-stream")
#: Zips may be longer than other bodies.
BODY_LIMITS: Final = {"/api/v1/templates/import": MOST_PACKED_BYTES}


@post(
    "/import",
    **operation(
        summary="Take a zip of templates: a draft for each, all or none, with a report per file.",
        tag=TAG,
        scope="templates:write",
        tenant=TenantNeed.OPTIONAL,
        query=ImportTemplatesQuery,
        answer=ImportReport,
        problems=["template_bundle_refused", "wrong_content_type", "body_too_large", "tenant_frozen"],
        description="The body is the zip itself, `Content-Type: application/zip`, up to 8 MiB; "
        "docs/template-files.md shows where each file lies. "
        "A version that is there and says the same stays as it is, a draft that says something else is replaced, "
        "and one that was published is refused. With `dry_run=true` nothing is written and nothing is refused: "
        "everything that would be is in the report. " + SIDE,
    ),
)
async def import_templates(request: AnyRequest) -> ImportReport:
    """Import a zip."""
    deps, query = deps_of(request, Deps), read_query(request, ImportTemplatesQuery)
    _require_zip(request)
    unpacked, read = await asyncio.to_thread(_read, await body_of(request))
    imported = await import_bundle(
        lambda: begin(request),
        read,
        dry_run=query.dry_run,
        actor=caller_of(request).actor,
        own_hosts=deps.own_hosts,
        engine=deps.engine.of(caller_of(request).tenant_id),
        audit=deps.audit,
        clock=deps.clock,
    )
    return report_of(unpacked, imported, dry_run=query.dry_run)


@get(
    "/export",
    **operation(
        summary="Give your templates as a zip, in the layout that import takes.",
        tag=TAG,
        scope="templates:read",
        tenant=TenantNeed.OPTIONAL,
        query=ExportTemplatesQuery,
        media_type=_MEDIA_TYPE,
        problems=["template_not_found"],
        description="Of each template the newest version that is a draft or in force; with `version=active` what is "
        "in force. `owner=platform` gives the platform's templates, to begin from. " + SIDE,
    ),
)
async def export_templates(request: AnyRequest) -> Stream:
    """Export a zip."""
    query = read_query(request, ExportTemplatesQuery)
    file = await export_bundle(
        lambda: begin(request),
        key=None if query.key is None else key_of(query.key),
        channel=None if query.channel is None else channel_of(query.channel),
        drafts=query.version == "newest" and query.owner == "own",
        of_platform=query.owner == "platform",
    )
    return Stream(
        chunks(file),
        media_type=_MEDIA_TYPE,
        headers={"Content-Disposition": 'attachment; filename="templates.zip"'},
    )


def _read(packed: bytes) -> tuple[UnpackedFiles, ReadBundle]:
    unpacked = unpack(packed)
    if unpacked.findings:
        return unpacked, ReadBundle(templates=(), layouts={}, findings=unpacked.findings)
    return unpacked, read_bundle(unpacked.files)


def _require_zip(request: AnyRequest) -> None:
    said = headers(request.scope, b"content-type")
    kind = said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""
    if kind not in _TAKEN_AS_ZIP:
        raise WrongContentTypeError("the body has to be a zip: send `Content-Type: application/zip`")


#: For the router of templates.
HANDLERS: Final = (import_templates, export_templates)
