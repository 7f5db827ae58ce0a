"""How sending went, as tables: steps of ladders, vendors, codes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tidings.backoffice.console.html import NOTHING, Html, el
from tidings.backoffice.console.kit.marks import Tone, code, meter, money, number, percent, section
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.overview.figures import Figures
from tidings.backoffice.console.visits import Visit

Row = Mapping[str, Any]
_MOST_CODES: Final = 6
#: A share below it is worth a look; whole ladders are often worse in their first step.
_GOOD: Final = 0.9


def steps_part(visit: Visit, found: Figures) -> Html:
    """Of those for whom a vendor was called in each step, how many it delivered."""
    words = visit.words
    rows = [one for one in found.steps or () if one["calls"]]
    if not rows:
        return NOTHING

    def delivered(one: Row) -> Html:
        share = one["delivered"] / max(_tried(one), one["delivered"], 1)
        tone: Tone = "good" if share >= _GOOD else "warn"
        return meter(words["overview.step_share"], share, percent(words, share), tone)

    listed = table(
        words["overview.steps"],
        [
            Column[Row](
                words["overview.step"], lambda one: f"{one['step']}. {words['channel.' + one['channel']]}"
            ),
            Column[Row](words["overview.tried"], lambda one: number(words, _tried(one)), "num"),
            Column[Row](words["overview.skipped"], lambda one: number(words, one["skipped"]), "num"),
            Column[Row](words["overview.step_share"], delivered, "grow"),
        ],
        rows,
    )
    hint = el("p", words["overview.steps_hint"], class_="hint")
    return section(words["overview.steps"], hint, listed, id_="steps-part")


def _tried(one: Row) -> int:
    """Executions for which a vendor was called there."""
    return max(0, int(one["reached"]) - int(one["skipped"]))


def vendors_part(visit: Visit, found: Figures) -> Html:
    """How vendors answer, and what they cost."""
    words = visit.words
    if not found.vendors:
        return NOTHING

    def took(one: Row) -> str:
        if one["p50_ms"] is None:
            return "–"
        return f"{number(words, one['p50_ms'])} / {number(words, one['p95_ms'])}"

    def cost(one: Row) -> str:
        amounts = [money(words, micros, currency) for currency, micros in found.amounts(one["vendor"])]
        return " + ".join(amounts) or "–"

    listed = table(
        words["overview.vendors"],
        [
            Column[Row](words["overview.vendor"], lambda one: code(one["vendor"])),
            Column[Row](words["overview.channel"], lambda one: words["channel." + one["channel"]]),
            Column[Row](words["overview.calls"], lambda one: number(words, one["calls"]), "num"),
            Column[Row](
                words["overview.taken"],
                lambda one: percent(words, one["accepted"] / one["calls"]) if one["calls"] else "–",
                "num",
            ),
            Column[Row](words["overview.latency"], took, "num"),
            Column[Row](words["overview.cost"], cost, "num"),
        ],
        list(found.vendors),
    )
    return section(words["overview.vendors"], listed, id_="vendors-part")


def errors_part(visit: Visit, found: Figures) -> Html:
    """What vendors said where a call came to nothing."""
    words = visit.words
    return _codes(
        visit,
        "errors",
        [one for one in found.errors or () if one["vendor"]],
        Column[Row](words["overview.vendor"], lambda one: code(one["vendor"])),
    )


def skips_part(visit: Visit, found: Figures) -> Html:
    """Why steps called nobody."""
    words = visit.words
    return _codes(
        visit,
        "skips",
        [one for one in found.errors or () if not one["vendor"]],
        Column[Row](words["overview.channel"], lambda one: words["channel." + one["channel"]]),
    )


def _codes(visit: Visit, name: str, rows: Sequence[Row], where: Column[Row]) -> Html:
    words = visit.words
    if not rows:
        return NOTHING
    heading = words[f"overview.codes.{name}"]
    listed = table(
        heading,
        [
            Column[Row](words["overview.code"], lambda one: code(one["code"])),
            where,
            Column[Row](words["overview.times"], lambda one: number(words, one["n"]), "num"),
        ],
        list(rows)[:_MOST_CODES],
    )
    return section(heading, listed, id_=f"{name}-part")
