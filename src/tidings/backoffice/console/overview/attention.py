"""What needs somebody now: open alerts, vendors that are held back, webhooks that fail, batches that stopped; and batches under way."""

from collections.abc import Sequence
from typing import Final

from tidings.backoffice.console.alerts.advice import title_of
from tidings.backoffice.console.html import NOTHING, Child, Html, el, filled
from tidings.backoffice.console.kit.marks import Tone, badge, meter, moment, number, percent, section
from tidings.backoffice.console.overview.figures import Figures, Items
from tidings.backoffice.console.own_api import at
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit

_TONES: Final[dict[str, Tone]] = {"critical": "bad", "warning": "warn", "info": "info"}
#: More lines than these are read in their own places.
_MOST: Final = 8


def open_alerts(visit: Visit, alerts: Items | None) -> Html:
    """The newest ones."""
    words = visit.words
    if alerts is None:
        return NOTHING
    rows = [
        el(
            "li",
            badge(words[f"alerts.severity.{one['severity']}"], _TONES.get(one["severity"], "")),
            el("a", title_of(words, one), href=at("/console/alerts/{}", one["id"]), class_="grow"),
            moment(one["raised_at"]),
        )
        for one in alerts
    ]
    shown = el("ul", rows, class_="rows") if rows else el("p", words["overview.no_alerts"], class_="soft")
    return section(words["overview.alerts"], shown, id_="alerts-part")


def attention(visit: Visit, found: Figures) -> Html:
    """What is not as it should be, each with the place where it is mended."""
    words = visit.words
    rows: list[Html] = []
    for one in found.circuits or ():
        if one["state"] != "CLOSED" or one["held"]:
            text = filled(words["overview.circuit_of"], vendor=one["vendor"])
            tone: Tone = "warn" if one["state"] == "CLOSED" else "bad"
            rows.append(
                _row(
                    words[f"overview.circuit.{one['state'].lower()}"],
                    tone,
                    text,
                    _place("circuits", "vendors", "channels"),
                )
            )
    for one in found.webhooks or ():
        if one["status"] == "disabled" or one["consecutive_failures"]:
            disabled = one["status"] == "disabled"
            said = words["overview.webhook_disabled" if disabled else "overview.webhook_failing"]
            path = path_of("webhooks")
            href = None if path is None else at(path + "/{}", one["id"])
            text = filled(words["overview.webhook"], name=one["name"])
            rows.append(_row(said, "bad" if disabled else "warn", text, href))
    for one in found.paused or ():
        path = path_of("batches")
        href = None if path is None else at(path + "/{}", one["id"])
        rows.append(_row(words["overview.batch_paused"], "warn", el("bdi", one["name"]), href))
    if found.unknown_codes:
        text = filled(words["overview.unknown_codes"], count=number(words, len(found.unknown_codes)))
        rows.append(_row(words["overview.to_do"], "info", text, _codes()))
    shown = (
        el("ul", rows[:_MOST], class_="rows") if rows else el("p", words["overview.all_well"], class_="soft")
    )
    return section(words["overview.attention"], shown, id_="attention-part")


def running_batches(visit: Visit, batches: Items | None) -> Html:
    """How far each is."""
    words = visit.words
    if not batches:
        return NOTHING
    path = path_of("batches")
    rows = []
    for one in batches:
        totals = one["totals"]
        people = totals["people"] or 1
        done = (people - totals["remaining"]) / people
        name: Child = el("bdi", one["name"])
        if path is not None:
            name = el("a", name, href=at(path + "/{}", one["id"]))
        far = meter(one["name"], done, percent(words, done))
        rows.append(el("li", el("div", name, class_="grow"), far))
    return section(words["overview.running"], el("ul", rows, class_="rows"), id_="running-part")


def _row(mark: str, tone: Tone, text: Child, href: str | None) -> Html:
    shown = el("a", text, href=href, class_="grow") if href else el("span", text, class_="grow")
    return el("li", badge(mark, tone), shown)


def _codes() -> str | None:
    """Where codes get their meaning."""
    vendors = path_of("vendors")
    return f"{vendors}/codes" if vendors else None


def _place(*keys: str) -> str | None:
    """The first of these places that this release has."""
    found: Sequence[str] = [path for key in keys if (path := path_of(key))]
    return found[0] if found else None
