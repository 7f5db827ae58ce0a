"""A picture of a ladder: its steps one under the other, each with the time that it may take."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.marks import badge, section
from tidings.backoffice.console.policies.draft import count_of, has_conditions
from tidings.backoffice.console.strings import ConsoleStrings

_COLOURS: Final = ("a", "c", "d", "e", "f", "b")
_LEAST: Final = 0.6


class StepBar(NamedTuple):
    """When a step may run, in seconds from the beginning."""

    begins: float
    lasts: float


def picture(words: ConsoleStrings, fields: Mapping[str, str]) -> Html:
    """All steps of a policy that a form holds."""
    bars = bars_of(fields)
    total = max((bar.begins + bar.lasts for bar in bars), default=0) or 1
    rows = [_row(words, fields, place, bar, total) for place, bar in enumerate(bars)]
    return section(words["policies.picture"], el("ol", rows, class_="ladder"), id_="picture")


def bars_of(fields: Mapping[str, str]) -> list[StepBar]:
    """One after the other, or, of a race, all at once."""
    bars: list[StepBar] = []
    begins = 0.0
    for place in range(count_of(fields)):
        typed = fields.get(f"s{place}.deadline", "")
        lasts = float(typed) if typed.isascii() and typed.isdecimal() else 0.0
        bars.append(StepBar(begins, lasts))
        if fields.get("strategy") != "PARALLEL":
            begins += lasts
    return bars


def lasting(seconds: float) -> str:
    """A length of time, short."""
    whole = int(seconds)
    days, rest = divmod(whole, 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, seconds_ = divmod(rest, 60)
    shown = [
        f"{count}{unit}"
        for count, unit in ((days, "d"), (hours, "h"), (minutes, "min"), (seconds_, "s"))
        if count
    ]
    return " ".join(shown[:2]) or "0s"


def _row(words: ConsoleStrings, fields: Mapping[str, str], place: int, bar: StepBar, total: float) -> Html:
    name = words.channel(fields.get(f"s{place}.channel", ""))
    vendor = fields.get(f"s{place}.vendor")
    retries = fields.get(f"s{place}.retries", "")
    tags = join(
        el("code", vendor, dir="ltr") if vendor else None,
        badge(words["policies.retries_tag"].replace("{count}", retries))
        if retries not in ("", "0")
        else None,
        badge(words["policies.conditional"], "info") if has_conditions(fields, place) else None,
        between=" ",
    )
    span = f"{lasting(bar.begins)} – {lasting(bar.begins + bar.lasts)}"
    drawn = el(
        "svg",
        el("rect", x=0, y=0, width=100, height=8, class_="track"),
        el(
            "rect",
            x=f"{100 * bar.begins / total:.2f}",
            y=0,
            width=f"{max(100 * bar.lasts / total, _LEAST):.2f}",
            height=8,
            class_=_COLOURS[place % len(_COLOURS)],
        ),
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )
    return el(
        "li",
        el("strong", name),
        el("span", tags, class_="grow"),
        el("span", span, dir="ltr", class_="soft"),
        drawn,
    )
