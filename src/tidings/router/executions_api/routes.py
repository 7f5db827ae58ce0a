"""Operations on executions; nothing is changed here."""

from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.blobs.store import BlobNotFoundError, BlobStore
from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.callers import Caller
from tidings.kernel.http.injection import OpenTx
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.resources import Resource
from tidings.kernel.keys.data_key import DestroyedKeyError
from tidings.kernel.keys.keyring import Keyring
from tidings.kernel.refusals import MissingScopeError
from tidings.router.executions import answers
from tidings.router.executions.model import ExecutionId
from tidings.router.executions_api import store
from tidings.router.executions_api.errors import AnswerGoneError, UnknownExecutionError
from tidings.router.executions_api.listing import find_recent
from tidings.router.executions_api.model import Execution
from tidings.router.executions_api.wire import ExecutionSummary, ExecutionView, ListExecutions
from tidings.router.state_machine.model import AttemptId

executions = Resource("executions", at="/router/executions", tag="executions", scope="router")

#: The scope that may see people's addresses may see what a vendor said of them.
_REVEAL = "recipients:write"


@executions.get()
async def list_executions(
    tx: TenantTx, query: ListExecutions, paging: Paging, clock: Clock
) -> Page[ExecutionSummary]:
    """List executions, under way and over, the newest first.

    With a filter a request looks at some 20,000 of them and no more: a page may be short, or empty, and still have a
    `next_cursor`.
    """
    recent = await find_recent(
        tx,
        query.filter(),
        since=query.since,
        until=query.until,
        after=paging.after,
        limit=query.limit,
        now=clock.now(),
    )
    return paging.page_until(recent.next_id, [ExecutionSummary.of(execution) for execution in recent.items])


@executions.get("/{execution_id}", problems=["execution_not_found"])
async def show_execution(tx: TenantTx, execution_id: ExecutionId) -> ExecutionView:
    """Show an execution: its frozen ladder, path, attempts, receipts, costs and clocks."""
    execution = await _known(tx, execution_id)
    attempts = await store.find_attempts(tx, execution)
    receipts = await store.find_receipts(tx, execution, [attempt.id for attempt in attempts])
    return ExecutionView.whole(execution, attempts, receipts)


@executions.get(
    "/{execution_id}/attempts/{attempt_id}/answer",
    verb="answer",
    scope="router:read",
    writes=True,
    media_type="application/octet-stream",
    problems=["execution_not_found", "answer_gone"],
)
async def read_answer(
    open_tx: OpenTx[TenantTx],
    execution_id: ExecutionId,
    attempt_id: AttemptId,
    caller: Caller,
    keyring: Keyring,
    audit: AuditLog,
    blobs: BlobStore,
) -> Reply:
    """Read what the vendor answered to an attempt, word for word; that is audited.

    It may hold an address: needs `recipients:write` as well. Kept for 30 days, sealed under the person's key; the
    first 16 KiB of it.
    """
    if _REVEAL not in caller.scopes:
        raise MissingScopeError(_REVEAL)
    async with open_tx() as tx:
        execution = await _known(tx, execution_id)
        attempts = await store.find_attempts(tx, execution)
        ref = next((attempt.answer_ref for attempt in attempts if attempt.id == attempt_id), None)
        keys = await keyring.data_keys(tx, [execution.recipient_id], create=False)
        key = keys.get(execution.recipient_id)
        if ref is None or key is None or key.destroyed:
            raise AnswerGoneError
        entry = Entry(
            entity_type="delivery_attempt", entity_id=attempt_id, action="answer_revealed", actor=caller.actor
        )
        await audit.append(tx, [entry])
    try:
        answer = await answers.read(blobs, key, attempt_id, ref)
    except (BlobNotFoundError, DestroyedKeyError):
        raise AnswerGoneError from None
    return Reply.download(answer)


async def _known(tx: TenantTx, execution_id: ExecutionId) -> Execution:
    execution = (await store.find_executions(tx, [execution_id])).get(execution_id)
    if execution is None:
        raise UnknownExecutionError(f"there is no execution with the id {execution_id}")
    return execution
