"""Callbacks of vendors that found nothing: events without an attempt, refused requests, numbers that are nobody's."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page, redirect
from tidings.backoffice.console.html import Child, Html, el
from tidings.backoffice.console.kit.forms import (
    button,
    confirm,
    filter_form,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import badge, code, empty, moment, section
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

HERE: Final = "/console/callbacks"
callbacks_pages = Resource(
    "console-callbacks", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True
)

_HTML: Final = "text/html"
_API: Final = "/internal/v1/callbacks"
_STATUSES: Final = ("dlq", "late_correlate", "queued")
_PARTS: Final = ("events", "requests")

Row = dict[str, Any]


@callbacks_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_callbacks(request: Request, visits: Visits) -> Reply:
    """What found nothing."""
    return await _shown(await visits.open(request))


@callbacks_pages.post("/requeue", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def requeue_callbacks(request: Request, visits: Visits) -> Reply:
    """Look for the attempt of one again, or of all of a vendor."""
    visit, fields = await visits.posted(request, writes=True)
    one, vendor = fields.get("id"), fields.get("vendor", "").strip()
    body = {"ids": [one]} if one else {"vendor": vendor}
    try:
        done = await visit.api.post(f"{_API}/requeue", body)
    except ApiProblemError as error:
        return await _shown(visit, error)
    text = visit.words["tenants.requeued"].replace("{count}", str(done["requeued"]))
    return await _shown(visit, told=Told(text=text))


@callbacks_pages.post("/{part}/{callback_id}/body", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def read_body(request: Request, part: str, callback_id: str, visits: Visits) -> Reply:
    """The raw body, as a download; attested and audited."""
    visit, fields = await visits.posted(request, writes=True)
    root = f"{_API}/requests" if part == "requests" else _API
    try:
        attestation = await visit.attest("raw.read", fields)
        answer = await visit.api.call("GET", at(f"{root}/{{}}/body", callback_id), attestation=attestation)
    except ApiProblemError as error:
        return await _shown(visit, error)
    return Reply.download(answer.content)


@callbacks_pages.get("/requeue", media_type=_HTML)
@answering_with_pages
async def back_to_callbacks(request: Request, visits: Visits) -> Reply:
    """Reloading what follows an order leads back."""
    await visits.open(request)
    return redirect(HERE)


async def _shown(visit: Visit, error: ApiProblemError | None = None, *, told: Told | None = None) -> Reply:
    query = visit.query
    status = query.get("status")
    found = await visit.api.get(
        _API,
        status=status if status in _STATUSES else None,
        vendor=query.get("vendor"),
        cursor=query.get("cursor"),
    )
    refused = await visit.api.get(f"{_API}/requests", limit=20)
    unmatched = await visit.api.get("/internal/v1/inbound-unmatched", limit=20)
    if error is not None:
        told = visit.refused(error)
    words = visit.words
    parts: list[Child] = [
        _events(visit, found),
        _requests(visit, refused["items"]),
        _numbers(visit, unmatched["items"]),
    ]
    return page(
        words,
        words["tenants.callbacks"],
        parts,
        reader=visit.reader,
        here=HERE,
        told=told,
        status=error.status if error else 200,
    )


def _events(visit: Visit, found: Row) -> Html:
    words, query = visit.words, visit.query
    statuses = [(one, words[f"tenants.callback.{one}"]) for one in _STATUSES]
    filters = filter_form(
        words,
        HERE,
        select_field("status", words["status"], statuses, query.get("status")),
        text_field("vendor", words["tenants.vendor"], query.get("vendor"), maxlength=63, dir="ltr"),
    )

    def verbs(one: Row) -> Html | None:
        if not visit.may("router:write"):
            return None
        fields = (hidden("id", one["id"]), button(words["tenants.requeue"], "quiet"))
        again = post_form(visit.reader, f"{HERE}/requeue", fields) if one["status"] == "dlq" else None
        return el("div", again, _body(visit, "events", one["id"]), class_="actions")

    listed = table(
        words["tenants.events"],
        [
            Column[Row](words["tenants.vendor"], lambda one: code(one["vendor"])),
            Column[Row](words["tenants.vendor_id"], lambda one: code(one["vendor_message_id"]), "grow"),
            Column[Row](words["tenants.means"], lambda one: badge(one["means"].replace("_", " "))),
            Column[Row](words["tenants.received"], lambda one: moment(one["received_at"])),
            Column[Row](words["tenants.looks"], lambda one: one["looks"], "num"),
            Column[Row]("", verbs),
        ],
        found["items"],
        empty=empty(words["tenants.no_events"], words["tenants.no_events_hint"]),
    )
    everything = None
    if query.get("vendor") and found["items"] and visit.may("router:write"):
        fields = (hidden("vendor", query.get("vendor", "")), button(words["tenants.requeue_all"], "quiet"))
        everything = post_form(visit.reader, f"{HERE}/requeue", fields)
    kept = {key: query.get(key) for key in ("status", "vendor", "cursor")}
    return section(
        words["tenants.events"],
        filters,
        listed,
        pager(words, HERE, kept, found.get("next_cursor")),
        actions=everything,
        id_="events",
    )


def _requests(visit: Visit, found: list[Row]) -> Html:
    words = visit.words
    listed = table(
        words["tenants.requests"],
        [
            Column[Row](words["tenants.vendor"], lambda one: code(one["vendor"])),
            Column[Row](words["tenants.reason"], lambda one: badge(one["reason"] or "–", "bad"), "grow"),
            Column[Row](words["tenants.received"], lambda one: moment(one["received_at"])),
            Column[Row](
                "", lambda one: _body(visit, "requests", one["id"]) if visit.may("router:write") else None
            ),
        ],
        found,
        empty=el("p", words["tenants.no_requests"], class_="soft"),
    )
    return section(words["tenants.requests"], el("p", words["tenants.requests_text"]), listed, id_="requests")


def _numbers(visit: Visit, found: list[Row]) -> Html:
    words = visit.words
    listed = table(
        words["tenants.numbers"],
        [
            Column[Row](words["tenants.number"], lambda one: code(one["destination"]), "grow"),
            Column[Row](words["tenants.messages"], lambda one: one["messages"], "num"),
            Column[Row](words["tenants.received"], lambda one: moment(one["last_at"])),
        ],
        found,
        empty=el("p", words["tenants.no_numbers"], class_="soft"),
    )
    return section(words["tenants.numbers"], el("p", words["tenants.numbers_text"]), listed, id_="numbers")


def _body(visit: Visit, part: str, callback_id: str) -> Html:
    words = visit.words
    return confirm(
        words,
        visit.reader,
        f"{HERE}/{part}/{callback_id}/body",
        words["tenants.body"],
        words["tenants.body_question"],
        attested=True,
        kind="quiet",
    )
