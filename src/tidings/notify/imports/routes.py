"""What HTTP calls about imports."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import msgspec
from litestar import Request, Router, get, post
from litestar.response import Stream

from tidings.kernel.csv_text import csv_lines
from tidings.kernel.db import TenantTx
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.asgi import headers
from tidings.kernel.http.bodies import read_query
from tidings.kernel.http.callers import ANY_CALLER, TenantNeed, caller_of, tenant_of
from tidings.kernel.http.operations import deps_of, given, operation, path_id
from tidings.kernel.http.paging import Page, page_of, read_cursor
from tidings.kernel.idempotency import HEADER, parse_key
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import MissingScopeError
from tidings.notify.ids import IMPORT, ImportId
from tidings.notify.imports import store
from tidings.notify.imports.deps import Deps
from tidings.notify.imports.engine import ImportRequest
from tidings.notify.imports.errors import UnknownImportError
from tidings.notify.imports.model import Import, ImportKind
from tidings.notify.imports.preference_target import PreferenceTarget
from tidings.notify.imports.recipient_target import RecipientTarget
from tidings.notify.imports.suppression_target import SuppressionImportOptions, SuppressionTarget
from tidings.notify.imports.target import Target
from tidings.notify.imports.upload import TYPES, body_pieces, require_table
from tidings.notify.imports.wire import (
    ImportPreferences,
    ImportQuery,
    ImportSuppressions,
    ImportView,
    ListImports,
)

_TAG = "imports"
_LISTING = "imports"
_PATH = {"import_id": IMPORT}
#: How many problems an answer shows at once, and how many the report reads at a time.
_SHOWN = 20
_PART = 2_000
#: Which scope an import of a kind is seen with.
_READ = {
    ImportKind.SUPPRESSIONS: "suppressions:read",
    ImportKind.RECIPIENTS: "recipients:read",
    ImportKind.PREFERENCES: "recipients:read",
}
#: Paths whose bodies are files: they have a limit of their own.
UPLOAD_PATHS = (
    "/api/v1/suppressions/import",
    "/internal/v1/suppressions/import",
    "/api/v1/recipients/import",
    "/api/v1/preferences/import",
)
_PROBLEMS = (
    "import_taken_over",
    "import_other_file",
    "too_busy",
    "tenant_frozen",
)
_HOW = (
    "The body is the file (`text/csv`, or `application/x-ndjson`), read as it arrives. "
    "Lines that can't be taken are reported by line, column and code, and hold up no other. "
    "Doing it again changes nothing. With an `Idempotency-Key` an import that broke off goes on where it stood: "
    "send the same file with the same key."
)

AnyRequest = Request[Any, Any, Any]


@post(
    "/import",
    name="import_suppressions",
    **operation(
        summary="Suppress all addresses in a file.",
        tag=_TAG,
        scope="suppressions:write",
        query=ImportSuppressions,
        upload=TYPES,
        answer=ImportView,
        headers=[HEADER],
        problems=_PROBLEMS,
        description=_HOW,
    ),
)
async def import_suppressions(request: AnyRequest) -> ImportView:
    """Suppress all addresses in a file."""
    return await _suppressions(request)


@post(
    "/import",
    name="import_suppressions_for_tenant",
    **operation(
        summary="Suppress all addresses in a file, for a tenant that comes from another service.",
        tag=_TAG,
        scope="suppressions:write",
        tenant=TenantNeed.NAMED,
        query=ImportSuppressions,
        upload=TYPES,
        answer=ImportView,
        headers=[HEADER],
        problems=_PROBLEMS,
        description=_HOW,
    ),
)
async def import_suppressions_for_tenant(request: AnyRequest) -> ImportView:
    """The same, as the platform does it."""
    return await _suppressions(request)


@post(
    "/import",
    name="import_recipients",
    **operation(
        summary="Make all recipients in a file known, or bring them up to date.",
        tag=_TAG,
        scope="recipients:write",
        query=ImportQuery,
        upload=TYPES,
        answer=ImportView,
        headers=[HEADER],
        problems=_PROBLEMS,
        description=_HOW,
    ),
)
async def import_recipients(request: AnyRequest) -> ImportView:
    """Make all recipients in a file known."""
    query = read_query(request, ImportQuery)
    target = RecipientTarget(deps_of(request, Deps).upserter)
    return await _run(request, ImportKind.RECIPIENTS, query, target)


@post(
    "/import",
    name="import_preferences",
    **operation(
        summary="Take in what recipients chose, from a file.",
        tag=_TAG,
        scope="recipients:write",
        query=ImportPreferences,
        upload=TYPES,
        answer=ImportView,
        headers=[HEADER],
        problems=_PROBLEMS,
        description=f"Merged into what they chose before; recipients have to be known. {_HOW}",
    ),
)
async def import_preferences(request: AnyRequest) -> ImportView:
    """Take in what recipients chose."""
    deps = deps_of(request, Deps)
    query = read_query(request, ImportPreferences)
    emit_events = query.emit_events == "true"
    target = PreferenceTarget(
        categories=await deps.categories.of(tenant_of(request)),
        outbox=deps.outbox,
        clock=deps.clock,
        emit_events=emit_events,
    )
    return await _run(request, ImportKind.PREFERENCES, query, target, emit_events=emit_events)


@get(
    "/",
    **operation(
        summary="List imports, the newest first.",
        tag=_TAG,
        scope=ANY_CALLER,
        query=ListImports,
        answer=Page[ImportView],
        description="Those of kinds that the caller may read.",
    ),
)
async def list_imports(request: AnyRequest) -> Page[ImportView]:
    """List imports."""
    query = read_query(request, ListImports)
    if query.kind is not None:
        _may_read(request, query.kind)
    scopes = caller_of(request).scopes
    readable = [kind for kind, scope in _READ.items() if scope in scopes and query.kind in (None, kind)]
    after = read_cursor(query.cursor, listing=_LISTING)
    async with _tenant(request) as tx:
        found = await store.list_imports(
            tx, after_id=after.id if after else None, kinds=readable, limit=query.limit + 1
        )
    return page_of(
        found,
        limit=query.limit,
        listing=_LISTING,
        id_of=lambda known: known.id,
        render=lambda known: ImportView.of(known, []),
    )


@get(
    "/{import_id:str}",
    **operation(
        summary="Show an import: how far it came, and what became of its lines.",
        tag=_TAG,
        scope=ANY_CALLER,
        path=_PATH,
        answer=ImportView,
        problems=["import_not_found"],
    ),
)
async def show_import(request: AnyRequest) -> ImportView:
    """Show an import."""
    async with _tenant(request) as tx:
        return await _view(tx, await _found(request, tx))


@get(
    "/{import_id:str}/report",
    **operation(
        summary="All that is wrong with the lines of an import, as a CSV.",
        tag=_TAG,
        scope=ANY_CALLER,
        path=_PATH,
        media_type="text/csv",
        problems=["import_not_found"],
        description="`line,column,code,what,severity`: never what stood there. The first 100,000 are kept.",
    ),
)
async def download_report(request: AnyRequest) -> Stream:
    """The report."""
    async with _tenant(request) as tx:
        known = await _found(request, tx)
    lines = _report(deps_of(request, Deps), tenant_of(request), known.id)
    named = f'attachment; filename="{known.id}.csv"'
    return Stream(lines, media_type="text/csv", headers={"Content-Disposition": named})


async def _report(deps: Deps, tenant_id: TenantId, import_id: ImportId) -> AsyncIterator[bytes]:
    yield csv_lines([("line", "column", "code", "what", "severity")])
    place, more = 0, True
    while more:
        async with deps.db.tenant(tenant_id) as tx:
            found = await store.list_problems(tx, import_id, after_place=place, limit=_PART)
        if found:
            place = found[-1][0]
            yield csv_lines([tuple(problem) for _, problem in found])
        more = len(found) == _PART


async def _suppressions(request: AnyRequest) -> ImportView:
    deps = deps_of(request, Deps)
    query = read_query(request, ImportSuppressions)
    wanted = SuppressionImportOptions(
        format=query.format,
        mapping=query.columns(),
        channel=query.channel,
        reason=query.reason,
        emit_events=query.emit_events == "true",
    )
    target = SuppressionTarget(deps.suppressor, deps.clock, wanted)
    return await _run(request, ImportKind.SUPPRESSIONS, query, target, emit_events=wanted.emit_events)


async def _run(
    request: AnyRequest, kind: ImportKind, query: ImportQuery, target: Target, *, emit_events: bool = True
) -> ImportView:
    require_table(request)
    caller = caller_of(request)
    order = ImportRequest(
        tenant_id=tenant_of(request),
        kind=kind,
        options=msgspec.json.encode(query).decode(),
        dry_run=query.dry_run == "true",
        emit_events=emit_events,
        idempotency_key=_key(request),
        actor=caller.actor,
        role=caller.role,
    )
    done = await deps_of(request, Deps).importer.run(order, target, body_pieces(request))
    async with _tenant(request) as tx:
        return await _view(tx, done)


def _key(request: AnyRequest) -> str | None:
    given_keys = headers(request.scope, HEADER.lower().encode())
    if len(given_keys) > 1:
        raise BadValueError(HEADER, "is given more than once")
    return parse_key(given_keys[0]) if given_keys else None


async def _view(tx: TenantTx, known: Import) -> ImportView:
    first = await store.list_problems(tx, known.id, after_place=0, limit=_SHOWN) if known.problems else []
    return ImportView.of(known, [problem for _, problem in first])


async def _found(request: AnyRequest, tx: TenantTx) -> Import:
    import_id = path_id(request, IMPORT, "import_id")
    known = await store.find_import(tx, import_id)
    if known is None:
        raise UnknownImportError(f"there is no import with the id {import_id}")
    _may_read(request, known.kind)
    return known


def _may_read(request: AnyRequest, kind: ImportKind) -> None:
    if _READ[kind] not in caller_of(request).scopes:
        raise MissingScopeError(_READ[kind])


def _tenant(request: AnyRequest) -> AbstractAsyncContextManager[TenantTx]:
    return deps_of(request, Deps).db.tenant(tenant_of(request), caller_role=caller_of(request).role)


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    return [
        Router("/api/v1/suppressions", route_handlers=[import_suppressions], opt=given(deps)),
        Router("/internal/v1/suppressions", route_handlers=[import_suppressions_for_tenant], opt=given(deps)),
        Router("/api/v1/recipients", route_handlers=[import_recipients], opt=given(deps)),
        Router("/api/v1/preferences", route_handlers=[import_preferences], opt=given(deps)),
        Router(
            "/api/v1/imports", route_handlers=[list_imports, show_import, download_report], opt=given(deps)
        ),
    ]
