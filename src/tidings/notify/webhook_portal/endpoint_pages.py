"""The pages of endpoints: all that a link shows, and one with its status, its charts and what can be done with it."""

from collections.abc import Sequence
from datetime import datetime
from html import escape
from typing import Final

from tidings.notify.preference_center.frame import HtmlPage
from tidings.notify.webhook_portal import chart
from tidings.notify.webhook_portal.delivery_pages import delivery_table
from tidings.notify.webhook_portal.event_choices import examples_of
from tidings.notify.webhook_portal.form_pages import example_of_event
from tidings.notify.webhook_portal.parts import button, code, facts, moment, of_tenant, page, status_badge
from tidings.notify.webhook_portal.strings import PortalStrings
from tidings.notify.webhook_portal.view import SeenEndpoint
from tidings.notify.webhook_portal.visits import PortalVisit
from tidings.notify.webhooks.model import StoredWebhook, WebhookStatus

#: Hours that can be recovered with one button.
SPANS: Final = (1, 6, 24, 72, 168)


def list_page(
    visit: PortalVisit, endpoints: Sequence[SeenEndpoint], *, now: datetime, told: str = ""
) -> HtmlPage:
    """All endpoints of a customer; `told` is what just came about, as HTML."""
    words = visit.words
    items = "".join(_item(visit, endpoint, now) for endpoint in endpoints)
    shown = f'<ul class="endpoints">{items}</ul>' if items else f"<p>{escape(words.nothing_yet)}</p>"
    add = ""
    if visit.link.may_change and visit.link.customer is not None:
        add = f'<p><a class="act" href="{visit.home}/new">{escape(words.add)}</a></p>'
    body = f"{told}<p>{of_tenant(words.intro, visit.brand)}</p>{shown}{add}"
    return page(visit, words.title, body)


def endpoint_page(
    visit: PortalVisit, endpoint: SeenEndpoint, *, now: datetime, told: str = "", back: bool = True
) -> HtmlPage:
    """One endpoint; `back`: the link shows others too."""
    words, webhook = visit.words, endpoint.webhook
    place = f"{visit.home}/endpoints/{webhook.id}"
    more = f'<p><a href="{place}/deliveries">{escape(words.all_deliveries)}</a></p>' if endpoint.more else ""
    redelivers = visit.link.may_change and webhook.status is not WebhookStatus.PAUSED
    body = (
        f"{told}{_standing(words, endpoint, now)}"
        f"{_acts(visit, webhook, place) if visit.link.may_change else ''}"
        f"{chart.chart(words, words.chart_day, chart.hours_of(endpoint.hours, now=now), name='day')}"
        f"{chart.chart(words, words.chart_week, chart.days_of(endpoint.hours, now=now), name='week')}"
        f"<h2>{escape(words.deliveries)}</h2>{delivery_table(visit, place, endpoint.deliveries)}{more}"
        f"{_again(words, place) if redelivers else ''}"
        f"<h2>{escape(words.told)}</h2>{_told(words, webhook)}"
        f"<h2>{escape(words.secret)}</h2><p>{escape(words.secret_note)}</p>"
        f"{_secret(visit, webhook, place)}"
        f"<h2>{of_tenant(words.settings, visit.brand)}</h2>{_settings(visit, webhook)}"
    )
    return page(visit, webhook.settings.name, body, back=visit.home if back else None)


def _item(visit: PortalVisit, endpoint: SeenEndpoint, now: datetime) -> str:
    webhook = endpoint.webhook
    return (
        f'<li><a href="{visit.home}/endpoints/{webhook.id}"><b><bdi>{escape(webhook.settings.name)}</bdi></b>'
        f"</a> {status_badge(visit.words, webhook)}<div>{code(webhook.settings.target_url)}</div>"
        f'<div class="note">{escape(visit.words.rate)}: {_rate(visit.words, endpoint, now)}</div></li>'
    )


def _rate(words: PortalStrings, endpoint: SeenEndpoint, now: datetime) -> str:
    rate = chart.rate_of(endpoint.hours, now=now)
    if rate is None:
        return escape(words.no_calls)
    taken, count = rate
    # Rounded down: only where all were taken it is a hundred.
    return f'<bdi dir="ltr">{taken * 1000 // count / 10:g}%</bdi> <bdi dir="ltr">({taken}/{count})</bdi>'


