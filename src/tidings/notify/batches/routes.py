"""Operations on batches: write, try out, start, pause, resume, cancel, follow."""

import msgspec

from tidings.kernel.clock import Clock
from tidings.kernel.db import TenantTx
from tidings.kernel.durable.wakeup import Wakeup
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Answer, Reply
from tidings.kernel.http.callers import Caller, StillAllowed
from tidings.kernel.http.etags import IfMatch
from tidings.kernel.http.injection import AfterCommit, OpenTx
from tidings.kernel.http.once import idempotency_key
from tidings.kernel.http.paging import Page, Paging
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Resource
from tidings.kernel.idempotency import HEADER
from tidings.kernel.ids import TenantId
from tidings.kernel.keys.keyring import Keyring
from tidings.notify.accept.accept import Acceptor
from tidings.notify.accept.group_commit import Wake
from tidings.notify.accept.order import Order, OrderedBy, accepted
from tidings.notify.accept.wire import accepted_view
from tidings.notify.batches import store
from tidings.notify.batches.control import BatchControl
from tidings.notify.batches.drafts import BatchDrafts
from tidings.notify.batches.list_target import BatchListTarget
from tidings.notify.batches.list_variables import ListVariables, laid_over
from tidings.notify.batches.model import StoredBatch
from tidings.notify.batches.orders import BatchOrders, variables_of
from tidings.notify.batches.progress import progress_lines, show
from tidings.notify.batches.report import BatchReporter
from tidings.notify.batches.wire import (
    BatchPersonView,
    BatchPreview,
    BatchReport,
    BatchVariablesView,
    BatchView,
    CloneBatch,
    ListBatches,
    ListBatchPeople,
    ShowReport,
    TestBatch,
    TestedBatch,
    WriteBatch,
)
from tidings.notify.ids import BATCH, BatchId
from tidings.notify.imports import store as import_store
from tidings.notify.imports.engine import Importer
from tidings.notify.imports.model import ImportKind, ImportRequest
from tidings.notify.imports.upload import TYPES, UploadLimit, require_table
from tidings.notify.imports.wire import ImportQuery, ImportView
from tidings.notify.recipients.upsert import RecipientUpserter

batches = Resource("batches", at="/batches", tag="batches", scope="batches")

_ONE = "/{batch_id}"
_KNOWN = ["batch_not_found"]
_MOVES = [*_KNOWN, "batch_state"]
#: Lines of a ledger that a request looks at, where few of them fit.
_LOOKED_AT = 20_000
#: How many problems of a file an answer shows at once.
_SHOWN = 20
_EXAMPLE = {
    "name": "Reopening",
    "template": "reservation_reminder",
    "channel": "email",
    "filter": "tag = 'vip' and locale = 'fr'",
    "variables": {
        "reservation_number": "R-8812",
        "place": "Hotel Babur",
        "starts_at": "2026-12-01T15:00:00Z",
    },
}


_AS_IT_IS = CloneBatch()


class BatchWake(Wakeup):
    """Wakes the runner of this process; those of others look by themselves."""


@batches.post(status=201, idempotent=True, example=_EXAMPLE)
async def create_batch(
    tx: TenantTx, body: WriteBatch, caller: Caller, drafts: BatchDrafts, clock: Clock
) -> Answer[BatchView]:
    """Write a batch: a template for many people.

    It is a draft, and sends nothing before it is started. The filter is a condition over recipients (`tag`, `locale`,
    `timezone`, `identity.type`, `identity.id`, `attributes.…`, `channel`, `created_at`); an error points at the place.
    """
    batch = await drafts.create(tx, body.draft(clock.now()), actor=caller.actor)
    return await _answer(tx, batch, location=f"/api/v1/batches/{batch.id}")


