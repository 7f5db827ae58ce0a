"""Operations on zips of templates."""

import asyncio
from typing import Final

from tidings.kernel.audit.log import AuditLog
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.errors import WrongContentTypeError
from tidings.kernel.http.injection import OpenTx, OwnerTx
from tidings.kernel.http.own_address import OwnAddress
from tidings.kernel.http.requests import Request
from tidings.notify.templates.authoring import Authoring
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
from tidings.notify.templates.resource import template_resource
from tidings.notify.templates.wire import channel_of, key_of

bundles = template_resource()

_MEDIA_TYPE: Final = "application/zip"
_TAKEN_AS_ZIP: Final = (_MEDIA_TYPE, "application/x-zip-compressed", "application/octet-stream")


@bundles.post(
    "/import",
    body_limit=MOST_PACKED_BYTES,
    problems=["template_bundle_refused", "wrong_content_type", "body_too_large", "tenant_frozen"],
)
async def import_templates(
    open_tx: OpenTx[OwnerTx],
    query: ImportTemplatesQuery,
    request: Request,
    caller: Caller,
    own: OwnAddress,
    authoring: Authoring,
    audit: AuditLog,
    clock: Clock,
) -> ImportReport:
    """Take a zip of templates: a draft for each, all or none, with a report per file.

    The body is the zip itself, `Content-Type: application/zip`, up to 8 MiB; docs/template-files.md shows where each
    file lies. A version that is there and says the same stays as it is, a draft that says something else is replaced,
    and one that was published is refused. With `dry_run=true` nothing is written and nothing is refused: everything
    that would be is in the report.
    """
    _require_zip(request)
    unpacked, read = await asyncio.to_thread(_read, await request.body())
    imported = await import_bundle(
        open_tx,
        read,
        dry_run=query.dry_run,
        actor=caller.actor,
        own_hosts=own.hosts,
        engine=authoring.of(caller.tenant_id),
        audit=audit,
        clock=clock,
    )
    return report_of(unpacked, imported, dry_run=query.dry_run)


@bundles.get("/export", media_type=_MEDIA_TYPE, problems=["template_not_found"])
async def export_templates(open_tx: OpenTx[OwnerTx], query: ExportTemplatesQuery) -> Reply:
    """Give your templates as a zip, in the layout that import takes.

    Of each template the newest version that is a draft or in force; with `version=active` what is in force.
    `owner=platform` gives the platform's templates, to begin from.
    """
    file = await export_bundle(
        open_tx,
        key=None if query.key is None else key_of(query.key),
        channel=None if query.channel is None else channel_of(query.channel),
        drafts=query.version == "newest" and query.owner == "own",
        of_platform=query.owner == "platform",
    )
    return Reply(
        body=chunks(file),
        media_type=_MEDIA_TYPE,
        headers={"Content-Disposition": 'attachment; filename="templates.zip"'},
    )


def _read(packed: bytes) -> tuple[UnpackedFiles, ReadBundle]:
    unpacked = unpack(packed)
    if unpacked.findings:
        return unpacked, ReadBundle(templates=(), layouts={}, findings=unpacked.findings)
    return unpacked, read_bundle(unpacked.files)


def _require_zip(request: Request) -> None:
    said = request.headers("content-type")
    kind = said[0].partition(";")[0].strip().lower() if len(said) == 1 else ""
    if kind not in _TAKEN_AS_ZIP:
        raise WrongContentTypeError("the body has to be a zip: send `Content-Type: application/zip`")
