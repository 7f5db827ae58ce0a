"""The public pages of the webhook portal, `/portal/…`: who has the link needs no other login. Looking changes nothing; only a POST does."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource
from tidings.notify.ids import WEBHOOK_DELIVERY
from tidings.notify.preference_center.frame import SECRET_PAGE_HEADERS, HtmlPage, page_reply
from tidings.notify.webhook_portal.answering import PAGES, REFUSALS, answering_with_pages
from tidings.notify.webhook_portal.delivery_pages import deliveries_page, delivery_page
from tidings.notify.webhook_portal.desk import EndpointForm, PortalDesk, WrongFormError
from tidings.notify.webhook_portal.endpoint_pages import SPANS, endpoint_page, list_page
from tidings.notify.webhook_portal.event_choices import choices_of
from tidings.notify.webhook_portal.form_pages import ask_page, endpoint_form, secret_page
from tidings.notify.webhook_portal.parts import deleted_page, note_of, test_result
from tidings.notify.webhook_portal.view import LATEST, PAGE, PortalReader
from tidings.notify.webhook_portal.visits import PortalRefusedError, PortalVisit, PortalVisits, missing
from tidings.notify.webhooks.model import WebhookDeliveryStatus
from tidings.notify.webhooks.redeliver import WebhookRedelivery

portal_pages = Resource("webhook-portal-pages", at="", tag="webhook portal pages", owner=Owner.PUBLIC)

_HTML: Final = "text/html"
_HOME: Final = "/portal/{token}"
_ONE: Final = "/portal/{token}/endpoints/{webhook_id}"
#: A form names every type of event that is ticked.
_MOST_FIELDS: Final = 300
_MOST_BYTES: Final = 64 * 1024
_WRONG: Final = 400
_WRONG_PAGE: Final = {_WRONG: "Something in the form can't be; it is shown again, with what is wrong."}


@portal_pages.get(_HOME, media_type=_HTML, pages=PAGES)
@answering_with_pages
async def show_portal(
    request: Request, token: str, visits: PortalVisits, reader: PortalReader, clock: Clock
) -> Reply:
    """Show the endpoints of a portal link, as a page."""
    visit = await visits.open(token, request)
    told = note_of(visit.words, _query(request))
    if visit.link.customer is None:
        return await _endpoint(visit, visit.link.subscription_id, reader, clock, told=told)
    return page_reply(list_page(visit, await reader.all(visit), now=clock.now(), told=told))


@portal_pages.get(f"{_HOME}/new", media_type=_HTML, pages=REFUSALS)
@answering_with_pages
async def ask_for_endpoint(request: Request, token: str, visits: PortalVisits) -> Reply:
    """Show the form of a new endpoint, as a page."""
    visit = await visits.open(token, request)
    _refuse_looking_on(visit)
    if visit.link.customer is None:
        raise PortalRefusedError("closed", visit)
    return page_reply(_new_form(visit, {}, ()))


@portal_pages.post(
    f"{_HOME}/new", media_type=_HTML, pages={**REFUSALS, **_WRONG_PAGE}, body_limit=_MOST_BYTES
)
@answering_with_pages
async def add_endpoint(request: Request, token: str, visits: PortalVisits, desk: PortalDesk) -> Reply:
    """Add an endpoint, from the page; its secret is shown this once."""
    fields = await _fields(request)
    visit = await visits.open_to_change(token, request)
    form = _form(fields)
    try:
        made, secret = await desk.add(visit, form)
    except WrongFormError as wrong:
        page = _new_form(visit, {"url": form.url, "name": form.name}, tuple(form.events), wrong.errors)
        return page_reply(page, status=_WRONG)
    return page_reply(secret_page(visit, made, secret))


@portal_pages.get(_ONE, media_type=_HTML, pages=PAGES)
@answering_with_pages
async def show_endpoint(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, reader: PortalReader, clock: Clock
) -> Reply:
    """Show one endpoint: its status, its calls, what it is told."""
    visit = await visits.open(token, request)
    told = note_of(visit.words, _query(request))
    return await _endpoint(visit, webhook_id, reader, clock, told=told)


@portal_pages.post(_ONE, media_type=_HTML, pages=REFUSALS, status=303, body_limit=_MOST_BYTES)
@answering_with_pages
async def act_on_endpoint(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, desk: PortalDesk
) -> Reply:
    """Pause or resume an endpoint, or send deliveries once more: `do` says what. Leads back to the page."""
    fields = dict(await _fields(request))
    visit = await visits.open_to_change(token, request)
    do, note = fields.get("do", ""), ""
    if do == "pause":
        await desk.pause(visit, webhook_id)
        note = "paused"
    elif do in ("resume", "resume_without"):
        await desk.resume(visit, webhook_id, discard=do == "resume_without")
        note = "resumed"
    elif do == "redeliver":
        delivery_id = _delivery_id(visit, fields.get("delivery"))
        note = _again(await desk.redeliver(visit, webhook_id, delivery_id=delivery_id))
    elif do == "recover" and fields.get("hours") in {str(hours) for hours in SPANS}:
        note = _again(await desk.recover(visit, webhook_id, span=timedelta(hours=int(fields["hours"]))))
    else:
        raise missing(visit)
    return _onward(f"{visit.home}/endpoints/{webhook_id}?note={note}")


@portal_pages.post(f"{_ONE}/test", media_type=_HTML, pages=REFUSALS, body_limit=_MOST_BYTES)
@answering_with_pages
async def test_endpoint(
    request: Request,
    token: str,
    webhook_id: str,
    visits: PortalVisits,
    reader: PortalReader,
    desk: PortalDesk,
    clock: Clock,
) -> Reply:
    """Call an endpoint once with an event that never happened, from the page, and show what it answered."""
    visit = await visits.open_to_change(token, request, calls_out=True)
    result, milliseconds = await desk.test(visit, webhook_id)
    told = test_result(visit.words, result, milliseconds)
    return await _endpoint(visit, webhook_id, reader, clock, told=told)


@portal_pages.get(f"{_ONE}/change", media_type=_HTML, pages=REFUSALS)
@answering_with_pages
async def ask_for_change(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, reader: PortalReader
) -> Reply:
    """Show the form of an endpoint, as a page."""
    visit = await visits.open(token, request)
    _refuse_looking_on(visit)
    return page_reply(await _change_form(visit, webhook_id, reader))


@portal_pages.post(
    f"{_ONE}/change",
    media_type=_HTML,
    pages={**REFUSALS, **_WRONG_PAGE},
    status=303,
    body_limit=_MOST_BYTES,
)
@answering_with_pages
async def change_endpoint(
    request: Request,
    token: str,
    webhook_id: str,
    visits: PortalVisits,
    reader: PortalReader,
    desk: PortalDesk,
) -> Reply:
    """Change address, name or events of an endpoint, from the page. Leads back to it."""
    fields = await _fields(request)
    visit = await visits.open_to_change(token, request)
    form = _form(fields)
    try:
        await desk.change(visit, webhook_id, form)
    except WrongFormError as wrong:
        page = await _change_form(visit, webhook_id, reader, form=form, errors=wrong.errors)
        return page_reply(page, status=_WRONG)
    return _onward(f"{visit.home}/endpoints/{webhook_id}?note=saved")


@portal_pages.get(f"{_ONE}/rotate", media_type=_HTML, pages=REFUSALS)
@answering_with_pages
async def ask_for_secret(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, reader: PortalReader
) -> Reply:
    """Ask before another secret is made, as a page; changes nothing."""
    visit = await visits.open(token, request)
    return await _ask(visit, webhook_id, reader, visit.words.rotate, visit.words.ask_rotate, "rotate")


@portal_pages.post(f"{_ONE}/rotate", media_type=_HTML, pages=REFUSALS, body_limit=_MOST_BYTES)
@answering_with_pages
async def rotate_endpoint_secret(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, desk: PortalDesk
) -> Reply:
    """Sign with another secret, from the page, where it is shown this once."""
    fields = dict(await _fields(request))
    visit = await visits.open_to_change(token, request)
    after, secret = await desk.rotate(visit, webhook_id, version=fields.get("version", ""))
    return page_reply(secret_page(visit, after, secret))


@portal_pages.get(f"{_ONE}/delete", media_type=_HTML, pages=REFUSALS)
@answering_with_pages
async def ask_to_delete(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, reader: PortalReader
) -> Reply:
    """Ask before an endpoint is deleted, as a page; changes nothing."""
    visit = await visits.open(token, request)
    return await _ask(visit, webhook_id, reader, visit.words.delete, visit.words.ask_delete, "delete")


@portal_pages.post(
    f"{_ONE}/delete",
    media_type=_HTML,
    pages={
        **REFUSALS,
        200: "A page that says so, where the link was made for this one and has ended with it.",
    },
    status=303,
    body_limit=_MOST_BYTES,
)
@answering_with_pages
async def delete_endpoint(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, desk: PortalDesk
) -> Reply:
    """Delete an endpoint, from the page. Leads to those that are left."""
    visit = await visits.open_to_change(token, request)
    if not await desk.delete(visit, webhook_id):
        return page_reply(deleted_page(visit))
    return _onward(f"{visit.home}?note=deleted")


@portal_pages.get(f"{_ONE}/deliveries", media_type=_HTML, pages=PAGES)
@answering_with_pages
async def show_deliveries(
    request: Request, token: str, webhook_id: str, visits: PortalVisits, reader: PortalReader
) -> Reply:
    """Show what an endpoint was told, is told and will be told, as a page."""
    visit = await visits.open(token, request)
    query = _query(request)
    wanted = query.get("status", "")
    status = WebhookDeliveryStatus(wanted) if wanted in set(WebhookDeliveryStatus) else None
    seen = await reader.one(
        visit, webhook_id, deliveries=PAGE, status=status, after_id=query.get("after") or None
    )
    return page_reply(deliveries_page(visit, seen, status=status))


@portal_pages.get(f"{_ONE}/deliveries/{{delivery_id}}", media_type=_HTML, pages=PAGES)
@answering_with_pages
async def show_delivery(
    request: Request,
    token: str,
    webhook_id: str,
    delivery_id: str,
    visits: PortalVisits,
    reader: PortalReader,
) -> Reply:
    """Show one delivery with its request and its calls, as a page."""
    visit = await visits.open(token, request)
    return page_reply(delivery_page(visit, await reader.delivery(visit, webhook_id, delivery_id)))


async def _endpoint(
    visit: PortalVisit, webhook_id: str, reader: PortalReader, clock: Clock, *, told: str
) -> Reply:
    seen = await reader.one(visit, webhook_id, deliveries=LATEST)
    several = visit.link.customer is not None
    return page_reply(endpoint_page(visit, seen, now=clock.now(), told=told, back=several))


async def _ask(
    visit: PortalVisit, webhook_id: str, reader: PortalReader, heading: str, text: str, what: str
) -> Reply:
    _refuse_looking_on(visit)
    webhook = (await reader.one(visit, webhook_id)).webhook
    place = f"{visit.home}/endpoints/{webhook.id}"
    return page_reply(
        ask_page(visit, webhook, heading=heading, text=text, action=f"{place}/{what}", back=place)
    )


def _new_form(
    visit: PortalVisit,
    written: Mapping[str, str],
    ticked: tuple[str, ...],
    errors: Mapping[str, str] | None = None,
) -> HtmlPage:
    return endpoint_form(
        visit,
        choices_of(visit.link.event_types),
        action=f"{visit.home}/new",
        back=visit.home,
        written=written,
        ticked=ticked,
        errors=errors,
    )


async def _change_form(
    visit: PortalVisit,
    webhook_id: str,
    reader: PortalReader,
    *,
    form: EndpointForm | None = None,
    errors: Mapping[str, str] | None = None,
) -> HtmlPage:
    seen = await reader.one(visit, webhook_id)
    webhook = seen.webhook
    settings, place = webhook.settings, f"{visit.home}/endpoints/{webhook.id}"
    written = {"url": settings.target_url, "name": settings.name}
    ticked = settings.event_types
    if form is not None:
        written, ticked = {"url": form.url, "name": form.name}, tuple(form.events)
    return endpoint_form(
        visit,
        seen.offered,
        action=f"{place}/change",
        back=place,
        written=written,
        ticked=ticked,
        webhook=webhook,
        errors=errors,
    )


def _refuse_looking_on(visit: PortalVisit) -> None:
    """Forms are for those who may send them."""
    if not visit.link.may_change:
        raise PortalRefusedError("read_only", visit)


def _form(fields: list[tuple[str, str]]) -> EndpointForm:
    said = dict(fields)
    return EndpointForm(
        url=said.get("url", ""),
        name=said.get("name", ""),
        events=frozenset(value for name, value in fields if name == "events"),
        version=said.get("version", ""),
    )


def _delivery_id(visit: PortalVisit, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        return WEBHOOK_DELIVERY.parse(text)
    except BadValueError:
        raise missing(visit) from None


def _again(done: WebhookRedelivery) -> str:
    note = "redelivered_more" if done.more else "redelivered"
    return f"{note}&count={done.count + done.waiting}"


def _query(request: Request) -> dict[str, str]:
    return dict(_pairs(request.scope.get("query_string", b"")))


async def _fields(request: Request) -> list[tuple[str, str]]:
    return _pairs(await request.body())


def _pairs(encoded: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(encoded.decode("ascii"), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError:
        return []


def _onward(place: str) -> Reply:
    return Reply(media_type=_HTML, headers={"Location": place, **SECRET_PAGE_HEADERS})
