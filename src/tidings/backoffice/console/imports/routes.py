"""Pages of imports: a file is handed on to the API while it arrives."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.imports.pages import DIALECTS, HOME, KINDS, import_page, imports_page
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.streamed_form import FormUploadLimit, StreamedForm
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

imports_pages = Resource("console-imports", at=HOME, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/imports"
_SHOWN: Final = 20
#: Endings of files that hold a JSON object on each line.
_JSON_LINES: Final = (".ndjson", ".jsonl")


@imports_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_imports(request: Request, visits: Visits) -> Reply:
    """The newest, and the form that sends a file."""
    visit = await visits.open(request, of_tenant=True)
    return await _listed(visit, told=visit.told())


@imports_pages.post("/", media_type=_HTML, body_limit=FormUploadLimit)
@answering_with_pages
async def import_file(request: Request, visits: Visits) -> Reply:
    """Import a file, or rehearse it; the answer comes when all of it was read."""
    visit, form = await visits.uploaded(request, of_tenant=True)
    try:
        made = await _import(visit, form)
    except ApiProblemError as problem:
        if problem.status == 401:
            raise
        return await _listed(visit, told=_why(visit, problem), status=problem.status)
    except BadValueError as error:
        told = Told(text=f"{error.field} {error.remedy}", is_error=True)
        return await _listed(visit, told=told, status=400)
    return redirect(f"{HOME}/{made['id']}?told=imports_done")


@imports_pages.get("/{import_id}", media_type=_HTML)
@answering_with_pages
async def show_import(request: Request, import_id: str, visits: Visits) -> Reply:
    """One of them: how far it came."""
    visit = await visits.open(request, of_tenant=True)
    one = await visit.api.get(at(f"{_API}/{{}}", import_id))
    return import_page(visit, one, told=visit.told())


@imports_pages.post("/{import_id}/report", media_type="text/csv", body_limit=MOST_BYTES)
@answering_with_pages
async def download_report(request: Request, import_id: str, visits: Visits) -> Reply:
    """All that was wrong with its lines, as a CSV."""
    visit, _ = await visits.posted(request, writes=False, of_tenant=True)
    return await visit.api.download("GET", at(f"{_API}/{{}}/report", import_id))


async def _listed(visit: Visit, *, told: Told | None = None, status: int = 200) -> Reply:
    found = await visit.api.get(_API, limit=_SHOWN, cursor=visit.query.get("cursor"))
    return imports_page(visit, found, told=told, status=status)


async def _import(visit: Visit, form: StreamedForm) -> Any:
    fields, kind = form.fields, form.fields.get("kind", "")
    if kind not in KINDS:
        raise BadValueError("kind", f"must be one of {', '.join(KINDS)}")
    if form.file is None:
        raise BadValueError("file", "must be chosen")
    query = {"dry_run": "true" if fields.get("dry_run") == "on" else "false"}
    if kind == "suppressions":
        dialect = fields.get("format", "auto")
        if dialect not in DIALECTS:
            raise BadValueError("format", f"must be one of {', '.join(DIALECTS)}")
        query |= {"format": dialect, "mapping": fields.get("mapping", "").strip()}
    lines = form.filename.lower().endswith(_JSON_LINES)
    key = fields.get("key", "")[:64]
    answer = await visit.api.call(
        "POST",
        f"/api/v1/{kind}/import",
        query=query,
        content=form.file,
        media_type="application/x-ndjson" if lines else "text/csv",
        headers={"idempotency-key": key} if key.isalnum() else None,
    )
    return answer.data


def _why(visit: Visit, problem: ApiProblemError) -> Told:
    """What the API says against the file, by field where it names fields."""
    if problem.errors and problem.status in (400, 422):
        return Told(text="; ".join(f"{name} {what}" for name, what in problem.errors.items()), is_error=True)
    return visit.refused(problem)
