"""Line charts as SVG text, side by side, readable on light and dark paper."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_WIDTH: Final = 420
_HEIGHT: Final = 250
_LEFT: Final = 46
_TOP: Final = 62
_GAP: Final = 40
#: Told apart also by those who do not see all colours (Okabe and Ito).
_COLOURS: Final = ("#999999", "#0072b2", "#d55e00", "#009e73")
_INK: Final = "#767676"


@dataclass(frozen=True, slots=True)
class Line:
    """Values, one for each place across."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Some lines over one scale."""

    title: str
    unit: str
    lines: Sequence[Line]


def draw_chart(*, title: str, across: str, panels: Sequence[Panel]) -> str:
    """The whole picture; the names of the lines stand once, below."""
    width = _LEFT + len(panels) * _WIDTH + (len(panels) - 1) * (_GAP + _LEFT) + 16
    names = [line.name for line in panels[0].lines]
    height = _TOP + _HEIGHT + 48 + 20 * len(names)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}" role="img" '
        f'aria-label="{escape(title)}">',
        f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>',
    ]
    for n, panel in enumerate(panels):
        parts += _panel(panel, across, left=_LEFT + n * (_WIDTH + _GAP + _LEFT))
    for n, name in enumerate(names):
        y = _TOP + _HEIGHT + 56 + 20 * n
        parts.append(
            f'<path d="M{_LEFT} {y - 4}h24" stroke="{_COLOURS[n]}" stroke-width="2.5"/>'
            f'<text x="{_LEFT + 32}" y="{y}">{escape(name)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, across: str, *, left: int) -> list[str]:
    lowest, highest, step = _scale([value for line in panel.lines for value in line.values])
    places = max(len(line.values) for line in panel.lines)

    def x(n: int) -> float:
        return left + _WIDTH * n / max(1, places - 1)

    def y(value: float) -> float:
        return _TOP + _HEIGHT * (highest - value) / (highest - lowest)

    parts = [f'<text x="{left}" y="{_TOP - 14}">{escape(panel.title)}, {escape(panel.unit)}</text>']
    marks = round((highest - lowest) / step)
    for n in range(marks + 1):
        value = lowest + n * step
        parts.append(
            f'<path d="M{left} {y(value):.1f}h{_WIDTH}" stroke="{_INK}" stroke-opacity=".25"/>'
            f'<text x="{left - 6}" y="{y(value) + 4:.1f}" text-anchor="end">{value:g}</text>'
        )
    for n in (0, places // 4, places // 2, 3 * places // 4, places - 1):
        parts.append(f'<text x="{x(n):.1f}" y="{_TOP + _HEIGHT + 18}" text-anchor="middle">{n + 1}</text>')
    parts.append(
        f'<text x="{left + _WIDTH / 2:.1f}" y="{_TOP + _HEIGHT + 36}" text-anchor="middle">{escape(across)}</text>'
    )
    for line, colour in zip(panel.lines, _COLOURS, strict=False):
        points = " ".join(f"{x(n):.1f},{y(value):.1f}" for n, value in enumerate(line.values))
        parts.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5" '
            'stroke-linejoin="round"/>'
        )
    return parts


def _scale(values: Sequence[float]) -> tuple[float, float, float]:
    """Round marks that hold all values: the lowest, the highest, and what lies between two of them."""
    low, high = min(values), max(values)
    room = (high - low) or 1.0
    step = next(
        size * 10.0**power
        for power in range(-6, 10)
        for size in (1, 2, 5)
        if room / (size * 10.0**power) <= 6
    )
    lowest = step * (low // step)
    highest = step * -(-high // step)
    return lowest, highest if highest > lowest else lowest + step, step