@batches.get()
async def list_batches(tx: TenantTx, query: ListBatches, paging: Paging) -> Page[BatchView]:
    """List batches, the newest first."""
    found = await store.list_batches(tx, after_id=paging.after_id, status=query.status, limit=paging.fetch)
    counts = await store.sum_counts(tx, [batch.id for batch in found])
    return paging.page(found, lambda batch: BatchView.of(batch, store.all_together(counts[batch.id])))


@batches.post("/preview", writes=False, name="preview_batch", example=_EXAMPLE)
async def preview_batch(
    tx: TenantTx,
    body: WriteBatch,
    caller: Caller,
    drafts: BatchDrafts,
    reporter: BatchReporter,
    clock: Clock,
) -> BatchPreview:
    """What a batch would do: how many people, some of them, and what is wrong. Nothing is written.

    Of `recipients` in the body only those with an id are looked at.
    """
    draft = body.draft(clock.now())
    batch = await drafts.as_batch(tx, draft, BATCH.new(clock.now()), actor=caller.actor, seal=False)
    return await reporter.preview(tx, batch, draft.variables)


@batches.get(_ONE, problems=_KNOWN)
async def show_batch(tx: TenantTx, batch_id: BatchId) -> Answer[BatchView]:
    """Show a batch: how it stands, and its totals."""
    return await _answer(tx, await store.find_batch(tx, batch_id))


@batches.put(_ONE, problems=_MOVES)
async def change_batch(
    tx: TenantTx,
    batch_id: BatchId,
    body: WriteBatch,
    if_match: IfMatch,
    caller: Caller,
    drafts: BatchDrafts,
    clock: Clock,
) -> Answer[BatchView]:
    """Write a draft anew.

    An approval that it had is gone: it was for the words and people before. A list stays unless `recipients` or a
    filter takes its place.
    """
    batch = await drafts.change(
        tx, batch_id, body.draft(clock.now()), expect=if_match.expect, actor=caller.actor
    )
    return await _answer(tx, batch)


@batches.get(f"{_ONE}/variables", verb="variables", scope="batches:write", problems=_KNOWN)
async def show_batch_variables(tx: TenantTx, batch_id: BatchId, orders: BatchOrders) -> BatchVariablesView:
    """Show the variables of a batch, which are sealed.

    For who writes batches: a draft is written as a whole, its variables too.
    """
    opened = await orders.open(tx, await store.find_batch(tx, batch_id))
    return BatchVariablesView(variables=dict(opened.all), variants=[dict(one) for one in opened.variants])


@batches.post(f"{_ONE}/clone", status=201, idempotent=True, problems=_KNOWN)
async def clone_batch(
    tx: TenantTx, batch_id: BatchId, caller: Caller, drafts: BatchDrafts, body: CloneBatch = _AS_IT_IS
) -> Answer[BatchView]:
    """Copy a batch, in whatever state, to a new draft."""
    batch = await drafts.clone(tx, batch_id, name=body.name, actor=caller.actor)
    return await _answer(tx, batch, location=f"/api/v1/batches/{batch.id}")


@batches.post(f"{_ONE}/dry-run", writes=False, problems=_KNOWN)
async def dry_run_batch(tx: TenantTx, batch_id: BatchId, reporter: BatchReporter) -> BatchPreview:
    """What a batch would do if it were started now; nothing is sent."""
    return await reporter.preview(tx, await store.find_batch(tx, batch_id))


@batches.post(f"{_ONE}/test", verb="test", status=202, problems=_KNOWN)
async def test_batch(
    tx: TenantTx,
    batch_id: BatchId,
    body: TestBatch,
    caller: Caller,
    orders: BatchOrders,
    acceptor: Acceptor,
    wake: Wake,
    after_commit: AfterCommit,
) -> TestedBatch:
    """Send a batch's words to a few people you name.

    Real messages, beside the batch: they are in no ledger and no total. Their metadata says `batch_test`.
    """
    batch = await store.find_batch(tx, batch_id)
    if body.variant > len(batch.variants):
        raise BadValueError("variant", f"must be 0 to {len(batch.variants)}: the batch has no more shares")
    variables = await orders.open(tx, batch)
    made = await acceptor.accept_within(
        tx,
        [
            Order(
                by=OrderedBy(tx.tenant_id, caller.role),
                recipient=person,
                template=batch.template_of(body.variant),
                channel=batch.channel,
                variables=laid_over(variables_of(variables, body.variant), body.variables),
                category=batch.category,
                metadata={"batch_test": batch.id},
            )
            for person in body.people()
        ],
    )
    after_commit(lambda: wake(express=True))
    return TestedBatch(items=[accepted_view(accepted(outcome)) for outcome in made])


