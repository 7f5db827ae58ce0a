"""Operations on imports: files of suppressions, recipients and preferences."""

from collections.abc import AsyncIterator

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.csv_text import csv_lines
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import ANY_CALLER, Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.once import idempotency_key
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.kernel.idempotency import HEADER
from tidings.kernel.ids import TenantId
from tidings.kernel.outbox import Outbox
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.categories.registry import Categories
from tidings.notify.ids import ImportId
from tidings.notify.imports import store
from tidings.notify.imports.engine import Importer
from tidings.notify.imports.errors import UnknownImportError
from tidings.notify.imports.model import Import, ImportKind, ImportRequest
from tidings.notify.imports.preference_target import PreferenceTarget
from tidings.notify.imports.recipient_target import RecipientTarget
from tidings.notify.imports.suppression_target import SuppressionImportOptions, SuppressionTarget
from tidings.notify.imports.target import Target
from tidings.notify.imports.upload import TYPES, UploadLimit, require_table
from tidings.notify.imports.wire import (
    ImportPreferences,
    ImportQuery,
    ImportSuppressions,
    ImportView,
    ListImports,
)
from tidings.notify.recipients.upsert import RecipientUpserter
from tidings.notify.suppressions.suppress import Suppressor

_TAG = "imports"
imports = Resource("imports", at="/imports", tag=_TAG)
suppression_imports = Resource("suppressions", at="/suppressions", tag=_TAG, scope="suppressions")
recipient_imports = Resource("recipients", at="/recipients", tag=_TAG, scope="recipients")
preference_imports = Resource("preferences", at="/preferences", tag=_TAG, scope="recipients")

#: How many problems an answer shows at once, and how many the report reads at a time.
_SHOWN = 20
_PART = 2_000
#: Which scope an import of a kind is seen with.
_READ = {
    ImportKind.SUPPRESSIONS: "suppressions:read",
    ImportKind.RECIPIENTS: "recipients:read",
    ImportKind.PREFERENCES: "recipients:read",
}
_HOW = (
    "The body is the file (`text/csv`, or `application/x-ndjson`), read as it arrives. "
    "Lines that can't be taken are reported by line, column and code, and hold up no other. "
    "Doing it again changes nothing. With an `Idempotency-Key` an import that broke off goes on where it stood: "
    "send the same file with the same key."
)
#: What all of them declare.
_FILE = {
    "upload": TYPES,
    "body_limit": UploadLimit,
    "headers": [HEADER],
    "problems": ["import_taken_over", "import_other_file", "too_busy", "tenant_frozen"],
}


@suppression_imports.post("/import", description=_HOW, **_FILE)
@suppression_imports.post(
    "/import",
    name="import_suppressions_for_tenant",
    owner=Owner.NAMED_TENANT,
    summary="Suppress all addresses in a file, for a tenant that comes from another service.",
    description=_HOW,
    **_FILE,
)
async def import_suppressions(
    request: Request,
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    query: ImportSuppressions,
    caller: Caller,
    importer: Importer,
    suppressor: Suppressor,
    clock: Clock,
) -> ImportView:
    """Suppress all addresses in a file."""
    options = SuppressionImportOptions(
        format=query.format,
        mapping=query.columns(),
        channel=query.channel,
        reason=query.reason,
        emit_events=query.emit_events == "true",
    )
    order = _order(
        request, tenant_id, caller, ImportKind.SUPPRESSIONS, query, emit_events=options.emit_events
    )
    target = SuppressionTarget(suppressor, clock, options)
    return await _run(request, open_tx, importer, order, target)


@recipient_imports.post("/import", description=_HOW, **_FILE)
async def import_recipients(
    request: Request,
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    query: ImportQuery,
    caller: Caller,
    importer: Importer,
    upserter: RecipientUpserter,
) -> ImportView:
    """Make all recipients in a file known, or bring them up to date."""
    order = _order(request, tenant_id, caller, ImportKind.RECIPIENTS, query)
    return await _run(request, open_tx, importer, order, RecipientTarget(upserter))


