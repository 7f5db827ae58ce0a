"""What a new tenant does first, each step with the page where it is done; shown until something was sent."""

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from tidings.backoffice.console.html import Html, el
from tidings.backoffice.console.kit.marks import badge, section
from tidings.backoffice.console.overview.spans import SPANS, Span
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.places import path_of
from tidings.backoffice.console.visits import Visit


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSteps:
    """Which are done; nothing was sent yet where they are shown."""

    channel: bool
    template: bool
    colleague: bool


async def has_sent(visit: Visit, span: Span) -> bool:
    """Whether anything was sent in the last quarter of a year."""
    first = span.until - timedelta(days=SPANS["quarter"] - 1)
    found = await visit.api.get(
        "/api/v1/notifications/counters", **{"from": str(first), "to": str(span.until)}
    )
    return bool(found["totals"])


async def look_at_first_steps(visit: Visit) -> FirstSteps:
    """Ask what is there."""

    async def some(scope: str, path: str, least: int = 1, **query: Any) -> bool:
        if not visit.may(scope):
            return True
        try:
            found = await visit.api.get(path, **query)
        except ApiProblemError:
            return True
        return len(found["items"]) >= least

    async def own_template() -> bool:
        if not visit.may("templates:read"):
            return True
        try:
            found = await visit.api.get("/api/v1/templates", limit=200)
        except ApiProblemError:
            return True
        return any(one["owner"] == "tenant" for one in found["items"])

    channel, template, colleague = await asyncio.gather(
        some("channels:read", "/api/v1/channels"),
        own_template(),
        some("operators:read", "/bff/v1/operators", 2, limit=2),
    )
    return FirstSteps(channel=channel, template=template, colleague=colleague)


def first_steps(visit: Visit, steps: FirstSteps) -> Html:
    """The list; what is done stays in it, so that one sees how far one is."""
    words = visit.words
    channels, templates, operators = path_of("channels"), path_of("templates"), path_of("operators")
    rows = [
        _step(visit, "channel", channels, is_done=steps.channel),
        _step(visit, "template", templates, is_done=steps.template),
        _step(visit, "sent", channels, is_done=False),
        _step(visit, "colleague", f"{operators}#invite" if operators else None, is_done=steps.colleague),
    ]
    hint = el("p", words["overview.first_hint"])
    return section(words["overview.first"], hint, el("ol", rows, class_="rows"), id_="first-steps")


def _step(visit: Visit, name: str, href: str | None, *, is_done: bool) -> Html:
    words = visit.words
    text = words[f"overview.first.{name}"]
    mark = badge(words["overview.done"], "good") if is_done else badge(words["overview.to_do"], "info")
    shown = (
        el("a", text, href=href, class_="grow") if href and not is_done else el("span", text, class_="grow")
    )
    about = el("span", words[f"overview.first_about.{name}"], class_="soft")
    return el("li", mark, el("div", shown, el("br"), about, class_="grow"))
