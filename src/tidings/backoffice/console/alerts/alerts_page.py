"""The inbox of alerts, and the page of one."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.backoffice.console.alerts.advice import ADVICE, title_of
from tidings.backoffice.console.alerts.alert_card import HERE, alert_card
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled
from tidings.backoffice.console.kit.forms import (
    any_of,
    button,
    filter_form,
    hidden,
    post_form,
    select_field,
    text_field,
)
from tidings.backoffice.console.kit.marks import Tile, Tone, empty, moment, more, number, tiles
from tidings.backoffice.console.kit.tables import address, pager
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

FILTERS = ("status", "severity", "category", "property_id", "cursor")
_SECONDS = 10
_TONES: Sequence[tuple[str, Tone]] = (("critical", "bad"), ("warning", "warn"), ("info", "info"))


def alerts_page(
    visit: Visit,
    found: Mapping[str, Any],
    counts: Mapping[str, int],
    mutes: Sequence[Mapping[str, Any]],
    *,
    told: Told | None = None,
    status: int = 200,
) -> Reply:
    """What is to be looked after, the newest first."""
    words = visit.words
    query = {name: visit.query.get(name) for name in FILTERS}
    back = address(HERE, query)
    cards: list[Child] = [alert_card(visit, alert, back=back) for alert in found["items"]]
    if not cards:
        cards = [_nothing(visit, query)]
    body = el(
        "div",
        _tiles(visit, counts),
        _filters(visit, query),
        cards,
        pager(words, HERE, query, found["next_cursor"]),
        _mutes(visit, mutes, back),
        id="alerts",
        data_live=None if query["cursor"] else _SECONDS,
    )
    telling = el("a", words["alerts.telling"], href=f"{HERE}/telling", class_="button quiet")
    return page(
        words,
        words["place.alerts"],
        body,
        reader=visit.reader,
        here=HERE,
        actions=telling,
        told=told,
        status=status,
    )


def alert_page(
    visit: Visit, alert: Mapping[str, Any], *, told: Told | None = None, status: int = 200
) -> Reply:
    """One of them, as a link leads to it."""
    words = visit.words
    back = at(HERE + "/{}", alert["id"])
    body = el("div", alert_card(visit, alert, back=back, whole=True), id="alert", data_live=_SECONDS)
    return page(
        words,
        title_of(words, alert),
        body,
        reader=visit.reader,
        here=HERE,
        trail=[(words["place.alerts"], HERE)],
        told=told,
        status=status,
    )


def _tiles(visit: Visit, counts: Mapping[str, int]) -> Html:
    words = visit.words
    shown = [
        Tile(
            words[f"alerts.severity.{severity}"],
            number(words, counts[severity]),
            tone=tone if counts[severity] else "",
            href=address(HERE, {"severity": severity}),
        )
        for severity, tone in _TONES
    ]
    waiting = Tile(words["alerts.unacknowledged"], number(words, counts["unacknowledged"]), href=HERE)
    return tiles(waiting, *shown)


def _filters(visit: Visit, query: Mapping[str, str | None]) -> Html:
    words = visit.words
    severities = [(one, words[f"alerts.severity.{one}"]) for one in ("critical", "warning", "info")]
    names = sorted((title_of(words, {"category": one}), one) for one in ADVICE)
    if query["category"] and query["category"] not in ADVICE:
        names.append((query["category"], query["category"]))
    return filter_form(
        words,
        HERE,
        select_field(
            "status",
            words["alerts.show"],
            [(one, words[f"alerts.show.{one}"]) for one in ("open", "resolved", "all")],
            query["status"] or "open",
        ),
        select_field("severity", words["alerts.severity"], any_of(words, severities), query["severity"]),
        select_field(
            "category",
            words["alerts.category"],
            any_of(words, [(key, text) for text, key in names]),
            query["category"],
        ),
        NOTHING
        if visit.tenant_is_missing
        else text_field(
            "property_id", words["alerts.property"], query["property_id"], maxlength=64, dir="ltr"
        ),
    )


def _nothing(visit: Visit, query: Mapping[str, str | None]) -> Html:
    words = visit.words
    if any(
        value for name, value in query.items() if name != "cursor" and (name, value) != ("status", "open")
    ):
        return empty(words["alerts.none_such"], el("a", words["clear"], href=HERE))
    return empty(
        words["alerts.none"],
        words["alerts.none_hint"],
        el(
            "a",
            words["alerts.see_resolved"],
            href=address(HERE, {"status": "resolved"}),
            class_="button quiet",
        ),
    )


def _mutes(visit: Visit, mutes: Sequence[Mapping[str, Any]], back: str) -> Html:
    words = visit.words
    if not mutes:
        return NOTHING
    rows = []
    for mute in mutes:
        end = post_form(
            visit.reader,
            at(HERE + "/mutes/{}/end", mute["category"]),
            hidden("back", back),
            button(words["alerts.unmute"], "quiet"),
        )
        until = filled(words["alerts.muted_until"], at=moment(mute["muted_until"], exact=True))
        rows.append(
            el(
                "li",
                el("span", title_of(words, mute), class_="grow"),
                el("span", until, class_="soft"),
                end if visit.may("alerts:write") else NOTHING,
            )
        )
    return el(
        "section", more(words["alerts.mutes"], el("ul", rows, class_="rows"), open_=True), class_="card"
    )
