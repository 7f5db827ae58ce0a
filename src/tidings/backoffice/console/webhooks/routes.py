"""Pages of webhooks and their deliveries."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import Told, redirect
from tidings.backoffice.console.html import filled
from tidings.backoffice.console.kit.marks import moment
from tidings.backoffice.console.kit.typed import Typed, given, lines, moment_of, text, whole
from tidings.backoffice.console.own_api import ApiProblemError, at
from tidings.backoffice.console.visits import MOST_BYTES, Visit, Visits, answering_with_pages
from tidings.backoffice.console.webhooks.delivery_page import delivery_page
from tidings.backoffice.console.webhooks.form_page import new_webhook_page
from tidings.backoffice.console.webhooks.list_page import HERE, STATUSES, webhooks_page
from tidings.backoffice.console.webhooks.webhook_page import DELIVERY_STATUSES, shown_once_page, webhook_page
from tidings.kernel.http.answers import Reply
from tidings.kernel.http.requests import Request
from tidings.kernel.http.resources import Owner, Resource

webhooks_pages = Resource("console-webhooks", at=HERE, tag="console", owner=Owner.PUBLIC, of_backoffice=True)

_HTML: Final = "text/html"
_API: Final = "/api/v1/webhooks"
_ONE: Final = f"{_API}/{{}}"
_NUMBERS: Final = ("max_in_flight", "timeout_seconds", "disable_after")

Fields = Mapping[str, str]


@webhooks_pages.get("/", media_type=_HTML)
@answering_with_pages
async def show_webhooks(request: Request, visits: Visits) -> Reply:
    """The webhooks of this tenant."""
    visit = await visits.open(request, of_tenant=True)
    found = await visit.api.get(
        _API,
        cursor=visit.query.get("cursor"),
        customer=visit.query.get("customer"),
        status=_one_of(visit, "status", STATUSES),
    )
    return webhooks_page(visit, found["items"], found.get("next_cursor"), told=visit.told())


@webhooks_pages.get("/new", media_type=_HTML)
@answering_with_pages
async def show_new_webhook(request: Request, visits: Visits) -> Reply:
    """A webhook to be."""
    return new_webhook_page(await visits.open(request, of_tenant=True), Typed())


@webhooks_pages.post("/new", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_webhook(request: Request, visits: Visits) -> Reply:
    """Make one, and show its secret, this once."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    numbers = given(max_per_minute=whole(fields, "max_per_minute"))
    body = given(**_settings(fields)) | numbers
    try:
        made = await visit.api.post(_API, body)
    except ApiProblemError as error:
        typed = Typed(fields=fields, errors=error.errors)
        return new_webhook_page(visit, typed, told=visit.refused(error), status=error.status)
    words = visit.words
    return shown_once_page(
        visit,
        made,
        heading=words["webhooks.secret"],
        text=words["webhooks.secret_text"],
        value=made["secret"],
    )


@webhooks_pages.get("/{webhook_id}", media_type=_HTML)
@answering_with_pages
async def show_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """One webhook."""
    return await _webhook(await visits.open(request, of_tenant=True), webhook_id)


