"""The inbox of suggestions, and the page of one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.ai_inbox.suggestion_card import HERE, suggestion_card, title_of
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    filter_form,
    post_form,
    select_field,
)
from tidings.backoffice.console.kit.marks import empty, note
from tidings.backoffice.console.kit.tables import address, pager
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

FILTERS: Final = ("property_id", "category", "status", "cursor")
_CATEGORIES: Final = ("guest_care", "maintenance", "pricing", "staffing", "template_draft")
_SECONDS: Final = 15


def inbox_page(
    visit: Visit,
    found: Mapping[str, Any],
    properties: Sequence[Mapping[str, Any]],
    *,
    told: Told | None = None,
) -> Reply:
    """What waits for a decision, the newest first."""
    words = visit.words
    query = {name: visit.query.get(name) for name in FILTERS}
    back = address(HERE, query)
    cards: list[Child] = [suggestion_card(visit, entry, back=back) for entry in found["items"]]
    if not cards:
        cards = [_nothing(visit, query)]
    body = el(
        "div",
        _filters(visit, query, properties),
        _away(visit, found["away"]),
        _dead(visit, found["items"]),
        cards,
        pager(words, HERE, query, found["next_cursor"]),
        id="suggestions",
        data_live=None if query["cursor"] else _SECONDS,
    )
    return page(words, words["place.ai_inbox"], body, reader=visit.reader, here=HERE, told=told)


def suggestion_page(
    visit: Visit, entry: Mapping[str, Any], *, told: Told | None = None, status: int = 200
) -> Reply:
    """One of them."""
    words = visit.words
    return page(
        words,
        title_of(visit, entry),
        suggestion_card(visit, entry, back=HERE, whole=True),
        reader=visit.reader,
        here=HERE,
        trail=[(words["place.ai_inbox"], HERE)],
        told=told,
        status=status,
    )


def _filters(visit: Visit, query: Mapping[str, str | None], properties: Sequence[Mapping[str, Any]]) -> Html:
    words = visit.words
    houses = [(one["id"], one.get("name") or one["id"]) for one in properties]
    kinds = [(one, words[f"ai_inbox.category.{one}"]) for one in _CATEGORIES]
    states = [(one, words[f"ai_inbox.show.{one}"]) for one in ("open", "decided", "expired", "all")]
    return filter_form(
        words,
        HERE,
        select_field("property_id", words["ai_inbox.property"], any_of(words, houses), query["property_id"]),
        select_field("category", words["ai_inbox.category"], any_of(words, kinds), query["category"]),
        select_field("status", words["ai_inbox.show"], states, query["status"] or "open"),
    )


def _away(visit: Visit, away: Sequence[Mapping[str, Any]]) -> Html:
    if not away:
        return NOTHING
    words = visit.words
    if all(one["reason"] == "not_connected" for one in away):
        return note(words["ai_inbox.not_connected"])
    named = ", ".join(one["property_id"] for one in away)
    return note(filled(words["ai_inbox.away"], properties=named))


def _dead(visit: Visit, entries: Sequence[Mapping[str, Any]]) -> Html:
    """Where the service could not be told: a button that has it told again."""
    words = visit.words
    if not any(entry["delivery"] == "dead" for entry in entries) or not visit.may("ai_inbox:write"):
        return NOTHING
    again = post_form(
        visit.reader, f"{HERE}/deliveries/requeue", button(words["ai_inbox.tell_again"], "quiet")
    )
    return note(words["ai_inbox.undelivered"], " ", again)


def _nothing(visit: Visit, query: Mapping[str, str | None]) -> Html:
    words = visit.words
    chosen = {name: value for name, value in query.items() if value and (name, value) != ("status", "open")}
    if chosen:
        return empty(words["ai_inbox.none_such"], el("a", words["clear"], href=HERE))
    return empty(
        words["ai_inbox.none"],
        words["ai_inbox.none_hint"],
        el(
            "a",
            words["ai_inbox.see_decided"],
            href=address(HERE, {"status": "decided"}),
            class_="button quiet",
        ),
    )