@batches.post(
    f"{_ONE}/recipients",
    verb="upload",
    name="upload_batch_recipients",
    upload=TYPES,
    body_limit=UploadLimit,
    headers=[HEADER],
    problems=[*_MOVES, "import_taken_over", "import_other_file", "too_busy", "tenant_frozen"],
)
async def upload_recipients(
    request: Request,
    open_tx: OpenTx[TenantTx],
    tenant_id: TenantId,
    batch_id: BatchId,
    query: ImportQuery,
    caller: Caller,
    importer: Importer,
    upserter: RecipientUpserter,
    orders: BatchOrders,
    keyring: Keyring,
    clock: Clock,
) -> ImportView:
    """Put everybody in a file on the list of a draft.

    A CSV or JSON lines as for importing recipients: ids, identities or addresses; who is not known is made known. It is
    read as it arrives. Somebody who is named twice is on the list once. A further file adds to the list.

    Columns that the template declares as variables (or `variables.<name>`) are that person's own, over those of the
    batch, and are held against the template line by line.
    """
    require_table(request)
    async with open_tx() as tx:
        batch = await store.find_batch(tx, batch_id)
        variables = await orders.open(tx, batch)
    personal = ListVariables(await orders.words(batch, variables))
    order = ImportRequest(
        tenant_id=tenant_id,
        kind=ImportKind.RECIPIENTS,
        options=msgspec.json.encode({"batch": batch_id, "query": query}).decode(),
        dry_run=query.dry_run == "true",
        emit_events=True,
        idempotency_key=idempotency_key(request.scope),
        actor=caller.actor,
        role=caller.role,
    )
    target = BatchListTarget(upserter, batch, personal, keyring=keyring, clock=clock)
    done = await importer.run(order, target, request.pieces())
    async with open_tx() as tx:
        first = await import_store.list_problems(tx, done.id, after_place=0, limit=_SHOWN)
    return ImportView.of(done, [problem for _, problem in first])


@batches.post(f"{_ONE}/approve", if_match="optional", problems=[*_MOVES, "batch_approver_is_author"])
async def approve_batch(
    tx: TenantTx, batch_id: BatchId, if_match: IfMatch, caller: Caller, control: BatchControl
) -> Answer[BatchView]:
    """Approve a draft that somebody else wrote.

    Who wrote it, changed it or added to its list last can't. With If-Match it is sure that what was seen is what is
    approved.
    """
    batch = await control.approve(tx, batch_id, expect=if_match.expect, actor=caller.actor)
    return await _answer(tx, batch)


@batches.post(f"{_ONE}/start", problems=[*_MOVES, "batch_not_ready", "batch_approval_missing"])
async def start_batch(
    tx: TenantTx,
    batch_id: BatchId,
    caller: Caller,
    control: BatchControl,
    wake: BatchWake,
    after_commit: AfterCommit,
) -> Answer[BatchView]:
    """Start a draft: now, or at the time that it is scheduled for.

    It is for those whom its filter or list means at that moment; who comes later is not in it. Starting one that runs
    answers it again.
    """
    after_commit(wake.set)
    return await _answer(tx, await control.start(tx, batch_id, actor=caller.actor))


