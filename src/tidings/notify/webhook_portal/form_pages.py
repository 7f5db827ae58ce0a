"""The pages that ask: for a new endpoint, for a change, before a secret is made or an endpoint deleted."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from typing import Final

import msgspec

from tidings.contracts.event_examples import example_of
from tidings.contracts.events import EVENTS
from tidings.notify.preference_center.frame import HtmlPage
from tidings.notify.webhook_portal.event_choices import EventChoice, not_offered
from tidings.notify.webhook_portal.parts import button, code, moment, of_tenant, page
from tidings.notify.webhook_portal.visits import PortalVisit
from tidings.notify.webhooks.body import body_of
from tidings.notify.webhooks.model import StoredWebhook

_EXAMPLE_TIME: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)


def endpoint_form(
    visit: PortalVisit,
    offered: Sequence[EventChoice],
    *,
    action: str,
    back: str,
    written: Mapping[str, str],
    ticked: Sequence[str],
    webhook: StoredWebhook | None = None,
    errors: Mapping[str, str] | None = None,
) -> HtmlPage:
    """The form of a new endpoint, or of one that is there; what was written before stays, with what is wrong beside it."""
    words = visit.words
    wrong = errors or {}
    version = "" if webhook is None else _hidden("version", str(webhook.version))
    boxes = "".join(_box(visit, choice, choice.value in ticked) for choice in offered)
    kept = [] if webhook is None else not_offered(webhook.settings.event_types, offered)
    told = ""
    if kept:
        told = f"<p>{of_tenant(words.kept, visit.brand)} {' '.join(map(code, kept))}</p>"
    described = ' aria-describedby="wrong-events"' if "events" in wrong else ""
    body = (
        f'<form method="post" action="{action}">{version}'
        f"{_field(visit, 'url', words.address, written.get('url', ''), wrong)}"
        f"{_field(visit, 'name', words.name, written.get('name', ''), wrong)}"
        f"<fieldset{described}><legend>{escape(words.told)}</legend>{_wrong(visit, 'events', wrong)}{told}{boxes}</fieldset>"
        f"<button>{escape(words.add if webhook is None else words.save)}</button></form>"
        f'<p class="more"><a href="{back}">{escape(words.leave)}</a></p>'
    )
    return page(visit, words.add if webhook is None else words.change, body, back=back)


def ask_page(
    visit: PortalVisit, webhook: StoredWebhook, *, heading: str, text: str, action: str, back: str
) -> HtmlPage:
    """A question before something that can't be undone."""
    body = (
        f'<p class="about"><b><bdi>{escape(webhook.settings.name)}</bdi></b>{code(webhook.settings.target_url)}</p>'
        f"<p>{escape(text)}</p>{button(heading, action, {'version': str(webhook.version)}, quiet=False)}"
        f'<p class="more"><a href="{back}">{escape(visit.words.leave)}</a></p>'
    )
    return page(visit, heading, body, back=back)


def secret_page(visit: PortalVisit, webhook: StoredWebhook, secret: str) -> HtmlPage:
    """A new secret, this once."""
    words = visit.words
    until = webhook.signing_secret_prev_until
    overlap = (
        "" if until is None else f"<p>{escape(words.secret_overlap).replace('{when}', moment(until))}</p>"
    )
    body = (
        f'<p role="status"><b>{escape(words.secret_once)}</b></p>'
        f'<p class="secret"><code dir="ltr" tabindex="0">{escape(secret)}</code></p>{overlap}'
        f"<p>{code(webhook.settings.target_url)}</p>"
    )
    return page(visit, words.secret_title, body, back=f"{visit.home}/endpoints/{webhook.id}")


def example_of_event(subject: str) -> str:
    """What is sent when such an event happens."""
    data = msgspec.json.encode(example_of(subject))
    told = msgspec.json.format(body_of(subject, "", _EXAMPLE_TIME, data), indent=2).decode()
    return f'<pre dir="ltr" tabindex="0">{escape(told)}</pre>'


def _box(visit: PortalVisit, choice: EventChoice, is_ticked: bool) -> str:  # noqa: FBT001
    words = visit.words
    name = code(choice.value)
    shown = escape(words.all_of).replace("{pattern}", name) if choice.is_pattern else name
    box = (
        f'<label><input type="checkbox" name="events" value="{escape(choice.value)}"'
        f"{' checked' if is_ticked else ''}> <span>{shown}</span></label>"
    )
    if choice.is_pattern or choice.value not in EVENTS:
        return f'<div class="choice">{box}</div>'
    example = example_of_event(choice.value)
    return (
        f'<div class="choice">{box}<details><summary>{escape(words.example)}'
        f' <span class="unseen">{escape(choice.value)}</span></summary>{example}</details></div>'
    )


def _field(visit: PortalVisit, name: str, label: str, value: str, wrong: Mapping[str, str]) -> str:
    described = f' aria-invalid="true" aria-describedby="wrong-{name}"' if name in wrong else ""
    kind = (
        'type="url" inputmode="url" dir="ltr" required maxlength="2048" placeholder="https://"'
        if name == "url"
        else 'type="text" maxlength="200"'
    )
    return (
        f'<p class="field"><label for="{name}">{escape(label)}</label>'
        f'<input id="{name}" name="{name}" {kind} autocomplete="off" value="{escape(value)}"{described}></p>'
        f"{_wrong(visit, name, wrong)}"
    )


def _wrong(visit: PortalVisit, name: str, wrong: Mapping[str, str]) -> str:
    if name not in wrong:
        return ""
    text = of_tenant(visit.words.errors[wrong[name]], visit.brand)
    return f'<p role="alert" id="wrong-{name}">{text}</p>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{name}" value="{escape(value)}">'
