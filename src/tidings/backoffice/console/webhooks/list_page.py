"""The webhooks of a tenant, with how they answer."""

from typing import Any, Final

from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import any_of, filter_form, link_button, select_field, text_field
from tidings.backoffice.console.kit.marks import badge, empty, moment, status_badge, tabs
from tidings.backoffice.console.kit.tables import Column, pager, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/webhooks"
STATUSES: Final = ("active", "paused", "disabled")

Row = dict[str, Any]


def webhooks_page(visit: Visit, found: list[Row], next_cursor: str | None, *, told: Told | None) -> Reply:
    """All of them, or those that a filter leaves."""
    words, query = visit.words, visit.query
    filters = filter_form(
        words,
        HERE,
        select_field(
            "status",
            words["status"],
            any_of(words, [(one, words[f"webhooks.status.{one}"]) for one in STATUSES]),
            query.get("status"),
        ),
        text_field("customer", words["webhooks.customer"], query.get("customer"), maxlength=100, dir="ltr"),
    )
    make = link_button(words["webhooks.new"], f"{HERE}/new") if visit.may("webhooks:write") else None
    listed = table(
        words["webhooks.title"],
        [
            Column[Row](words["name"], lambda one: el("bdi", one["name"])),
            Column[Row](words["status"], lambda one: standing(visit, one)),
            Column[Row](words["webhooks.url"], lambda one: el("code", one["url"], dir="ltr"), "grow"),
            Column[Row](words["webhooks.customer"], lambda one: el("bdi", one["customer"] or "–")),
            Column[Row](words["webhooks.last_success"], lambda one: moment(one["last_success_at"])),
        ],
        found,
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["webhooks.none"], words["webhooks.none_hint"], make),
    )
    kept = {key: query.get(key) for key in ("status", "customer", "cursor")}
    parts = [
        webhook_tabs(visit, "webhooks"),
        filters if found or any(kept.values()) else None,
        el("section", listed, class_="card", aria_label=words["webhooks.title"]),
        pager(words, HERE, kept, next_cursor),
    ]
    return page(
        words,
        words["webhooks.title"],
        parts,
        reader=visit.reader,
        here=HERE,
        actions=make if found else None,
        told=told,
    )


def webhook_tabs(visit: Visit, here: str) -> Html:
    """Webhooks of events, and the routes by which inbound messages are told."""
    words = visit.words
    found = [(words["webhooks.title"], HERE, here == "webhooks")]
    if visit.may("router:read"):
        found.append((words["webhooks.inbound"], f"{HERE}/inbound", here == "inbound"))
    return tabs(words["webhooks.title"], *found)


def standing(visit: Visit, one: Row) -> Html:
    """Its status, why it is disabled, and how often it has failed of late."""
    words = visit.words
    failing = None
    if one["consecutive_failures"]:
        text = words["webhooks.failing"].replace("{count}", str(one["consecutive_failures"]))
        failing = badge(text, "warn")
    why = None
    if one["disabled_reason"]:
        why = el("span", words[f"webhooks.disabled.{one['disabled_reason']}"], class_="soft")
    return join(status_badge(words, "webhooks", one["status"]), failing, why, between=" ")
