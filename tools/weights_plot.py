"""Draws how weights follow a vendor that turns slow: `python -m tools.weights_plot` writes docs/images/vendor-weights.svg."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Final

from tools.weights_run import HOME, MESSAGES_A_SECOND, SECONDS, SLOW_FROM, SLOW_UNTIL, Second, run

PICTURE: Final = Path(__file__).parent.parent / "docs" / "images" / "vendor-weights.svg"

_WIDTH: Final = 720
_HEIGHT: Final = 180
_LEFT: Final = 52
_TOP: Final = 56
_GAP: Final = 64
_INK: Final = "#767676"
#: Told apart also by those who do not see all colours (Okabe and Ito).
_COLOURS: Final = {"http_acme": "#d55e00", "http_backup": "#0072b2"}
#: Messages are counted over so many seconds.
_OVER: Final = 30


def draw(seconds: Sequence[Second]) -> str:
    """The whole picture: points above, messages below, over the same time."""
    width, height = _LEFT + _WIDTH + 24, _TOP + 2 * _HEIGHT + _GAP + 70
    title = "A vendor turns slow: its points leave by tens, its traffic follows, and both come home"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="{_INK}" role="img" '
        f'aria-label="{escape(title)}">',
        f'<text x="{_LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    points = {vendor: [float(second.points[vendor]) for second in seconds] for vendor in HOME}
    parts += _panel("points of 100", points, top=_TOP, most=100, every=25)
    minute = 60 * MESSAGES_A_SECOND
    parts += _panel(
        "messages a minute", _rates(seconds), top=_TOP + _HEIGHT + _GAP, most=minute, every=minute // 4
    )
    bottom = _TOP + 2 * _HEIGHT + _GAP
    parts += [
        f'<text x="{_x(minute_ * 60):.0f}" y="{bottom + 18}" text-anchor="middle">{minute_}</text>'
        for minute_ in range(0, SECONDS // 60 + 1, 5)
    ]
    parts.append(f'<text x="{_LEFT + _WIDTH}" y="{bottom + 36}" text-anchor="end">minutes</text>')
    for n, (vendor, colour) in enumerate(_COLOURS.items()):
        x = _LEFT + 150 * n
        parts.append(
            f'<path d="M{x} {bottom + 48}h24" stroke="{colour}" stroke-width="2.5"/>'
            f'<text x="{x + 32}" y="{bottom + 52}">{escape(vendor)}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _panel(title: str, lines: dict[str, list[float]], *, top: int, most: int, every: int) -> list[str]:
    def y(value: float) -> float:
        return top + _HEIGHT * (1 - value / most)

    left, right = _x(SLOW_FROM), _x(SLOW_UNTIL)
    parts = [
        f'<text x="{_LEFT}" y="{top - 10}" font-weight="600">{escape(title)}</text>',
        f'<rect x="{left:.0f}" y="{top}" width="{right - left:.0f}" height="{_HEIGHT}" fill="#d55e00" opacity="0.1"/>',
        f'<text x="{(left + right) / 2:.0f}" y="{top - 10}" text-anchor="middle">http_acme is slow</text>',
    ]
    for mark in range(0, most + 1, every):
        parts.append(
            f'<path d="M{_LEFT} {y(mark):.0f}h{_WIDTH}" stroke="{_INK}" stroke-width="0.5" opacity="0.5"/>'
            f'<text x="{_LEFT - 8}" y="{y(mark) + 4:.0f}" text-anchor="end">{mark}</text>'
        )
    for vendor, values in lines.items():
        path = _steps([(_x(at), y(value)) for at, value in enumerate(values)])
        parts.append(f'<path d="{path}" fill="none" stroke="{_COLOURS[vendor]}" stroke-width="2"/>')
    return parts


def _rates(seconds: Sequence[Second]) -> dict[str, list[float]]:
    """Messages a minute, over the half minute that each second is in."""
    rates: dict[str, list[float]] = {vendor: [] for vendor in HOME}
    for begin in range(0, len(seconds), _OVER):
        some = seconds[begin : begin + _OVER]
        for vendor, values in rates.items():
            rate = sum(second.sent[vendor] for second in some) * 60 / len(some)
            values.extend([rate] * len(some))
    return rates


def _steps(places: Sequence[tuple[float, float]]) -> str:
    """A line that goes across and then up or down; places without a change are left out."""
    x, y = places[0]
    parts = [f"M{x:.1f} {y:.1f}"]
    for x, next_y in places:
        if next_y != y:
            parts.append(f"H{x:.1f}V{next_y:.1f}")
            y = next_y
    return "".join([*parts, f"H{places[-1][0]:.1f}"])


def _x(second: float) -> float:
    return _LEFT + _WIDTH * second / SECONDS


if __name__ == "__main__":
    PICTURE.write_text(draw(run()), encoding="utf-8")
