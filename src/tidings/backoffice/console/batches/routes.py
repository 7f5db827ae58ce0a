"""Batches: the list, the builder and its count, what is done with one, its ledger and its report."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.approvals import Approvable, Approvals
from tidings.backoffice.console.batches.batch_form import fields_of_batch, read_batch
from tidings.backoffice.console.batches.batch_page import batch_page
from tidings.backoffice.console.batches.builder_page import HERE, BatchChoices, builder_page, count_part
from tidings.backoffice.console.batches.ledger_page import ledger_page, report_page
from tidings.backoffice.console.batches.list_page import batches_page
from tidings.backoffice.console.frame import redirect
from tidings.backoffice.console.html import Html
from tidings.backoffice.console.kit.typed import Typed, several, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.people_names import names_of_operators
from tidings.backoffice.console.uploads import ROOM
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages, file_of
from tidings.kernel.clock import Clock
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

batches_pages = Resource(
    "console-batches", at="/console/batches", tag="console", owner=Owner.PUBLIC, of_backoffice=True
)
_HTML: Final = "text/html"
_API: Final = "/api/v1/batches"
_STALE: Final = 412
_MOST_OF_A_LIST: Final = 16 * 1024 * 1024
#: What buttons do, and what the page says afterwards.
_DOES: Final[Mapping[str, str]] = {
    "start": "batch_started",
    "pause": "batch_paused",
    "resume": "batch_resumed",
    "cancel": "batch_cancelled",
    "approve": "batch_approved",
    "ask": "batch_approval_asked",
    "clone": "batch_cloned",
}


@batches_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_batches(request: Request, visits: Visits) -> Reply:
    """All batches, with how far each is."""
    visit = await visits.open(request, of_tenant=True)
    found = await visit.api.get(_API, status=visit.query.get("status"), cursor=visit.query.get("cursor"))
    return batches_page(visit, found)


@batches_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def ask_for_batch(request: Request, visits: Visits) -> Reply:
    """The builder of a new batch; the address may bring its filter."""
    visit = await visits.open(request, of_tenant=True)
    fields = {
        "filter": visit.query.get("filter", ""),
        "audience": "filter",
        "channel": "auto",
        "priority": "low",
    }
    fields |= {f"day_{day}": "on" for day in ("mon", "tue", "wed", "thu", "fri", "sat", "sun")}
    return builder_page(visit, Typed(fields=fields), await _choices(visit))


@batches_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def write_batch(request: Request, visits: Visits) -> Reply:
    """Write a draft."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    written = read_batch(fields)
    errors = dict(written.errors)
    if not errors:
        try:
            made = await visit.api.post(_API, written.body)
        except ApiProblemError as error:
            return await _again(visit, fields, error)
        return redirect(f"{HERE}/{made['id']}?told=batch_written")
    return builder_page(visit, Typed(fields=fields, errors=errors), await _choices(visit), status=400)