@batches.post(f"{_ONE}/pause", problems=_MOVES)
async def pause_batch(
    tx: TenantTx, batch_id: BatchId, caller: Caller, control: BatchControl
) -> Answer[BatchView]:
    """Make no more messages, until it is resumed.

    What is made already is still sent: 2,000 messages at once at most, and up to 20,000 when what they wait for is over.
    """
    return await _answer(tx, await control.pause(tx, batch_id, actor=caller.actor))


@batches.post(f"{_ONE}/resume", problems=[*_MOVES, "batch_not_ready", "batch_approval_missing"])
async def resume_batch(
    tx: TenantTx,
    batch_id: BatchId,
    caller: Caller,
    control: BatchControl,
    wake: BatchWake,
    after_commit: AfterCommit,
) -> Answer[BatchView]:
    """Go on with a paused batch, where it stood.

    Whose local hour fell into the pause is written to at the next one.
    """
    after_commit(wake.set)
    return await _answer(tx, await control.resume(tx, batch_id, actor=caller.actor))


@batches.post(f"{_ONE}/cancel", problems=_MOVES)
async def cancel_batch(
    tx: TenantTx,
    batch_id: BatchId,
    caller: Caller,
    control: BatchControl,
    wake: BatchWake,
    after_commit: AfterCommit,
) -> Answer[BatchView]:
    """End a batch for good.

    Whose message is not handed over yet is not written to. Cancelling a cancelled one answers it again.
    """
    after_commit(wake.set)
    return await _answer(tx, await control.cancel(tx, batch_id, actor=caller.actor))


@batches.get(f"{_ONE}/people", listing="batch_people", problems=_KNOWN)
async def list_batch_people(
    tx: TenantTx, batch_id: BatchId, query: ListBatchPeople, paging: Paging
) -> Page[BatchPersonView]:
    """List the ledger of a batch: each person once, with what became of them.

    Where few lines fit a filter, a page may be short or empty and still have a `next_cursor` to go on from.
    """
    batch = await store.find_batch(tx, batch_id)
    narrow = query.state is not None or query.variant is not None or query.unread == "true"
    most = _LOOKED_AT if narrow else paging.fetch
    seen = await store.list_people(
        tx,
        batch_id,
        after=paging.after_id or "",
        state=query.state,
        variant=query.variant,
        unread=query.unread == "true",
        most=most,
    )
    fitting = [line for line, fits in seen if fits]
    if len(fitting) >= paging.fetch or len(seen) < most:
        return paging.page(
            fitting, lambda line: BatchPersonView.of(line, batch), id_of=lambda line: line.recipient_id
        )
    return paging.page_until(seen[-1][0].recipient_id, [BatchPersonView.of(line, batch) for line in fitting])


@batches.get(f"{_ONE}/report", problems=_KNOWN)
async def show_batch_report(
    tx: TenantTx, batch_id: BatchId, query: ShowReport, reporter: BatchReporter
) -> BatchReport:
    """What a batch came to: everybody by what became of them, the shares of an A/B test, and what is uncertain.

    From counts that are kept with the work; `verify=true` reads the whole ledger and holds it against them.
    """
    return await reporter.report(tx, await store.find_batch(tx, batch_id), verify=query.verify == "true")


@batches.get(f"{_ONE}/progress", media_type="text/event-stream", problems=_KNOWN)
async def follow_batch(open_tx: OpenTx[TenantTx], batch_id: BatchId, still_allowed: StillAllowed) -> Reply:
    """Follow a batch as it runs: a stream of `progress` events, and `end` when nothing is under way any more."""
    await show(open_tx, batch_id)
    return Reply(
        body=progress_lines(open_tx, batch_id, still_allowed),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _answer(tx: TenantTx, batch: StoredBatch, *, location: str | None = None) -> Answer[BatchView]:
    counts = (await store.sum_counts(tx, [batch.id]))[batch.id]
    return Answer(BatchView.of(batch, store.all_together(counts)), version=batch.version, location=location)
