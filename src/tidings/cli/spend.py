"""`tidings spend`: what messages cost, by day, channel or vendor, with a bar for each part."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

import typer

from tidings.cli.api_command import Api, api_command
from tidings.cli.command import JsonObject
from tidings.cli.options import day_of
from tidings.cli.printing import counted, money, shown

#: Characters of the longest bar.
_WIDTH = 30


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    """A table, its bars, its sums."""
    yield f"from {told['since']} to {told['until']}, by {told['by']}"
    items = told["items"]
    if not items:
        yield "no message had a price"
        yield from _unpriced(told)
        return
    rows = [[shown(one["part"]), *_cells(one)] for one in items]
    heads = [told["by"], "priced messages", "estimated", "charged", "confirmed"]
    widths = [max(len(row[place]) for row in [heads, *rows]) for place in range(len(heads))]
    yield _row(heads, widths)
    most = _most(items)
    for row, one in zip(rows, items, strict=True):
        yield f"{_row(row, widths)}  {_bar(one['real_micros'], most[one['currency']])}".rstrip()
    yield ""
    for total in told["totals"]:
        messages, estimated, real, _ = _cells(total)
        yield f"in all: {real} charged ({estimated} estimated) for {counted(int(messages), 'priced message')}"
    if (converted := told["converted"]) and len(told["totals"]) > 1:
        yield f"together: {money(converted['real_micros'], converted['currency'])}"
    yield from _unpriced(told)
    yield ""
    yield "charged: what vendors said they take; the estimate where they said nothing"
    yield "confirmed: for how many messages the vendor has said its price"


def _unpriced(told: Mapping[str, Any]) -> Iterator[str]:
    """What is not in the sums, because its account has no price."""
    unpriced = told.get("unpriced") or {}
    if not unpriced.get("messages"):
        return
    more = " or more" if unpriced.get("more") else ""
    parts = ", ".join(f"{shown(one['part'])} {one['messages']}" for one in unpriced["items"])
    yield (
        f"without a price: {unpriced['messages']}{more} messages ({parts}); "
        "`tidings adapter price` gives an account its prices"
    )


def _cells(one: Mapping[str, Any]) -> list[str]:
    currency = one["currency"]
    return [
        f"{one['messages']}",
        money(one["estimated_micros"], currency),
        money(one["real_micros"], currency),
        f"{one['corrected']}",
    ]


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        f"{cell:<{width}}" if place == 0 else f"{cell:>{width}}"
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join([first, *others])


def _most(items: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """The largest amount of each currency: bars of two currencies say nothing about each other."""
    found: dict[str, int] = {}
    for one in items:
        found[one["currency"]] = max(found.get(one["currency"], 0), one["real_micros"])
    return found


def _bar(micros: int, most: int) -> str:
    if micros <= 0 or most <= 0:
        return ""
    return "█" * max(1, round(_WIDTH * micros / most))


@api_command(None, "spend", text=_lines)
def spend(
    api: Api,
    *,
    since: Annotated[str | None, typer.Option(help="The first day, 2026-11-01. [default: 30 days]")] = None,
    until: Annotated[str | None, typer.Option(help="The last day. [default: today]")] = None,
    by: Annotated[Literal["day", "channel", "vendor"], typer.Option(help="What it is summed by.")] = "day",
) -> JsonObject:
    """Show what messages cost: estimated by the price lists, charged by what vendors said."""
    days = {"since": since and day_of(since, "--since"), "until": until and day_of(until, "--until")}
    return api.call("show_spend", query={"by": by, **days})