@batches_pages.post("/count", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def count_people(request: Request, visits: Visits) -> Reply:
    """How many people what is typed is for, and some of them; nothing is written."""
    visit, fields = await visits.posted(request, writes=False, of_tenant=True)
    before = await visit.api.get(at(f"{_API}/{{}}", fields["batch"])) if fields.get("batch") else None
    counted = await _counted(visit, fields, before)
    return builder_page(visit, Typed(fields=fields), await _choices(visit), batch=before, counted=counted)


@batches_pages.get("/{batch_id}", media_type=_HTML)
@answering_with_pages
async def show_batch(
    request: Request, batch_id: str, visits: Visits, approvals: Approvals, clock: Clock
) -> Reply:
    """A draft with whom it would go to, or how one is going."""
    visit = await visits.open(request, of_tenant=True)
    return await _batch(visit, batch_id, approvals, clock)


@batches_pages.get("/{batch_id}/edit", media_type=_HTML)
@answering_with_pages
async def edit_batch(request: Request, batch_id: str, visits: Visits) -> Reply:
    """The builder of a draft."""
    visit = await visits.open(request, of_tenant=True)
    batch = await visit.api.get(at(f"{_API}/{{}}", batch_id))
    variables = await visit.api.get(at(f"{_API}/{{}}/variables", batch_id))
    fields = {**fields_of_batch(batch, variables), "version": str(batch["version"])}
    counted = await _counted(visit, fields, batch)
    return builder_page(visit, Typed(fields=fields), await _choices(visit), batch=batch, counted=counted)


@batches_pages.post("/{batch_id}/edit", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_batch(request: Request, batch_id: str, visits: Visits) -> Reply:
    """Write the draft anew; what another has saved meanwhile is not lost."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    path = at(f"{_API}/{{}}", batch_id)
    batch = await visit.api.get(path)
    written = read_batch(fields, batch)
    if written.errors:
        typed = Typed(fields=fields, errors=written.errors)
        return builder_page(visit, typed, await _choices(visit), batch=batch, status=400)
    try:
        wanted = f'"v{whole(fields, "version")}"'
        await visit.api.call("PUT", path, body=written.body, if_match=wanted)
    except ApiProblemError as error:
        # Saving once more is saving over what another has saved.
        newer = {"version": str(batch["version"])} if error.status == _STALE else {}
        return await _again(visit, {**fields, **newer}, error, batch)
    return redirect(f"{HERE}/{batch_id}?told=saved")


@batches_pages.get("/{batch_id}/people", media_type=_HTML)
@answering_with_pages
async def show_ledger(request: Request, batch_id: str, visits: Visits) -> Reply:
    """What became of each person."""
    visit = await visits.open(request, of_tenant=True)
    batch = await visit.api.get(at(f"{_API}/{{}}", batch_id))
    wanted = {name: visit.query.get(name) for name in ("state", "variant", "unread", "cursor")}
    return ledger_page(visit, batch, await visit.api.get(at(f"{_API}/{{}}/people", batch_id), **wanted))


@batches_pages.get("/{batch_id}/report", media_type=_HTML)
@answering_with_pages
async def show_report(request: Request, batch_id: str, visits: Visits) -> Reply:
    """What became of all."""
    visit = await visits.open(request, of_tenant=True)
    batch = await visit.api.get(at(f"{_API}/{{}}", batch_id))
    verify = "true" if visit.query.get("verify") == "true" else None
    return report_page(visit, batch, await visit.api.get(at(f"{_API}/{{}}/report", batch_id), verify=verify))


@batches_pages.post("/{batch_id}/upload", media_type=_HTML, body_limit=_MOST_OF_A_LIST + ROOM)
@answering_with_pages
async def upload_list(
    request: Request, batch_id: str, visits: Visits, approvals: Approvals, clock: Clock
) -> Reply:
    """Put everybody in a file on the list of a draft, or only try it."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    content = await file_of(request, "file")
    is_json = content.lstrip()[:1] == b"{"
    try:
        answered = await visit.api.call(
            "POST",
            at(f"{_API}/{{}}/recipients", batch_id),
            query={"dry_run": None if fields.get("do") == "take" else "true"},
            content=content,
            media_type="application/x-ndjson" if is_json else "text/csv",
        )
    except ApiProblemError as error:
        return await _batch(visit, batch_id, approvals, clock, error=error)
    return await _batch(visit, batch_id, approvals, clock, uploaded=answered.data)


@batches_pages.post("/{batch_id}/test", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def test_words(
    request: Request, batch_id: str, visits: Visits, approvals: Approvals, clock: Clock
) -> Reply:
    """Send its words to a few people: real messages, beside the batch."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    body = {"recipients": several(fields, "recipients"), "variant": whole(fields, "variant") or 0}
    try:
        await visit.api.post(at(f"{_API}/{{}}/test", batch_id), body)
    except ApiProblemError as error:
        return await _batch(visit, batch_id, approvals, clock, error=error)
    return redirect(f"{HERE}/{batch_id}?told=batch_tested")


@batches_pages.post("/{batch_id}/{do}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def do_with_batch(
    request: Request, batch_id: str, do: str, visits: Visits, approvals: Approvals, clock: Clock
) -> Reply:
    """Start, pause, resume, cancel, copy, approve, or ask for an approval."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    path = at(f"{_API}/{{}}", batch_id)
    if do not in _DOES:
        raise ApiProblemError(404, {"code": "not_found"})
    goes_to = batch_id
    try:
        batch = await visit.api.get(path)
        if do == "ask":
            await approvals.ask(visit, _approvable(batch))
        elif do == "approve":
            await visit.api.call("POST", f"{path}/approve", if_match=f'"v{whole(fields, "version")}"')
            await approvals.settled(visit, _approvable(batch))
        else:
            made = await visit.api.post(f"{path}/{do}")
            goes_to = made["id"]
            if do != "clone":
                await approvals.settled(visit, _approvable(batch))
    except ApiProblemError as error:
        return await _batch(visit, batch_id, approvals, clock, error=error)
    return redirect(f"{HERE}/{goes_to}?told={_DOES[do]}")


async def _batch(
    visit: Visit,
    batch_id: str,
    approvals: Approvals,
    clock: Clock,
    *,
    uploaded: Mapping[str, Any] | None = None,
    error: ApiProblemError | None = None,
) -> Reply:
    if error is not None and error.status == 401:
        raise error
    batch = await visit.api.get(at(f"{_API}/{{}}", batch_id))
    dry_run = asked_by = None
    if batch["status"] == "draft":
        asked_by = await approvals.asked_by(visit, _approvable(batch))
        if visit.may("batches:read"):
            dry_run = await visit.api.post(at(f"{_API}/{{}}/dry-run", batch_id))
    return batch_page(
        visit,
        batch,
        await names_of_operators(visit),
        now=clock.now(),
        dry_run=dry_run,
        uploaded=uploaded,
        asked_by=asked_by,
        told=visit.refused(error) if error else None,
        status=error.status if error else 200,
    )


async def _again(
    visit: Visit, fields: Mapping[str, str], error: ApiProblemError, batch: Mapping[str, Any] | None = None
) -> Reply:
    if error.status == 401:
        raise error
    typed = Typed(fields=fields, errors=error.errors)
    told = visit.refused(error)
    return builder_page(visit, typed, await _choices(visit), batch=batch, told=told, status=error.status)


async def _counted(visit: Visit, fields: Mapping[str, str], batch: Mapping[str, Any] | None) -> Html:
    """A list that is uploaded is counted by the draft that has it, and the rest by what is typed."""
    written = read_batch(fields, batch)
    if written.errors:
        return count_part(visit, None, written.errors)
    try:
        if fields.get("audience") == "list":
            return count_part(visit, await _dry_run(visit, batch) if batch and batch["listed"] else None)
        # People are counted before it has a name.
        body = {"name": "…", **written.body}
        return count_part(visit, await visit.api.post(f"{_API}/preview", body))
    except ApiProblemError as error:
        if error.status == 401:
            raise
        return count_part(visit, None, error.errors or {error.code: error.detail})


async def _dry_run(visit: Visit, batch: Mapping[str, Any]) -> Any:
    return await visit.api.post(at(f"{_API}/{{}}/dry-run", batch["id"]))


async def _choices(visit: Visit) -> BatchChoices:
    templates, categories = [], []
    if visit.may("templates:read"):
        found = await visit.api.get("/api/v1/templates", status="active", limit=100)
        templates = sorted({one["key"] for one in found["items"]})
        known = await visit.api.get("/api/v1/categories")
        categories = [(one["category"], one["category"]) for one in known["items"] if not one["retired"]]
    return BatchChoices(templates=templates, categories=categories)


def _approvable(batch: Mapping[str, Any]) -> Approvable:
    return Approvable(
        category="batch_approval", id=batch["id"], version=batch["version"], facts={"batch": batch["id"]}
    )
