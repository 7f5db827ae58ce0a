"""How vendors share a channel: points, by country where they differ, and where they are now."""

from collections.abc import Mapping
from typing import Any

from tidings.backoffice.console.channels.names import CHANNELS
from tidings.backoffice.console.frame import Told, page
from tidings.backoffice.console.html import Child, Html, el
from tidings.backoffice.console.kit.forms import area_field, button, field_row, hidden, post_form
from tidings.backoffice.console.kit.marks import empty, facts, meter, moment, section
from tidings.backoffice.console.kit.typed import Typed
from tidings.backoffice.console.vendors.list_page import HERE, vendor_tabs
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = dict[str, Any]


def weights_page(
    visit: Visit,
    found: Mapping[str, Row],
    vendors: Mapping[str, list[str]],
    *,
    told: Told | None = None,
    typed: Mapping[str, Typed] | None = None,
    status: int = 200,
) -> Reply:
    """Every channel that has shares, and those that could have."""
    words = visit.words
    shown = [channel for channel in CHANNELS if channel in found or len(vendors.get(channel, ())) > 1]
    parts: list[Child] = [
        vendor_tabs(visit, "weights"),
        el("p", words["vendors.weights_text"], class_="soft"),
    ]
    for channel in shown:
        known = found.get(channel)
        parts.append(
            _channel(visit, channel, known, vendors.get(channel, []), (typed or {}).get(channel, Typed()))
        )
    if not shown:
        parts.append(empty(words["vendors.no_weights"], words["vendors.no_weights_hint"]))
    return page(
        words,
        words["vendors.weights"],
        parts,
        reader=visit.reader,
        here=HERE,
        told=told or visit.told(),
        status=status,
    )


def _channel(visit: Visit, channel: str, known: Row | None, vendors: list[str], typed: Typed) -> Html:
    words = visit.words
    home = known["home"] if known else {}
    bars = [meter(vendor, points / 100, f"{vendor} · {points}") for vendor, points in home.items()]
    moved = [
        (
            one["prefix"] or words["vendors.everywhere"],
            el("span", _points(one["points"]), " · ", moment(one["moved_at"]), dir="ltr"),
        )
        for one in (known or {}).get("moved", [])
    ]
    parts: list[Child] = [bars or el("p", words["vendors.in_order"], class_="soft")]
    if moved:
        parts += [el("h3", words["vendors.moved"]), facts(*moved)]
    owner = words[f"vendors.owner.{known['owner']}"] if known else None
    is_own = known is None or known["owner"] == "tenant" or visit.tenant_is_missing
    if visit.may("router:write"):
        lines = "\n".join(
            f"{prefix} {_points(points)}" for prefix, points in (known or {}).get("by_prefix", {}).items()
        )
        example = " ".join(f"{vendor}=50" for vendor in vendors[:2])
        form = post_form(
            visit.reader,
            f"{HERE}/weights/{channel}",
            hidden("version", str(known["version"]) if known and is_own else ""),
            field_row(
                area_field(
                    "home",
                    words["vendors.home"],
                    typed.value("home", _points(home)),
                    rows=2,
                    id_=f"home-{channel}",
                    hint=example,
                    error=_wrong(typed, "home"),
                    dir="ltr",
                ),
                area_field(
                    "by_prefix",
                    words["vendors.by_country"],
                    typed.value("by_prefix", lines),
                    rows=2,
                    id_=f"prefix-{channel}",
                    hint=f"+93 {example}",
                    error=_wrong(typed, "by_prefix"),
                    dir="ltr",
                ),
            ),
            button(words["save"], "quiet"),
        )
        parts.append(el("details", el("summary", words["change"]), form, open=bool(typed.errors)))
    return section(
        words.channel(channel), *parts, actions=owner and el("span", owner, class_="soft"), id_=f"w-{channel}"
    )


def _wrong(typed: Typed, name: str) -> str | None:
    return next((f"{key}: {text}" for key, text in typed.errors.items() if key.startswith(name)), None)


def _points(points: Mapping[str, int]) -> str:
    return " ".join(f"{vendor}={count}" for vendor, count in points.items())
