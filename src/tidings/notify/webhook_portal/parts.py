"""Parts that the portal's pages have in common, as HTML; pure."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Final

from tidings.kernel.signed_webhooks.call import WebhookResult
from tidings.notify.preference_center.frame import HtmlPage, PageBrand, framed, isolated
from tidings.notify.webhook_portal.strings import PortalStrings
from tidings.notify.webhook_portal.visits import PortalVisit
from tidings.notify.webhooks.model import StoredWebhook, WebhookDelivery, WebhookStatus

#: Of a number in an address that a page shows.
_DIGITS: Final = 8
STYLE: Final = Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def page(visit: PortalVisit, heading: str, body: str, *, back: str | None = None) -> HtmlPage:
    """A page of a visit; `back` is the one above it."""
    words, link = visit.words, visit.link
    way = "" if back is None else f'<p class="back"><a href="{back}">{escape(words.back)}</a></p>'
    notes = [words.works_until.replace("{when}", moment(link.expires_at))]
    if not link.may_change:
        notes.append(escape(words.only_shows))
    if link.is_test:
        notes.append(escape(words.tests_only))
    foot = "".join(f'<p class="note">{note}</p>' for note in notes)
    return framed(
        words.language,
        words.direction,
        heading,
        f"{way}{body}{foot}",
        brand=visit.brand,
        help_text=words.help,
        style=STYLE,
        embed_origins=link.embed_origins,
    )


def plain_page(
    words: PortalStrings,
    brand: PageBrand | None,
    title: str,
    text: str,
    *,
    back: str | None = None,
    embed_origins: Iterable[str] = (),
) -> HtmlPage:
    """Says why there is nothing here, or why something was not done."""
    way = "" if back is None else f'<p><a href="{back}">{escape(words.back)}</a></p>'
    return framed(
        words.language,
        words.direction,
        title,
        f"<p>{of_tenant(text, brand)}</p>{way}",
        brand=brand,
        help_text=words.help,
        style=STYLE,
        embed_origins=tuple(embed_origins),
    )


def deleted_page(visit: PortalVisit) -> HtmlPage:
    """Says that the endpoint that a link was made for is gone, and the link with it."""
    return plain_page(visit.words, visit.brand, visit.words.notes["deleted"], visit.words.ask_delete)


def note_of(words: PortalStrings, query: Mapping[str, str]) -> str:
    """What has just come about, where the address says so."""
    text = words.notes.get(query.get("note", ""))
    count = query.get("count", "0")
    if text is None or not (count.isascii() and count.isdigit() and len(count) < _DIGITS):
        return ""
    return f'<p role="status">{escape(text).replace("{count}", f"<bdi>{count}</bdi>")}</p>'


def of_tenant(text: str, brand: PageBrand | None) -> str:
    """A text in which the tenant may be named; the beginning of an address runs from left to right in it."""
    shown = escape(text).replace("https://", '<bdi dir="ltr">https://</bdi>')
    return shown.replace("{tenant}", isolated(brand.name) if brand is not None else "")


def moment(at: datetime) -> str:
    """A moment as every language reads it, in UTC."""
    shown = at.astimezone(UTC)
    return f'<time datetime="{shown.isoformat()}" dir="ltr"><span>{shown:%Y-%m-%d}</span> <span>{shown:%H:%M} UTC</span></time>'


def code(text: str) -> str:
    """A word of the protocol: it runs from left to right, whatever stands around it."""
    return f'<code dir="ltr">{escape(text)}</code>'


def event_type(text: str) -> str:
    """A type of event, which may go on in another line behind a dot."""
    return code(text).replace(".", ".<wbr>")


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Labels with their values, which are HTML already."""
    return (
        f"<dl>{''.join(f'<div><dt>{escape(label)}</dt><dd>{value}</dd></div>' for label, value in rows)}</dl>"
    )


def button(text: str, action: str, fields: Mapping[str, str], *, quiet: bool = True) -> str:
    """A form of one button."""
    hidden = "".join(
        f'<input type="hidden" name="{name}" value="{escape(value)}">' for name, value in fields.items()
    )
    kind = ' class="quiet"' if quiet else ""
    return f'<form method="post" action="{action}">{hidden}<button{kind}>{escape(text)}</button></form>'


def status_of(webhook: StoredWebhook) -> str:
    """How an endpoint stands, as the key of a text: one that is called and fails is said to fail."""
    if webhook.status is WebhookStatus.ACTIVE and webhook.health.consecutive_failures:
        return "failing"
    return webhook.status.value


def status_badge(words: PortalStrings, webhook: StoredWebhook) -> str:
    """The same as a badge."""
    status = status_of(webhook)
    return f'<span class="badge {status}">{escape(words.statuses[status])}</span>'


def delivery_badge(words: PortalStrings, delivery: WebhookDelivery) -> str:
    """How far a delivery is, as a badge."""
    status = delivery.status.value
    return f'<span class="badge {status}">{escape(words.delivery_statuses[status])}</span>'


def answer_of(words: PortalStrings, status: int | None, reason: str | None) -> str:
    """What was answered, and why that was not enough."""
    said = "" if status is None else f"<bdi>{status}</bdi>"
    why = "" if reason is None else escape(words.reasons.get(reason, reason))
    return " ".join(part for part in (said, why) if part) or "–"


def test_result(words: PortalStrings, result: WebhookResult, milliseconds: int) -> str:
    """What came of a test, in a sentence."""
    if result.status is None:
        text = f"{words.test_unreached} {words.reasons.get(result.reason or '', '')}"
    else:
        text = words.test_taken if result.delivered else words.test_refused
    shown = escape(text).replace("{status}", str(result.status)).replace("{milliseconds}", str(milliseconds))
    return (
        f'<p role="{"status" if result.delivered else "alert"}"><b>{escape(words.test_title)}</b> {shown}</p>'
    )
