"""What HTTP calls about the status map: a tenant's own lines, and under `/internal` the platform's."""

from itertools import groupby
from typing import Any

from litestar import Request, Response, Router, delete, get, post, put

from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.bodies import read_body, read_query
from tidings.kernel.http.callers import TenantNeed, caller_of, tenant_of
from tidings.kernel.http.etags import etag, expect_nothing, expect_version
from tidings.kernel.http.operations import deps_of, given, operation
from tidings.router.status_map import store
from tidings.router.status_map.change import Expect
from tidings.router.status_map.deps import Deps
from tidings.router.status_map.errors import UnknownLineError
from tidings.router.status_map.model import Line
from tidings.router.status_map.store import Key
from tidings.router.status_map.wire import (
    CodeHistory,
    CodeList,
    CodeView,
    ListStatusLines,
    ListUnknownCodes,
    PutStatusLine,
    ReapplyAnswer,
    ReapplyQuery,
    RevertStatusLine,
    UnknownList,
    UnknownView,
    own_line,
    read_cursor,
    read_place,
    write_cursor,
)
from tidings.router.whose import name_of, tx_of

_TAG = "status map"
_ONE = "/{adapter:str}/{code:str}"

AnyRequest = Request[Any, Any, Any]


def _list_lines(need: TenantNeed) -> Any:
    @get(
        "/",
        name=name_of("list_status_lines", need),
        **operation(
            summary="List what vendors' codes mean.",
            tag=_TAG,
            scope="router:read",
            test_keys=True,
            tenant=need,
            query=ListStatusLines,
            answer=CodeList,
            description=(
                "Adapters bring their vendors' documented codes along. A tenant's own line is before the platform's, a "
                "line of a vendor's own name (`http_acme`) before that of its adapter (`http`)."
            ),
        ),
    )
    async def list_status_lines(request: AnyRequest) -> CodeList:
        query = read_query(request, ListStatusLines)
        after = read_cursor(query.cursor)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = await store.list_lines(tx, adapter=query.adapter, after=after, limit=query.limit + 1)
        codes = [list(lines) for _, lines in groupby(found, key=lambda one: (one.adapter, one.code))]
        shown = [CodeView.of(lines, platform=_platform(need)) for lines in codes[: query.limit]]
        more = len(codes) > query.limit
        return CodeList(
            items=shown, next_cursor=write_cursor((shown[-1].adapter, shown[-1].code)) if more else None
        )

    return list_status_lines


def _list_unknown(need: TenantNeed) -> Any:
    @get(
        "/unknown",
        name=name_of("list_unknown_codes", need),
        **operation(
            summary="List codes and words of vendors that had no meaning.",
            tag=_TAG,
            scope="router:read",
            tenant=need,
            query=ListUnknownCodes,
            answer=UnknownList,
            description=(
                "Receipts with such a code are kept as `unknown` and change nothing. Give it a meaning, then reapply. "
                "The platform sees those of all tenants together."
            ),
        ),
    )
    async def list_unknown_codes(request: AnyRequest) -> UnknownList:
        query = read_query(request, ListUnknownCodes)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            found = await store.list_unknown(tx, adapter=query.adapter)
        return UnknownList(items=[UnknownView.of(one, platform=_platform(need)) for one in found])

    return list_unknown_codes


def _show_line(need: TenantNeed) -> Any:
    @get(
        _ONE,
        name=name_of("show_status_line", need),
        **operation(
            summary="Show what a code means, with the earlier versions of your own line.",
            tag=_TAG,
            scope="router:read",
            test_keys=True,
            tenant=need,
            answer=CodeHistory,
            problems=["status_line_not_found"],
        ),
    )
    async def show_status_line(request: AnyRequest) -> Response[CodeHistory]:
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            return _shown(await _lines(tx, _place(request)), need)

    return show_status_line


def _put_line(need: TenantNeed) -> Any:
    @put(
        _ONE,
        name=name_of("put_status_line", need),
        **operation(
            summary="Say what a code means; a change names the version it is made from by If-Match.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            body=PutStatusLine,
            answer=CodeHistory,
            problems=["status_map_full"],
            headers=["If-Match"],
            if_match="where_there",
            description=(
                "Without a line of your own there is no version to name. It counts for what comes from now on, within "
                "about a second; for receipts that were kept as unknown, reapply."
            ),
        ),
    )
    async def put_status_line(request: AnyRequest) -> Response[CodeHistory]:
        wanted = await read_body(request, PutStatusLine)
        adapter, code = place = _place(request)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            await deps_of(request, Deps).mapper.put(
                tx,
                adapter,
                code,
                canonical=wanted.canonical,
                reason=wanted.reason,
                expect=_expect(request),
                actor=caller_of(request).actor,
            )
            return _shown(await _lines(tx, place), need)

    return put_status_line