@preference_imports.post(
    "/import",
    description=f"Merged into what they chose before; recipients have to be known. {_HOW}",
    **_FILE,
)
async def import_preferences(
    request: Request,
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    query: ImportPreferences,
    caller: Caller,
    importer: Importer,
    categories: Categories,
    outbox: Outbox,
    clock: Clock,
) -> ImportView:
    """Take in what recipients chose, from a file."""
    emit_events = query.emit_events == "true"
    order = _order(request, tenant_id, caller, ImportKind.PREFERENCES, query, emit_events=emit_events)
    target = PreferenceTarget(
        categories=await categories.of(tenant_id), outbox=outbox, clock=clock, emit_events=emit_events
    )
    return await _run(request, open_tx, importer, order, target)


@imports.get(scope=ANY_CALLER)
async def list_imports(tx: TenantTx, query: ListImports, paging: Paging, caller: Caller) -> Page[ImportView]:
    """List imports, the newest first.

    Those of kinds that the caller may read.
    """
    if query.kind is not None:
        _may_read(caller, query.kind)
    readable = [
        kind for kind, scope in _READ.items() if scope in caller.scopes and query.kind in (None, kind)
    ]
    found = await store.list_imports(tx, after_id=paging.after_id, kinds=readable, limit=paging.fetch)
    return paging.page(found, lambda known: ImportView.of(known, []))


@imports.get("/{import_id}", scope=ANY_CALLER, problems=["import_not_found"])
async def show_import(tx: TenantTx, import_id: ImportId, caller: Caller) -> ImportView:
    """Show an import: how far it came, and what became of its lines."""
    return await _view(tx, await _known(tx, import_id, caller))


@imports.get("/{import_id}/report", scope=ANY_CALLER, media_type="text/csv", problems=["import_not_found"])
async def download_report(open_tx: OpenTx[TenantTx], import_id: ImportId, caller: Caller) -> Reply:
    """All that is wrong with the lines of an import, as a CSV.

    `line,column,code,what,severity`: never what stood there. The first 100,000 are kept.
    """
    async with open_tx() as tx:
        await _known(tx, import_id, caller)
    named = f'attachment; filename="{import_id}.csv"'
    return Reply(
        body=_report(open_tx, import_id), media_type="text/csv", headers={"Content-Disposition": named}
    )


async def _report(open_tx: OpenTx[TenantTx], import_id: ImportId) -> AsyncIterator[bytes]:
    yield csv_lines([("line", "column", "code", "what", "severity")])
    place, more = 0, True
    while more:
        async with open_tx() as tx:
            found = await store.list_problems(tx, import_id, after_place=place, limit=_PART)
        if found:
            place = found[-1][0]
            yield csv_lines([tuple(problem) for _, problem in found])
        more = len(found) == _PART


def _order(
    request: Request,
    tenant_id: TenantId,
    caller: Caller,
    kind: ImportKind,
    query: ImportQuery,
    *,
    emit_events: bool = True,
) -> ImportRequest:
    """What the request asks for; refused where its body is no table."""
    require_table(request)
    return ImportRequest(
        tenant_id=tenant_id,
        kind=kind,
        options=msgspec.json.encode(query).decode(),
        dry_run=query.dry_run == "true",
        emit_events=emit_events,
        idempotency_key=idempotency_key(request.scope),
        actor=caller.actor,
        role=caller.role,
    )


async def _run(
    request: Request, open_tx: OpenTx[TenantTx], importer: Importer, order: ImportRequest, target: Target
) -> ImportView:
    done = await importer.run(order, target, request.pieces())
    async with open_tx() as tx:
        return await _view(tx, done)


async def _view(tx: TenantTx, known: Import) -> ImportView:
    first = await store.list_problems(tx, known.id, after_place=0, limit=_SHOWN) if known.problems else []
    return ImportView.of(known, [problem for _, problem in first])


async def _known(tx: TenantTx, import_id: ImportId, caller: Caller) -> Import:
    known = await store.find_import(tx, import_id)
    if known is None:
        raise UnknownImportError(f"there is no import with the id {import_id}")
    _may_read(caller, known.kind)
    return known


def _may_read(caller: Caller, kind: ImportKind) -> None:
    if _READ[kind] not in caller.scopes:
        raise MissingScopeError(_READ[kind])
