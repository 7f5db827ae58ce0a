"""Operations on the status map: a tenant's own lines, and under `/internal` the platform's."""

from itertools import groupby
from typing import Annotated

from tidings.kernel.db import PlatformTx
from tidings.kernel.http.answers import Answer
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import OpenTx, OwnerTx, Parsed
from tidings.kernel.http.resources import Owner, Resource
from tidings.router.status_map import store
from tidings.router.status_map.change import Expect, StatusMapper
from tidings.router.status_map.errors import UnknownLineError
from tidings.router.status_map.model import StatusLine
from tidings.router.status_map.reapply import Reapplier
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
    adapter_in_path,
    code_in_path,
    own_line,
    read_cursor,
    write_cursor,
)

status_map = Resource(
    "status-map", at="/router/status-map", tag="status map", scope="router", owner=Owner.TENANT_OR_PLATFORM
)

_ONE = "/{adapter}/{code}"
_Adapter = Annotated[str, Parsed(adapter_in_path)]
_Code = Annotated[str, Parsed(code_in_path)]


@status_map.get(test_keys=True)
async def list_status_lines(tx: OwnerTx, query: ListStatusLines) -> CodeList:
    """List what vendors' codes mean.

    Adapters bring their vendors' documented codes along. A tenant's own line is before the platform's, a line of a
    vendor's own name (`http_acme`) before that of its adapter (`http`).
    """
    lines = await store.list_lines(
        tx, adapter=query.adapter, after=read_cursor(query.cursor), limit=query.limit + 1
    )
    codes = [list(of_code) for _, of_code in groupby(lines, key=lambda line: (line.adapter, line.code))]
    shown = [CodeView.of(of_code, platform=_is_platform(tx)) for of_code in codes[: query.limit]]
    more = len(codes) > query.limit
    return CodeList(
        items=shown, next_cursor=write_cursor((shown[-1].adapter, shown[-1].code)) if more else None
    )


@status_map.get("/unknown")
async def list_unknown_codes(tx: OwnerTx, query: ListUnknownCodes) -> UnknownList:
    """List codes and words of vendors that had no meaning.

    Receipts with such a code are kept as `unknown` and change nothing. Give it a meaning, then reapply. The platform
    sees those of all tenants together.
    """
    unknown = await store.list_unknown(tx, adapter=query.adapter)
    return UnknownList(items=[UnknownView.of(code, platform=_is_platform(tx)) for code in unknown])


@status_map.get(_ONE, test_keys=True, problems=["status_line_not_found"])
async def show_status_line(tx: OwnerTx, adapter: _Adapter, code: _Code) -> Answer[CodeHistory]:
    """Show what a code means, with the earlier versions of your own line."""
    return await _history(tx, adapter, code)


@status_map.put(_ONE, if_match="where_there", problems=["status_map_full"])
async def put_status_line(
    tx: OwnerTx,
    adapter: _Adapter,
    code: _Code,
    body: PutStatusLine,
    if_match: IfMatch,
    caller: Caller,
    mapper: StatusMapper,
) -> Answer[CodeHistory]:
    """Say what a code means; a change names the version it is made from by If-Match.

    Without a line of your own there is no version to name. It counts for what comes from now on, within about a
    second; for receipts that were kept as unknown, reapply.
    """
    await mapper.put(
        tx,
        adapter,
        code,
        canonical=body.canonical,
        reason=body.reason,
        expect=_expect(if_match),
        actor=caller.actor,
    )
    return await _history(tx, adapter, code)


@status_map.post(f"{_ONE}/revert", problems=["status_line_not_found", "status_version_not_found"])
async def revert_status_line(
    tx: OwnerTx,
    adapter: _Adapter,
    code: _Code,
    body: RevertStatusLine,
    if_match: IfMatch,
    caller: Caller,
    mapper: StatusMapper,
) -> Answer[CodeHistory]:
    """Let an earlier version of your line count again, as a new version."""
    await mapper.revert(tx, adapter, code, body.version, expect=_expect(if_match), actor=caller.actor)
    return await _history(tx, adapter, code)


@status_map.delete(_ONE, problems=["status_line_not_found", "status_line_seeded"])
async def delete_status_line(
    tx: OwnerTx, adapter: _Adapter, code: _Code, if_match: IfMatch, caller: Caller, mapper: StatusMapper
) -> None:
    """Remove your line; the platform's counts again.

    Lines that adapters bring along are changed and never removed.
    """
    await mapper.remove(tx, adapter, code, expect=_expect(if_match), actor=caller.actor)


@status_map.post(f"{_ONE}/reapply", problems=["status_line_not_found"])
async def reapply_status_line(
    open_tx: OpenTx[OwnerTx],
    adapter: _Adapter,
    code: _Code,
    query: ReapplyQuery,
    caller: Caller,
    reapplier: Reapplier,
) -> ReapplyAnswer:
    """Tell receipts that were kept as unknown with what their code means now.

    Those of the last 35 days, some thousands in one go; ask again while `more` is true. Another receipt follows from
    each: doing it twice changes nothing. Under `/internal` those of all tenants.
    """
    async with open_tx() as tx:
        await _lines(tx, adapter, code)
    if caller.tenant_id is None:
        done = await reapplier.everywhere(adapter, code, actor=caller.actor, dry_run=query.dry_run)
    elif query.dry_run:
        done = await reapplier.count(caller.tenant_id, adapter, code)
    else:
        done = await reapplier.reapply(caller.tenant_id, adapter, code, actor=caller.actor)
    return ReapplyAnswer(reapplied=done.reapplied, more=done.more, dry_run=query.dry_run)


def _is_platform(tx: OwnerTx) -> bool:
    return isinstance(tx, PlatformTx)


async def _lines(tx: OwnerTx, adapter: str, code: str) -> list[StatusLine]:
    lines = await store.find_lines(tx, adapter=adapter, code=code)
    if not lines:
        raise UnknownLineError(f"nobody has said what {code} of {adapter} means")
    return lines


async def _history(tx: OwnerTx, adapter: str, code: str) -> Answer[CodeHistory]:
    lines, platform = await _lines(tx, adapter, code), _is_platform(tx)
    mine = own_line(lines, platform=platform)
    return Answer(CodeHistory.of(lines, platform=platform), version=mine.version if mine else None)


def _expect(if_match: IfMatch) -> Expect:
    nothing = "there is no line of your own, so there is no version to change from"
    return lambda line: if_match.expect(line.version if line else None, nothing=nothing)
