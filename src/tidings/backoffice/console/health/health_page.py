"""Processes with their last sign of life, what waits, and what is wrong now."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled, join
from tidings.backoffice.console.kit.marks import (
    Tile,
    Tone,
    badge,
    code,
    empty,
    moment,
    note,
    number,
    section,
    status_badge,
    tiles,
)
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE: Final = "/console/health"
_SECONDS: Final = 15
#: Figure → from when on it is not good; None: a number, and no judgement.
_FIGURES: Final[Mapping[str, int | None]] = {
    "workers": None,
    "queue_depth": None,
    "queue_seconds": 120,
    "outbox_seconds": 30,
    "group_behind_seconds": 300,
    "receipts_seconds": 60,
    "circuits_not_closed": 1,
    "partitions_missing": 1,
    "dead_events": 1,
    "dead_receipts": 1,
    "dead_inbound": 1,
}
_SEVERITIES: Final[Mapping[str, Tone]] = {"critical": "bad", "warning": "warn", "info": "info"}
_STATES: Final[Mapping[str, Tone]] = {"running": "good", "stopped": "off", "gone": "bad"}
#: Of a sample of so many the rest was not counted.
_SAMPLE: Final = 2_000


def health_page(visit: Visit, health: Mapping[str, Any]) -> Reply:
    """How the installation is."""
    words = visit.words
    body = el(
        "div",
        note(filled(words["health.blind"], parts=", ".join(health["blind"])), tone="bad")
        if health["blind"]
        else NOTHING,
        _figures(visit, health["figures"]),
        _wrong(visit, health),
        section(words["health.processes"], _processes(visit, health["processes"]), id_="processes"),
        el("p", filled(words["health.looked_at"], at=moment(health["looked_at"])), class_="soft"),
        id="health",
        data_live=_SECONDS,
    )
    return page(words, words["place.health"], body, reader=visit.reader, here=HERE, wide=True)


def _figures(visit: Visit, figures: Sequence[Mapping[str, Any]]) -> Html:
    words = visit.words
    shown = []
    for name, worst in _FIGURES.items():
        values = [figure["value"] for figure in figures if figure["name"] == name]
        if not values:
            continue
        value = max(values)
        tone: Tone = "" if worst is None else "bad" if value >= worst else "good"
        if name == "workers":
            tone = "good" if value else "bad"
        text = number(words, value)
        if name == "queue_depth" and value >= _SAMPLE:
            text = f"≥ {text}"
        if name.endswith("_seconds"):
            text = words["health.seconds"].replace("{count}", text)
        shown.append(Tile(words[f"health.figure.{name}"], text, tone=tone))
    return tiles(*shown)


def _wrong(visit: Visit, health: Mapping[str, Any]) -> Html:
    words = visit.words
    rows = [
        el(
            "li",
            badge(words[f"alerts.severity.{one['severity']}"], _SEVERITIES[one["severity"]]),
            el("span", words.get(f"alerts.title.{one['category']}", one["category"]), class_="grow"),
            el("span", _facts(one["facts"]), class_="soft"),
        )
        for one in health["conditions"]
    ]
    rows += [
        el(
            "li",
            el("span", words.get(f"alerts.title.{one['category']}", one["category"]), class_="grow"),
            el(
                "span",
                words["health.tenants"].replace("{count}", number(words, one["tenants"])),
                class_="soft",
            ),
        )
        for one in health["of_tenants"]
    ]
    link = el("a", words["place.alerts"], href="/console/alerts", class_="button quiet")
    body = el("ul", rows, class_="rows") if rows else empty(words["health.well"], words["health.well_hint"])
    return section(words["health.wrong"], body, actions=link, id_="wrong")


def _facts(facts: Mapping[str, str | int]) -> Html:
    return join(*(el("bdi", f"{name} {value}", dir="ltr") for name, value in facts.items()), between=" · ")


def _processes(visit: Visit, processes: Sequence[Mapping[str, Any]]) -> Html:
    words = visit.words

    def late(process: Mapping[str, Any]) -> Child:
        if not process["late_jobs"]:
            return number(words, process["jobs"])
        names = ", ".join(f"{one['job']} ({one['seconds']} s)" for one in process["late_jobs"])
        return join(number(words, process["jobs"]), badge(names, "warn"), between=" ")

    columns: list[Column[Mapping[str, Any]]] = [
        Column(words["health.role"], lambda one: code(one["role"])),
        Column(
            words["health.state"],
            lambda one: status_badge(words, "health", one["state"], _STATES[one["state"]]),
        ),
        Column(words["health.services"], lambda one: code(one["services"])),
        Column(words["health.host"], lambda one: code(f"{one['host']} · {one['pid']}")),
        Column(words["health.version"], lambda one: code(one["version"])),
        Column(words["health.started"], lambda one: moment(one["started_at"])),
        Column(words["health.seen"], lambda one: moment(one["seen_at"])),
        Column(words["health.jobs"], late),
    ]
    none = empty(words["health.none"], words["health.none_hint"])
    return table(words["health.processes"], columns, processes, empty=none)
