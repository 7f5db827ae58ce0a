"""The form of a webhook, new or changed."""

from typing import Any

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.forms import (
    area_field,
    button,
    check_field,
    field_row,
    hidden,
    post_form,
    text_field,
)
from tidings.backoffice.console.kit.marks import more, section
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.visits import Visit
from tidings.backoffice.console.webhooks.list_page import HERE
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def new_webhook_page(visit: Visit, typed: Typed, *, told: Told | None = None, status: int = 200) -> Reply:
    """A webhook to be."""
    words = visit.words
    return page(
        words,
        words["webhooks.new"],
        section(
            words["webhooks.new"],
            el("p", words["webhooks.new_text"]),
            webhook_form(visit, f"{HERE}/new", typed),
        ),
        reader=visit.reader,
        here=HERE,
        trail=[(words["webhooks.title"], HERE)],
        told=told,
        status=status,
    )


def webhook_form(visit: Visit, action: str, typed: Typed, known: Row | None = None) -> Html:
    """What a webhook says; `known` as it is."""
    words = visit.words
    one = known or {
        "events": ["notification.>"],
        "max_in_flight": 10,
        "timeout_seconds": 15,
        "disable_after": 20,
    }

    def text(name: str, **attributes: Any) -> Html:
        return text_field(
            name,
            words[f"webhooks.field.{name}"],
            typed.value(name, one.get(name)),
            error=typed.fault(name),
            **attributes,
        )

    def number(name: str) -> Html:
        return text(name, inputmode="numeric", dir="ltr")

    wrong_events = next((text for name, text in typed.errors.items() if name.startswith("events")), None)
    rare = more(
        words["webhooks.rare"],
        text("condition", dir="ltr", placeholder="data.category = 'billing'"),
        field_row(number("max_in_flight"), number("max_per_minute")),
        field_row(number("timeout_seconds"), number("disable_after")),
        check_field(
            "ordered",
            words["webhooks.field.ordered"],
            checked=typed.ticked("ordered", otherwise=one.get("ordered", False)),
        ),
        open_=bool(
            {"condition", "max_in_flight", "max_per_minute", "timeout_seconds", "disable_after"}
            & set(typed.errors)
        ),
    )
    return post_form(
        visit.reader,
        action,
        hidden("version", str(one.get("version", ""))),
        text("url", kind="url", required=True, maxlength=2048, dir="ltr", placeholder="https://"),
        field_row(text("name", maxlength=200), text("customer", maxlength=100, dir="ltr")),
        area_field(
            "events",
            words["webhooks.field.events"],
            typed.value("events", "\n".join(one["events"])),
            rows=3,
            hint=words["webhooks.events_hint"],
            error=wrong_events,
            dir="ltr",
        ),
        rare,
        button(words["save"]),
        data_guard=True,
    )