def _standing(words: PortalStrings, endpoint: SeenEndpoint, now: datetime) -> str:
    webhook = endpoint.webhook
    health = webhook.health
    off = ""
    if webhook.disabled_reason is not None:
        text = words.off_gone if webhook.disabled_reason == "gone" else words.off_failures
        off = f'<p role="alert">{escape(text)}</p>'
    rows = [
        (words.address, code(webhook.settings.target_url)),
        (words.status, status_badge(words, webhook)),
        (words.rate, _rate(words, endpoint, now)),
    ]
    if health.consecutive_failures:
        rows.append((words.failures, f"<bdi>{health.consecutive_failures}</bdi>"))
    if health.last_success_at is not None:
        rows.append((words.last_taken, moment(health.last_success_at)))
    if health.last_failure_at is not None:
        rows.append((words.last_not_taken, moment(health.last_failure_at)))
    return off + facts(rows)


def _acts(visit: PortalVisit, webhook: StoredWebhook, place: str) -> str:
    words = visit.words
    acts = [button(words.test, f"{place}/test", {}, quiet=False)]
    if webhook.status is WebhookStatus.ACTIVE:
        acts.append(button(words.pause, place, {"do": "pause"}))
    else:
        acts.append(button(words.resume, place, {"do": "resume"}))
        acts.append(button(words.resume_without, place, {"do": "resume_without"}))
    links = (("change", words.change), ("delete", words.delete))
    acts += [f'<a class="act quiet" href="{place}/{name}">{escape(text)}</a>' for name, text in links]
    return f'<div class="acts">{"".join(acts)}</div>'


def _again(words: PortalStrings, place: str) -> str:
    options = "".join(
        f'<option value="{hours}"{" selected" if hours == 24 else ""}>{escape(words.spans[str(hours)])}</option>'
        for hours in SPANS
    )
    recover = (
        f'<form method="post" action="{place}" class="line"><input type="hidden" name="do" value="recover">'
        f"<label>{escape(words.recover_since)} <select name=hours>{options}</select></label>"
        f'<button class="quiet">{escape(words.recover)}</button></form>'
    )
    return f'<div class="acts">{button(words.redeliver_failed, place, {"do": "redeliver"})}{recover}</div>'


def _told(words: PortalStrings, webhook: StoredWebhook) -> str:
    items = ""
    for pattern in webhook.settings.event_types:
        shown = "".join(
            f"{'' if subject == pattern else f'<p>{code(subject)}</p>'}{example_of_event(subject)}"
            for subject in examples_of(pattern)
        )
        example = f"<details><summary>{escape(words.example)}</summary>{shown}</details>" if shown else ""
        items += f"<li>{code(pattern)}{example}</li>"
    return f"<ul>{items}</ul>"


def _secret(visit: PortalVisit, webhook: StoredWebhook, place: str) -> str:
    until = webhook.signing_secret_prev_until
    overlap = (
        ""
        if until is None
        else f"<p>{escape(visit.words.secret_overlap).replace('{when}', moment(until))}</p>"
    )
    if not visit.link.may_change:
        return overlap
    return f'{overlap}<p><a class="act quiet" href="{place}/rotate">{escape(visit.words.rotate)}</a></p>'


def _settings(visit: PortalVisit, webhook: StoredWebhook) -> str:
    """What the tenant has set: to be read, and changed by nobody here."""
    words, settings = visit.words, webhook.settings
    labels = words.settings_labels

    def said(value: bool) -> str:  # noqa: FBT001
        return escape(words.yes if value else words.no)

    unset = escape(words.unset)
    return facts(
        [
            (labels["condition"], code(settings.condition) if settings.condition else unset),
            (labels["ordered"], said(settings.ordered)),
            (labels["max_in_flight"], f"<bdi>{settings.max_in_flight}</bdi>"),
            (
                labels["max_per_minute"],
                unset if settings.max_per_minute is None else f"<bdi>{settings.max_per_minute}</bdi>",
            ),
            (labels["timeout_seconds"], f"<bdi>{settings.timeout_seconds}</bdi>"),
            (labels["disable_after"], f"<bdi>{settings.disable_after}</bdi>"),
            (labels["headers"], " ".join(code(name) for name in settings.header_names) or unset),
            (labels["credentials"], said(any((settings.credentials_shown or {}).values()))),
            (labels["transform"], said(settings.transform is not None)),
        ]
    )