def _revert_line(need: TenantNeed) -> Any:
    @post(
        f"{_ONE}/revert",
        name=name_of("revert_status_line", need),
        **operation(
            summary="Let an earlier version of your line count again, as a new version.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            body=RevertStatusLine,
            answer=CodeHistory,
            problems=["status_line_not_found", "status_version_not_found"],
            headers=["If-Match"],
        ),
    )
    async def revert_status_line(request: AnyRequest) -> Response[CodeHistory]:
        wanted = await read_body(request, RevertStatusLine)
        adapter, code = place = _place(request)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            await deps_of(request, Deps).mapper.revert(
                tx,
                adapter,
                code,
                wanted.version,
                expect=_expect(request),
                actor=caller_of(request).actor,
            )
            return _shown(await _lines(tx, place), need)

    return revert_status_line


def _delete_line(need: TenantNeed) -> Any:
    @delete(
        _ONE,
        name=name_of("delete_status_line", need),
        **operation(
            summary="Remove your line; the platform's counts again.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            status=204,
            problems=["status_line_not_found", "status_line_seeded"],
            headers=["If-Match"],
            description="Lines that adapters bring along are changed and never removed.",
        ),
    )
    async def delete_status_line(request: AnyRequest) -> None:
        adapter, code = _place(request)
        async with tx_of(request, deps_of(request, Deps).db, need) as tx:
            await deps_of(request, Deps).mapper.remove(
                tx, adapter, code, expect=_expect(request), actor=caller_of(request).actor
            )

    return delete_status_line


def _reapply(need: TenantNeed) -> Any:
    @post(
        f"{_ONE}/reapply",
        name=name_of("reapply_status_line", need),
        **operation(
            summary="Tell receipts that were kept as unknown with what their code means now.",
            tag=_TAG,
            scope="router:write",
            tenant=need,
            query=ReapplyQuery,
            answer=ReapplyAnswer,
            problems=["status_line_not_found"],
            description=(
                "Those of the last 35 days, some thousands in one go; ask again while `more` is true. Another receipt "
                "follows from each: doing it twice changes nothing. Under `/internal` those of all tenants."
            ),
        ),
    )
    async def reapply_status_line(request: AnyRequest) -> ReapplyAnswer:
        query = read_query(request, ReapplyQuery)
        deps = deps_of(request, Deps)
        adapter, code = place = _place(request)
        actor = caller_of(request).actor
        async with tx_of(request, deps.db, need) as tx:
            await _lines(tx, place)
        if _platform(need):
            done = await deps.reapplier.everywhere(adapter, code, actor=actor, dry_run=query.dry_run)
        elif query.dry_run:
            done = await deps.reapplier.count(tenant_of(request), adapter, code)
        else:
            done = await deps.reapplier.reapply(tenant_of(request), adapter, code, actor=actor)
        return ReapplyAnswer(reapplied=done.reapplied, more=done.more, dry_run=query.dry_run)

    return reapply_status_line


def routers(deps: Deps) -> list[Router]:
    """The routes of this package."""
    makers = (_list_lines, _list_unknown, _show_line, _put_line, _delete_line, _revert_line, _reapply)
    return [
        Router(f"{root}/status-map", route_handlers=[make(need) for make in makers], opt=given(deps))
        for root, need in (
            ("/api/v1/router", TenantNeed.REQUIRED),
            ("/internal/v1/router", TenantNeed.NONE),
        )
    ]


def _platform(need: TenantNeed) -> bool:
    return need is TenantNeed.NONE


def _place(request: AnyRequest) -> Key:
    return read_place(str(request.path_params["adapter"]), str(request.path_params["code"]))


async def _lines(tx: TenantTx | PlatformTx, place: Key) -> list[Line]:
    adapter, code = place
    found = await store.find_lines(tx, adapter=adapter, code=code)
    if not found:
        raise UnknownLineError(f"nobody has said what {code} of {adapter} means")
    return found


def _expect(request: AnyRequest) -> Expect:
    def expect(known: Line | None) -> None:
        if known is not None:
            expect_version(request.scope, known.version)
        else:
            expect_nothing(
                request.scope, "there is no line of your own, so there is no version to change from"
            )

    return expect


def _shown(lines: list[Line], need: TenantNeed) -> Response[CodeHistory]:
    mine = own_line(lines, platform=_platform(need))
    return Response(
        CodeHistory.of(lines, platform=_platform(need)),
        headers={"ETag": etag(mine.version)} if mine else {},
    )
