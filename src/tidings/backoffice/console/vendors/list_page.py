"""The vendor accounts, with their circuits and how their calls went."""

from collections.abc import Mapping
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.charts import spark
from tidings.backoffice.console.kit.forms import link_button
from tidings.backoffice.console.kit.marks import (
    badge,
    code,
    empty,
    moment,
    number,
    percent,
    section,
    status_badge,
    tabs,
)
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/vendors"
_BAD: Final = 0.1
_WATCHED: Final = 0.02

Row = dict[str, Any]


def vendors_page(
    visit: Visit, accounts: list[Row], circuits: Mapping[str, Row], calls: Mapping[str, Row], *, more: bool
) -> Reply:
    """All accounts that can be sent through."""
    words = visit.words

    def health(one: Row) -> Html:
        found = calls.get(one["id"])
        if found is None or not found["calls"]:
            return el("span", words["vendors.no_calls"], class_="soft")
        share = found["failed"] / found["calls"]
        tone = "bad" if share >= _BAD else "warn" if share >= _WATCHED else "good"
        return join(
            el("span", number(words, found["calls"])),
            badge(f"{percent(words, share)} {words['vendors.failed']}", tone),  # type: ignore[arg-type]
            between=" ",
        )

    def latency(one: Row) -> Html:
        hours = (calls.get(one["id"]) or {}).get("hours", [])
        values = [hour["p95_ms"] or 0 for hour in hours]
        if not values:
            return el("span", "–", class_="soft")
        label = words["vendors.p95"].replace("{count}", str(values[-1]))
        return join(spark(values, label) if len(values) > 1 else None, el("span", label), between=" ")

    listed = table(
        words["vendors.title"],
        [
            Column[Row](words["vendors.vendor"], lambda one: code(one["vendor"]), "tight"),
            Column[Row](words["vendors.owner"], lambda one: words[f"vendors.owner.{one['owner']}"], "tight"),
            Column[Row](
                words["vendors.channels"],
                lambda one: ", ".join(words.channel(c) for c in one["channels"]),
                "grow",
            ),
            Column[Row](words["vendors.circuit"], lambda one: standing(visit, one, circuits.get(one["id"]))),
            Column[Row](words["vendors.calls_24"], health),
            Column[Row](words["vendors.latency"], latency),
        ],
        accounts,
        href=lambda one: f"{HERE}/{one['id']}",
        empty=empty(words["vendors.none"], words["vendors.none_hint"]),
    )
    make = link_button(words["vendors.new"], f"{HERE}/new", "quiet") if visit.may("router:write") else None
    note = el("p", words["vendors.newest_only"], class_="hint") if more else None
    return page(
        words,
        words["vendors.title"],
        [
            vendor_tabs(visit, "accounts"),
            section(words["vendors.accounts"], listed, note, id_="accounts", live=10),
        ],
        reader=visit.reader,
        here=HERE,
        actions=make,
        told=visit.told(),
    )


def vendor_tabs(visit: Visit, here: str) -> Html:
    """Accounts, shares of channels, the meaning of codes."""
    words = visit.words
    return tabs(
        words["vendors.title"],
        (words["vendors.accounts"], HERE, here == "accounts"),
        (words["vendors.weights"], f"{HERE}/weights", here == "weights"),
        (words["vendors.codes"], f"{HERE}/codes", here == "codes"),
    )


def standing(visit: Visit, account: Row, circuit: Row | None) -> Html:
    """Whether it takes messages: switched off, or by its circuit, held by hand or not."""
    words = visit.words
    if not account["active"]:
        return status_badge(words, "vendors", "off", "off")
    state = (circuit or account)["state" if circuit else "circuit"]
    tone = {"CLOSED": "good", "OPEN": "bad"}.get(state, "warn")
    held = badge(words["vendors.held"], "warn") if circuit and circuit["held"] else None
    since = moment(circuit["since"]) if circuit and circuit["since"] and state != "CLOSED" else None
    return join(status_badge(words, "vendors", state.lower(), tone), held, since, between=" ")  # type: ignore[arg-type]
