"""Charts of calls as SVG, with the numbers behind them as a table; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from html import escape
from typing import Final

from tidings.notify.webhook_portal.strings import PortalStrings
from tidings.notify.webhooks.call_counts import WebhookHour

_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
#: Labels that have room side by side.
_MOST_LABELS: Final = 7
#: In the units of the drawing.
_WIDTH, _HEIGHT, _FOOT = 360, 90, 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """The calls of one span of time."""

    label: str
    taken: int
    not_taken: int


def hours_of(hours: Sequence[WebhookHour], *, now: datetime) -> list[Bar]:
    """A bar for each of the last 24 hours."""
    newest = now.replace(minute=0, second=0, microsecond=0)
    return _bars(hours, [newest - _HOUR * back for back in range(23, -1, -1)], _HOUR, "%H:%M")


def days_of(hours: Sequence[WebhookHour], *, now: datetime) -> list[Bar]:
    """A bar for each of the last 7 days, of which the last is not over."""
    newest = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return _bars(hours, [newest - _DAY * back for back in range(6, -1, -1)], _DAY, "%m-%d")


def since(now: datetime) -> datetime:
    """From when on hours are needed for both charts."""
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - 6 * _DAY


def rate_of(hours: Sequence[WebhookHour], *, now: datetime) -> tuple[int, int] | None:
    """Calls that were taken in the last 24 hours, and all of them; None where there was none."""
    lately = [one for one in hours if one.hour > now - _DAY]
    taken = sum(one.taken for one in lately)
    count = taken + sum(one.not_taken for one in lately)
    return (taken, count) if count else None


def chart(words: PortalStrings, title: str, bars: Sequence[Bar], *, name: str) -> str:
    """The chart with its heading and its table; `name` sets its ids apart from others on the page."""
    heading = f'<h2 id="{name}">{escape(title)}</h2>'
    most = max(bar.taken + bar.not_taken for bar in bars)
    if not most:
        return f"{heading}<p>{escape(words.no_calls)}</p>"
    taken, lost = sum(bar.taken for bar in bars), sum(bar.not_taken for bar in bars)
    step = _WIDTH / len(bars)
    marks = "".join(_mark(bar, round(place * step, 1), step, most) for place, bar in enumerate(bars))
    # As many as have room on a telephone; the first and the last begin and end with the drawing.
    named = range(len(bars)) if len(bars) <= _MOST_LABELS else (0, len(bars) // 2, len(bars) - 1)
    labels = "".join(_label(bars[place].label, place, step, last=len(bars) - 1) for place in named)
    drawing = (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + _FOOT}" role="img" aria-labelledby="{name}-t {name}-d" dir="ltr">'
        f'<title id="{name}-t">{escape(title)}</title>'
        f'<desc id="{name}-d">{escape(words.taken)}: {taken}. {escape(words.not_taken)}: {lost}.</desc>'
        f'<line x1="0" y1="{_HEIGHT}" x2="{_WIDTH}" y2="{_HEIGHT}"/>{marks}{labels}</svg>'
    )
    legend = (
        f'<p class="legend"><span class="taken">{escape(words.taken)}: {taken}</span> '
        f'<span class="lost">{escape(words.not_taken)}: {lost}</span></p>'
    )
    rows = "".join(
        f"<tr><th scope=row><bdi>{bar.label}</bdi><td>{bar.taken}<td>{bar.not_taken}"
        for bar in bars
        if bar.taken or bar.not_taken
    )
    table = (
        f"<details><summary>{escape(words.chart_table)}</summary><table><thead><tr>"
        f"<th scope=col>{escape(words.time)}<th scope=col>{escape(words.taken)}"
        f"<th scope=col>{escape(words.not_taken)}<tbody>{rows}</table></details>"
    )
    return heading + drawing + legend + table


def _label(text: str, place: int, step: float, *, last: int) -> str:
    at, anchor = (place + 0.5) * step, "middle"
    if last >= _MOST_LABELS and place in (0, last):
        at, anchor = (0.0, "start") if place == 0 else (float(_WIDTH), "end")
    return f'<text x="{round(at, 1)}" y="{_HEIGHT + _FOOT - 4}" text-anchor="{anchor}">{text}</text>'


def _mark(bar: Bar, left: float, step: float, most: int) -> str:
    """What was not taken stands on what was; a call among thousands is still seen."""
    width = round(step * 0.76, 1)
    lost = max(2.0, _HEIGHT * bar.not_taken / most) if bar.not_taken else 0.0
    taken = min(max(2.0, _HEIGHT * bar.taken / most), _HEIGHT - lost) if bar.taken else 0.0
    found = ""
    for kind, height, top in (("taken", taken, _HEIGHT - taken), ("lost", lost, _HEIGHT - taken - lost)):
        if height:
            found += (
                f'<rect class="{kind}" x="{round(left + step * 0.12, 1)}" y="{round(top, 1)}" '
                f'width="{width}" height="{round(height, 1)}"/>'
            )
    return found


def _bars(hours: Sequence[WebhookHour], starts: Sequence[datetime], span: timedelta, form: str) -> list[Bar]:
    return [
        Bar(
            label=start.strftime(form),
            taken=sum(one.taken for one in hours if start <= one.hour < start + span),
            not_taken=sum(one.not_taken for one in hours if start <= one.hour < start + span),
        )
        for start in starts
    ]
