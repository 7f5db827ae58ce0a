"""What messages cost: amounts, charts with their numbers, and the caps of ladders."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Child, Html, el, join
from tidings.backoffice.console.kit.charts import Series, bar_chart
from tidings.backoffice.console.kit.forms import filter_form, link_button, text_field
from tidings.backoffice.console.kit.marks import Tile, empty, money, number, section, tiles
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/spend"
_MICROS: Final = 1_000_000
_COLOURS: Final = ("a", "c", "d", "e", "f", "b")
_MOST_BARS: Final = 400

Row = dict[str, Any]


def spend_page(visit: Visit, found: Mapping[str, Row], caps: Sequence[Row]) -> Reply:
    """`found` is the same time by day, by channel, by vendor, by template."""
    words = visit.words
    by_day = found["day"]
    since, until = date.fromisoformat(by_day["since"]), date.fromisoformat(by_day["until"])
    days = [
        (since + timedelta(days=step)).isoformat()
        for step in range(min((until - since).days + 1, _MOST_BARS))
    ]
    filters = filter_form(
        words,
        HERE,
        text_field("since", words["spend.since"], by_day["since"], kind="date"),
        text_field("until", words["spend.until"], by_day["until"], kind="date"),
    )
    parts: list[Child] = [filters, _presets(visit, until)]
    if by_day["totals"] or by_day["unpriced"]["messages"]:
        parts.append(_tiles(visit, by_day))
        parts.append(_part(visit, "day", by_day, days))
        for by in ("channel", "vendor", "template"):
            if by in found:
                parts.append(_part(visit, by, found[by], None))
    else:
        parts.append(
            empty(
                words["spend.none"],
                words["spend.none_hint"],
                link_button(words["spend.prices"], "/console/vendors", "quiet"),
            )
        )
    parts.append(_caps(visit, caps))
    return page(words, words["spend.title"], parts, reader=visit.reader, here=HERE)


def _presets(visit: Visit, until: date) -> Html:
    links = [
        link_button(
            visit.words["spend.last"].replace("{count}", str(days)),
            f"{HERE}?since={until - timedelta(days=days - 1)}&until={until}",
            "quiet",
        )
        for days in (7, 30, 90, 365)
    ]
    return el("p", el("span", links, class_="actions"))


def _tiles(visit: Visit, found: Row) -> Html:
    words = visit.words
    shown = [
        Tile(
            words["spend.spent"],
            money(words, total["real_micros"], total["currency"]),
            words["spend.estimated"].replace(
                "{amount}", money(words, total["estimated_micros"], total["currency"])
            ),
            "info",
        )
        for total in found["totals"]
    ]
    calls = sum(total["messages"] for total in found["totals"])
    shown.append(Tile(words["spend.calls"], number(words, calls)))
    if len(found["totals"]) > 1 and found["converted"]:
        whole = found["converted"]
        shown.append(Tile(words["spend.together"], money(words, whole["real_micros"], whole["currency"])))
    unpriced = found["unpriced"]
    if unpriced["messages"]:
        count = f"{number(words, unpriced['messages'])}{'+' if unpriced['more'] else ''}"
        shown.append(
            Tile(words["spend.unpriced"], count, words["spend.unpriced_note"], "warn", "/console/vendors")
        )
    return tiles(*shown)


def _part(visit: Visit, by: str, found: Row, labels: Sequence[str] | None) -> Html:
    words = visit.words
    names = labels if labels is not None else list(dict.fromkeys(item["part"] for item in found["items"]))
    currencies = [total["currency"] for total in found["totals"]]
    amounts = {(item["part"], item["currency"]): item["real_micros"] / _MICROS for item in found["items"]}
    series = [
        Series(
            currency, [amounts.get((name, currency), 0.0) for name in names], _COLOURS[place % len(_COLOURS)]
        )
        for place, currency in enumerate(currencies)
    ]
    shown = (
        [words.channel(name) for name in names] if by == "channel" else [_short(by, name) for name in names]
    )
    title = words[f"spend.by.{by}"]
    chart = bar_chart(words, title, shown, series, id_=f"by-{by}")
    hint = el("p", words["spend.template_note"], class_="hint") if by == "template" else None
    return section(
        title,
        hint,
        chart if len(names) > 1 else None,
        _table(visit, found, by) if by != "day" else None,
        id_=f"spend-{by}",
    )


def _short(by: str, name: str) -> str:
    return name[5:] if by == "day" else name


def _table(visit: Visit, found: Row, by: str) -> Html:
    words = visit.words
    return table(
        words[f"spend.by.{by}"],
        [
            Column[Row](
                words[f"spend.part.{by}"],
                lambda one: (
                    words.channel(one["part"]) if by == "channel" else el("code", one["part"], dir="ltr")
                ),
                "grow",
            ),
            Column[Row](words["spend.calls"], lambda one: number(words, one["messages"]), "num"),
            Column[Row](
                words["spend.spent"], lambda one: money(words, one["real_micros"], one["currency"]), "num"
            ),
        ],
        found["items"],
    )


def _caps(visit: Visit, caps: Sequence[Row]) -> Html:
    words = visit.words
    rows = [
        el(
            "li",
            el(
                "span",
                el("a", words[f"policies.use_case.{one['use_case']}"], href=f"/console/policies/{one['id']}"),
                class_="grow",
            ),
            el("strong", money(words, one["cost_cap_micros"], one["cost_cap_currency"])),
        )
        for one in caps
        if one["cost_cap_micros"] is not None
    ]
    shown = el("ul", rows, class_="rows") if rows else el("p", words["spend.no_caps"], class_="soft")
    more = link_button(words["spend.ladders"], "/console/policies", "quiet")
    return section(
        words["spend.caps"], el("p", words["spend.caps_text"]), join(shown), actions=more, id_="caps"
    )
