"""The channels of a tenant, set up and not."""

from typing import Any

from tidings.backoffice.console.channels.names import CHANNELS
from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import link_button
from tidings.backoffice.console.kit.marks import code, empty, section, status_badge
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

HERE = "/console/channels"

Row = dict[str, Any]


def channels_page(visit: Visit, found: list[Row]) -> Reply:
    """All of them."""
    words = visit.words
    listed = table(
        words["channels.title"],
        [
            Column[Row](words["channels.channel"], lambda one: words.channel(one["channel"])),
            Column[Row](words["status"], lambda one: channel_status(visit, one["status"])),
            Column[Row](words["channels.vendor"], vendors),
            Column[Row](words["channels.sender"], sender_of, "grow"),
            Column[Row](words["channels.limits"], lambda one: limits_of(visit, one["rate_limit"])),
        ],
        found,
        href=lambda one: f"{HERE}/{one['channel']}",
        empty=empty(words["channels.none"], words["channels.none_hint"]),
    )
    missing = [one for one in CHANNELS if one not in {row["channel"] for row in found}]
    parts = [el("section", listed, class_="card", aria_label=words["channels.title"])]
    if missing and visit.may("channels:write"):
        links = [link_button(words.channel(one), f"{HERE}/{one}", "quiet") for one in missing]
        parts.append(section(words["channels.more"], el("div", links, class_="actions"), id_="more"))
    actions = join(
        link_button(words["channels.secrets"], f"{HERE}/secrets", "quiet")
        if visit.may("router:read")
        else None
    )
    return page(
        words,
        words["channels.title"],
        parts,
        reader=visit.reader,
        here=HERE,
        actions=actions,
        told=visit.told(),
    )


def channel_status(visit: Visit, status: str) -> Html:
    """How it stands."""
    tone = {"degraded": "warn", "down": "bad", "disabled": "off"}.get(status)
    return status_badge(visit.words, "channels", status, tone)  # type: ignore[arg-type]


def vendors(one: Row) -> Html:
    """Who carries it, and who when that one is away."""
    return join(*(code(name) for name in (one["vendor"], one["fallback_vendor"]) if name), between=" → ")


def sender_of(one: Row) -> Html:
    """Whom messages come from."""
    sender = one["sender"]
    shown = [sender.get(name) for name in ("from_name", "from_address", "sender_id") if sender.get(name)]
    return (
        join(*(el("bdi", text) for text in shown), between=" · ") if shown else el("span", "–", class_="soft")
    )


def limits_of(visit: Visit, limit: Row) -> str:
    """How much goes out over it at most."""
    words = visit.words
    parts = [
        words[f"channels.limit.{span}"].replace("{count}", str(limit[span]))
        for span in ("per_second", "per_minute", "per_day")
        if limit.get(span)
    ]
    return ", ".join(parts) or words["channels.unlimited"]
