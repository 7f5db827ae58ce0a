"""The pages of deliveries: what an endpoint was told, is told and will be told, and one with its request and its calls."""

from collections.abc import Sequence
from html import escape

import msgspec

from tidings.kernel.signed_webhooks.signature import ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from tidings.notify.preference_center.frame import HtmlPage
from tidings.notify.webhook_portal.parts import (
    answer_of,
    button,
    code,
    delivery_badge,
    event_type,
    facts,
    moment,
    of_tenant,
    page,
)
from tidings.notify.webhook_portal.view import SeenDelivery, SeenEndpoint
from tidings.notify.webhook_portal.visits import PortalVisit
from tidings.notify.webhooks.model import WebhookDelivery, WebhookDeliveryStatus, WebhookStatus


def deliveries_page(
    visit: PortalVisit, endpoint: SeenEndpoint, *, status: WebhookDeliveryStatus | None
) -> HtmlPage:
    """The deliveries of one endpoint, the newest first; `status`: only those."""
    words = visit.words
    place = f"{visit.home}/endpoints/{endpoint.webhook.id}"
    options = "".join(
        f'<option value="{one.value}"{" selected" if one is status else ""}>'
        f"{escape(words.delivery_statuses[one.value])}</option>"
        for one in WebhookDeliveryStatus
    )
    filtered = (
        f'<form method="get" action="{place}/deliveries" class="line"><label>{escape(words.filter)} '
        f'<select name=status><option value="">{escape(words.everything)}</option>{options}</select></label>'
        f'<button class="quiet">{escape(words.show)}</button></form>'
    )
    older = ""
    if endpoint.more:
        query = f"after={endpoint.deliveries[-1].id}" + (f"&status={status.value}" if status else "")
        older = f'<p><a href="{place}/deliveries?{escape(query)}">{escape(words.older)}</a></p>'
    body = (
        f'<p class="about"><b><bdi>{escape(endpoint.webhook.settings.name)}</bdi></b></p>{filtered}'
        f"{delivery_table(visit, place, endpoint.deliveries)}{older}"
    )
    return page(visit, words.deliveries, body, back=place)


def delivery_table(visit: PortalVisit, place: str, deliveries: Sequence[WebhookDelivery]) -> str:
    """Deliveries, a line for each."""
    words = visit.words
    if not deliveries:
        return f"<p>{escape(words.no_deliveries)}</p>"
    rows = "".join(
        f'<tr><th scope=row><a href="{place}/deliveries/{one.id}">{event_type(one.event_type)}</a>'
        f"<td>{delivery_badge(words, one)}<td>{answer_of(words, one.last_status_code, None)}"
        f"<td>{moment(one.happened_at)}<td><bdi>{one.attempts}</bdi>"
        for one in deliveries
    )
    heads = (words.event, words.status, words.answer, words.time, words.attempts)
    head = "".join(f"<th scope=col>{escape(text)}" for text in heads)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(words.deliveries)}">'
        f"<table><thead><tr>{head}<tbody>{rows}</table></div>"
    )


def delivery_page(visit: PortalVisit, seen: SeenDelivery) -> HtmlPage:
    """One delivery: what is sent, and what was answered to each call."""
    words, delivery, webhook = visit.words, seen.delivery, seen.webhook
    place = f"{visit.home}/endpoints/{webhook.id}"
    rows = [
        (words.status, delivery_badge(words, delivery)),
        (words.time, moment(delivery.happened_at)),
        (words.attempts, f"<bdi>{delivery.attempts}</bdi>"),
        (words.answer, answer_of(words, delivery.last_status_code, delivery.last_reason)),
    ]
    if delivery.next_attempt_at is not None and delivery.status is WebhookDeliveryStatus.QUEUED:
        rows.append((words.next_attempt, moment(delivery.next_attempt_at)))
    again = ""
    if (
        visit.link.may_change
        and webhook.status is not WebhookStatus.PAUSED
        and delivery.status is not WebhookDeliveryStatus.BLOCKED
    ):
        again = button(words.redeliver, place, {"do": "redeliver", "delivery": delivery.id}, quiet=False)
    body = (
        f"{facts(rows)}{again}<h2>{escape(words.calls)}</h2>{_calls(visit, delivery)}"
        f"<h2>{escape(words.request)}</h2>{_request(visit, seen)}"
    )
    return page(visit, delivery.event_type, body, back=f"{place}/deliveries")


def _calls(visit: PortalVisit, delivery: WebhookDelivery) -> str:
    words = visit.words
    if not delivery.calls:
        return f"<p>{escape(words.no_calls)}</p>"
    rows = "".join(
        f"<tr><th scope=row>{moment(call.at)}<td><bdi>{call.milliseconds}</bdi>"
        f"<td>{answer_of(words, call.status, call.reason)}"
        for call in reversed(delivery.calls)
    )
    heads = (words.time, words.milliseconds, words.answer)
    head = "".join(f"<th scope=col>{escape(text)}" for text in heads)
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(words.calls)}">'
        f"<table><thead><tr>{head}<tbody>{rows}</table></div>"
    )


def _request(visit: PortalVisit, seen: SeenDelivery) -> str:
    """What is sent. Signature and time differ from call to call; the tenant's headers are sealed."""
    words, webhook = visit.words, seen.webhook
    anew = escape(words.anew)
    hidden = of_tenant(words.hidden, visit.brand)
    rows = [
        ("POST", code(webhook.settings.target_url)),
        ("content-type", code("application/json")),
        (ID_HEADER, code(seen.delivery.event_id)),
        (TIMESTAMP_HEADER, anew),
        (SIGNATURE_HEADER, anew),
        *((name, hidden) for name in webhook.settings.header_names),
    ]
    body = f"<p>{escape(words.body_gone)}</p>"
    if seen.body is not None:
        shown = msgspec.json.format(seen.body, indent=2).decode()
        body = f'<pre dir="ltr" tabindex="0">{escape(shown)}</pre>'
    return f'<div class="headers">{facts(rows)}</div>{body}'
