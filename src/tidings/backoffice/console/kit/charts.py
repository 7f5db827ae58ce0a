"""Charts as SVG, each with its numbers as a table; colours come from classes, as the policy allows no inline style."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.strings import ConsoleStrings

#: In units of the drawing, which grows with the room.
_WIDTH: Final = 480
_HEIGHT: Final = 150
_FOOT: Final = 22
_HEAD: Final = 12
_MOST_LABELS: Final = 6


class Series(NamedTuple):
    """A row of numbers with its name; `kind` is its colour: good, bad, warn, info, a to f."""

    name: str
    values: Sequence[float]
    kind: str


def bar_chart(
    words: ConsoleStrings, title: str, labels: Sequence[str], series: Sequence[Series], *, id_: str
) -> Html:
    """Bars that stand on each other, one for each label."""
    sums = [sum(one.values[place] for one in series) for place in range(len(labels))]
    most = max(sums, default=0)
    if not most:
        return el("p", words["chart_empty"], class_="soft")
    step = _WIDTH / len(labels)
    marks: list[Html] = []
    for place in range(len(labels)):
        top = float(_HEIGHT)
        for one in series:
            height = _HEIGHT * one.values[place] / most
            if height <= 0:
                continue
            top -= height
            marks.append(
                el(
                    "rect",
                    x=f"{place * step + step * 0.1:.1f}",
                    y=f"{top + _HEAD:.1f}",
                    width=f"{step * 0.8:.1f}",
                    height=f"{max(height, 1.5):.1f}",
                    class_=one.kind,
                )
            )
    return _chart(words, title, labels, series, marks, most=most, id_=id_)


def line_chart(
    words: ConsoleStrings, title: str, labels: Sequence[str], series: Sequence[Series], *, id_: str
) -> Html:
    """A line for each series."""
    most = max((value for one in series for value in one.values), default=0)
    if not most:
        return el("p", words["chart_empty"], class_="soft")
    step = _WIDTH / max(len(labels), 1)
    marks = []
    for one in series:
        points = [
            f"{(place + 0.5) * step:.1f},{_HEAD + _HEIGHT * (1 - value / most):.1f}"
            for place, value in enumerate(one.values)
        ]
        marks.append(el("polyline", points=" ".join(points), class_=one.kind))
    return _chart(words, title, labels, series, marks, most=most, id_=id_)


def spark(values: Sequence[float], label: str, kind: str = "info") -> Html:
    """A line without axes, as large as a word."""
    most = max(values, default=0) or 1
    step = 100 / max(len(values) - 1, 1)
    points = " ".join(
        f"{place * step:.1f},{22 - 20 * value / most:.1f}" for place, value in enumerate(values)
    )
    return el(
        "svg", el("polyline", points=points, class_=kind), viewBox="0 0 100 24", role="img", aria_label=label, class_="spark"
    )  # fmt: skip


def _chart(
    words: ConsoleStrings,
    title: str,
    labels: Sequence[str],
    series: Sequence[Series],
    marks: Sequence[Html],
    *,
    most: float,
    id_: str,
) -> Html:
    step = _WIDTH / len(labels)
    every = max(1, -(-len(labels) // _MOST_LABELS))
    named = [
        el(
            "text",
            label,
            x=f"{(place + 0.5) * step:.1f}" if place else 0,
            y=_HEAD + _HEIGHT + _FOOT - 6,
            text_anchor="middle" if place else "start",
        )
        for place, label in enumerate(labels)
        if place % every == 0
    ]
    levels = [(share, _HEAD + _HEIGHT * (1 - share)) for share in (0, 0.5, 1)]
    lines = [el("line", x1=0, y1=f"{y:.1f}", x2=_WIDTH, y2=f"{y:.1f}") for _, y in levels]
    # After the bars, which would stand on them.
    ticks = [el("text", _short(most * share), x=2, y=f"{y - 3:.1f}") for share, y in levels if share]
    total = ", ".join(f"{one.name}: {_short(sum(one.values))}" for one in series)
    drawing = el(
        "svg",
        el("title", title, id=f"{id_}-t"),
        el("desc", total, id=f"{id_}-d"),
        el("g", lines, class_="grid"),
        marks,
        el("g", ticks, class_="ticks"),
        el("g", named, class_="labels"),
        viewBox=f"0 0 {_WIDTH} {_HEAD + _HEIGHT + _FOOT}",
        role="img",
        aria_labelledby=f"{id_}-t {id_}-d",
        class_="chart",
    )
    legend = el("ul", [el("li", one.name, class_=one.kind) for one in series], class_="legend")
    heads = [el("th", "", scope="col"), *(el("th", one.name, scope="col", class_="num") for one in series)]
    rows = [
        el(
            "tr",
            el("th", label, scope="row"),
            [el("td", _short(one.values[place]), class_="num") for one in series],
        )
        for place, label in enumerate(labels)
        if any(one.values[place] for one in series)
    ]
    numbers = el(
        "table", el("caption", title, class_="unseen"), el("thead", el("tr", heads)), el("tbody", rows)
    )
    return el(
        "figure", drawing, legend, el("details", el("summary", words["chart_table"]), numbers), dir="ltr"
    )


def _short(value: float) -> str:
    for bound, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if value >= bound:
            return f"{value / (1e3 if letter == 'k' else bound):.1f}{letter}"
    if value == int(value) or value >= 10:
        return f"{value:.0f}"
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"
