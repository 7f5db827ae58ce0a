"""The overview of one tenant: what needs somebody now, and how sending went over a time that can be chosen."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import NOTHING, Html, el, join
from tidings.backoffice.console.kit.charts import Series, bar_chart
from tidings.backoffice.console.kit.marks import Tile, money, number, percent, section, tabs, tiles
from tidings.backoffice.console.overview.attention import attention, open_alerts, running_batches
from tidings.backoffice.console.overview.figures import Figures
from tidings.backoffice.console.overview.first_steps import FirstSteps, first_steps
from tidings.backoffice.console.overview.sending import errors_part, skips_part, steps_part, vendors_part
from tidings.backoffice.console.overview.spans import SPANS, Span
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.strings import ConsoleStrings
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

#: Seconds between two looks at what is going on now.
_LIVE: Final = 20
#: Channels that have a colour of their own.
_MOST_CHANNELS: Final = 5
_COLOURS: Final = "abcdef"
_KINDS: Final[Mapping[str, str]] = {
    "delivered": "good",
    "failed": "bad",
    "suppressed": "warn",
    "expired": "e",
    "withdrawn": "off",
}


def overview_page(visit: Visit, span: Span, found: Figures, steps: FirstSteps | None) -> Reply:
    """All of it; `steps` where nothing was sent yet."""
    words, reader = visit.words, visit.reader
    now = el(
        "div",
        _tiles(visit, found),
        el(
            "div",
            open_alerts(visit, found.alerts),
            attention(visit, found),
            running_batches(visit, found.running),
            class_="cards",
        ),
        id="now",
        data_live=_LIVE,
    )
    body = join(
        first_steps(visit, steps) if steps else NOTHING,
        _spans(words, span),
        now,
        el("div", _volume(visit, span, found), _channels(visit, span, found), class_="cards"),
        el(
            "div",
            el("div", steps_part(visit, found)),
            el("div", _cost(visit, span, found), errors_part(visit, found), skips_part(visit, found)),
            class_="split",
        ),
        vendors_part(visit, found),
    )
    heading = words["greeting"].replace("{name}", reader.name)
    return page(words, heading, body, reader=reader, here="/console")


def _spans(words: ConsoleStrings, span: Span) -> Html:
    found = [(words[f"overview.span.{name}"], f"/console?span={name}", name == span.name) for name in SPANS]
    return tabs(words["overview.span"], *found)


def _tiles(visit: Visit, found: Figures) -> Html:
    words, totals = visit.words, found.totals
    tiles_: list[Tile] = []
    if found.counters is not None:
        accepted, failed = totals.get("accepted", 0), totals.get("failed", 0) + totals.get("bounced", 0)
        delivered, suppressed = totals.get("delivered", 0), totals.get("suppressed", 0)
        tiles_ += [
            Tile(words["overview.accepted"], number(words, accepted), href=_list()),
            Tile(
                words["overview.delivered"],
                number(words, delivered),
                _share(words, delivered, accepted),
                "good" if delivered else "",
                _list("delivered"),
            ),
            Tile(
                words["overview.failed"],
                number(words, failed),
                _share(words, failed, accepted),
                "bad" if failed else "",
                _list("failed"),
            ),
            Tile(
                words["overview.suppressed"],
                number(words, suppressed),
                _share(words, suppressed, accepted),
                "warn" if suppressed else "",
                _list("suppressed"),
            ),
        ]
    if found.spent is not None:
        amounts = [money(words, micros, currency) for currency, micros in found.amounts()]
        tiles_.append(Tile(words["overview.cost"], " + ".join(amounts) or "–"))
    return tiles(*tiles_) if tiles_ else NOTHING


def _list(status: str | None = None) -> str | None:
    path = path_of("notifications")
    return path if path is None or status is None else f"{path}?status={status}"


def _share(words: ConsoleStrings, part: int, whole: int) -> str:
    return percent(words, part / whole) if whole else ""


def _volume(visit: Visit, span: Span, found: Figures) -> Html:
    words = visit.words
    if found.counters is None:
        return NOTHING
    series = [
        Series(words[f"overview.series.{name}"], values, _KINDS[name])
        for name, values in found.series_by_day(span).items()
        if any(values)
    ]
    chart = bar_chart(words, words["overview.volume"], _days(words, span.days), series, id_="volume")
    return section(words["overview.volume"], chart, id_="volume-part")


def _channels(visit: Visit, span: Span, found: Figures) -> Html:
    words = visit.words
    if found.outcomes is None:
        return NOTHING
    counted = found.channels(span, most=_MOST_CHANNELS)
    series = [
        Series(
            words[f"channel.{name}"] if name else words["overview.other_channels"], values, _COLOURS[place]
        )
        for place, (name, values) in enumerate(counted.items())
    ]
    labels = [f"{hour:%H}" for hour in span.hours] if span.by_hour else _days(words, span.days)
    title = words["overview.channels_by_hour" if span.by_hour else "overview.channels"]
    return section(title, bar_chart(words, title, labels, series, id_="channels"), id_="channels-part")


def _cost(visit: Visit, span: Span, found: Figures) -> Html:
    words = visit.words
    costs = found.costs(span)
    if costs is None:
        return NOTHING
    currency, values = costs
    title = words["overview.cost_by_day"].replace("{currency}", currency)
    chart = bar_chart(words, title, _days(words, span.days), [Series(currency, values, "a")], id_="cost")
    return section(title, chart, id_="cost-part")


def _days(words: ConsoleStrings, days: Sequence[date]) -> Sequence[str]:
    """Short names of days, as the language writes them."""
    from babel.dates import format_skeleton

    locale = words.language.replace("-", "_")
    return [
        format_skeleton("MMMd", datetime(day.year, day.month, day.day), locale=locale)  # noqa: DTZ001  # a day has no zone
        for day in days
    ]