@webhooks_pages.post("/{webhook_id}", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def change_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Change what it says."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    settings = _settings(fields)
    optional = {name: settings[name] for name in ("condition", "customer")}
    optional["max_per_minute"] = whole(fields, "max_per_minute")
    version = fields.get("version", "")
    try:
        await visit.api.call(
            "PATCH",
            at(_ONE, webhook_id),
            body=given(**settings) | optional,
            if_match=f'"v{version}"' if version.isdecimal() else None,
        )
    except ApiProblemError as error:
        return await _webhook(visit, webhook_id, error, typed=Typed(fields=fields, errors=error.errors))
    return redirect(f"{HERE}/{webhook_id}?told=webhook_saved")


@webhooks_pages.post("/{webhook_id}/pause", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def pause_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Call it no more until it is resumed."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{at(_ONE, webhook_id)}/pause")
    return redirect(f"{HERE}/{webhook_id}?told=webhook_paused")


@webhooks_pages.post("/{webhook_id}/resume", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def resume_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Call it again."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{at(_ONE, webhook_id)}/resume", {"discard_waiting": "discard" in fields})
    return redirect(f"{HERE}/{webhook_id}?told=webhook_resumed")


@webhooks_pages.post("/{webhook_id}/test", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def test_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Tell it of something that never happened."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    tried = await visit.api.post(f"{at(_ONE, webhook_id)}/test")
    return await _webhook(visit, webhook_id, tried=tried)


@webhooks_pages.post("/{webhook_id}/rotate", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def rotate_secret(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Sign with another secret, and show it, this once."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    try:
        attestation = await visit.attest("credential.change", fields)
        made = await visit.api.post(f"{at(_ONE, webhook_id)}/rotate-secret", attestation=attestation)
    except ApiProblemError as error:
        return await _webhook(visit, webhook_id, error)
    words = visit.words
    return shown_once_page(
        visit,
        made,
        heading=words["webhooks.secret"],
        text=words["webhooks.secret_text"],
        value=made["secret"],
    )


@webhooks_pages.post("/{webhook_id}/delete", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def delete_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Tell it nothing more."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.call("DELETE", at(_ONE, webhook_id))
    return redirect(f"{HERE}?told=webhook_deleted")


@webhooks_pages.post("/{webhook_id}/portal-link", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def make_portal_link(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Make a link for a customer, and show it, this once."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    body = given(lifetime_seconds=whole(fields, "lifetime")) | {"may_change": "may_change" in fields}
    try:
        made = await visit.api.post(f"{at(_ONE, webhook_id)}/portal-links", body)
    except ApiProblemError as error:
        return await _webhook(visit, webhook_id, error)
    one = await visit.api.get(at(_ONE, webhook_id))
    words = visit.words
    until = moment(made["expires_at"], exact=True)
    return shown_once_page(
        visit,
        one,
        heading=words["webhooks.portal"],
        text=filled(words["webhooks.portal_text"], until=until),
        value=made["url"],
    )


@webhooks_pages.post("/{webhook_id}/portal-link/end", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def end_portal_links(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Links that were given away open nothing more."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.call("DELETE", f"{at(_ONE, webhook_id)}/portal-links")
    return redirect(f"{HERE}/{webhook_id}?told=portal_links_ended")


@webhooks_pages.post("/{webhook_id}/recover", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def recover_webhook(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Tell it what it has missed, or count that."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    return await _told_again(visit, webhook_id, "recover", {"since": moment_of(fields, "since")}, fields)


@webhooks_pages.post("/{webhook_id}/redeliver", media_type=_HTML, body_limit=MOST_BYTES)
@answering_with_pages
async def redeliver_some(request: Request, webhook_id: str, visits: Visits) -> Reply:
    """Tell it all that fits a filter once more, or count that."""
    visit, fields = await visits.posted(request, writes=True, of_tenant=True)
    event_type = text(fields, "event_type")
    body = given(
        status=text(fields, "status"),
        event_types=[event_type] if event_type else None,
        since=moment_of(fields, "since"),
        until=moment_of(fields, "until"),
    )
    return await _told_again(visit, webhook_id, "redeliver", body, fields)


@webhooks_pages.get("/{webhook_id}/deliveries/{delivery_id}", media_type=_HTML)
@answering_with_pages
async def show_delivery(request: Request, webhook_id: str, delivery_id: str, visits: Visits) -> Reply:
    """One delivery."""
    visit = await visits.open(request, of_tenant=True)
    webhook = await visit.api.get(at(_ONE, webhook_id))
    found = await visit.api.get(at(f"{_ONE}/deliveries/{{}}", webhook_id, delivery_id))
    return delivery_page(visit, webhook, found)


@webhooks_pages.post(
    "/{webhook_id}/deliveries/{delivery_id}/redeliver", media_type=_HTML, body_limit=MOST_BYTES
)
@answering_with_pages
async def redeliver_one(request: Request, webhook_id: str, delivery_id: str, visits: Visits) -> Reply:
    """Tell it once more."""
    visit, _ = await visits.posted(request, writes=True, of_tenant=True)
    await visit.api.post(f"{at(_ONE, webhook_id)}/redeliver", {"delivery_ids": [delivery_id]})
    return redirect(f"{HERE}/{webhook_id}/deliveries/{delivery_id}?told=redelivered")


async def _webhook(
    visit: Visit,
    webhook_id: str,
    error: ApiProblemError | None = None,
    *,
    typed: Typed | None = None,
    tried: dict[str, Any] | None = None,
    told: Told | None = None,
) -> Reply:
    one = await visit.api.get(at(_ONE, webhook_id))
    deliveries = await visit.api.get(
        f"{at(_ONE, webhook_id)}/deliveries",
        cursor=visit.query.get("cursor"),
        status=_one_of(visit, "status", DELIVERY_STATUSES),
        event_type=visit.query.get("event_type"),
        limit=25,
    )
    return webhook_page(
        visit,
        one,
        deliveries,
        told=visit.refused(error) if error else told,
        typed=typed,
        tried=tried,
        status=error.status if error else 200,
    )


async def _told_again(
    visit: Visit, webhook_id: str, verb: str, body: dict[str, Any], fields: Fields
) -> Reply:
    counts = fields.get("do") == "count"
    try:
        done = await visit.api.post(f"{at(_ONE, webhook_id)}/{verb}", {**body, "dry_run": counts})
    except ApiProblemError as error:
        wrong = ", ".join(f"{name} {remedy}" for name, remedy in error.errors.items())
        told = Told(text=wrong, is_error=True) if wrong else visit.refused(error)
        return await _webhook(visit, webhook_id, told=told)
    words = visit.words
    said = words["webhooks.would_tell"] if counts else words["webhooks.tells"]
    more = f" {words['webhooks.more']}" if done["more"] else ""
    text_ = said.replace("{count}", str(done["redelivered"])).replace("{waiting}", str(done["waiting"]))
    return await _webhook(visit, webhook_id, told=Told(text=f"{text_}{more}"))


def _settings(fields: Fields) -> dict[str, Any]:
    return {
        "url": text(fields, "url"),
        "name": text(fields, "name"),
        "events": lines(fields, "events"),
        "condition": text(fields, "condition"),
        "customer": text(fields, "customer"),
        "ordered": "ordered" in fields,
        **{name: whole(fields, name) for name in _NUMBERS},
    }


def _one_of(visit: Visit, name: str, values: tuple[str, ...]) -> str | None:
    found = visit.query.get(name)
    return found if found in values else None
