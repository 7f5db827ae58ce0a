"""The overview for the platform's people before they choose a tenant: which tenants are loud, and which vendors are held back."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tidings.backoffice.console.frame import page
from tidings.backoffice.console.html import Html, el, join
from tidings.backoffice.console.kit.forms import button, hidden, post_form
from tidings.backoffice.console.kit.marks import empty, meter, number, percent, section, tabs
from tidings.backoffice.console.kit.tables import Column, table
from tidings.backoffice.console.overview.attention import attention, open_alerts
from tidings.backoffice.console.overview.figures import Figures, Items
from tidings.backoffice.console.overview.spans import Span
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import Visit
from tidings.kernel.http.answers import Reply

Row = Mapping[str, Any]
#: Tenants are looked at over a week at most.
PLATFORM_SPANS: Final = ("day", "week")
_LIVE: Final = 30
_NAMES: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class PlatformFigures:
    """What is known of all tenants together."""

    tenants: Items
    names: Mapping[str, str]
    figures: Figures


async def platform_figures(visit: Visit, span: Span) -> PlatformFigures:
    """Ask for all of it at once."""

    async def items(scope: str, path: str, **query: Any) -> Items | None:
        if not visit.may(scope):
            return None
        try:
            found: Items = (await visit.api.get(path, **query))["items"]
        except ApiProblemError:
            return None
        return found

    tenants, named, alerts, circuits, unknown = await asyncio.gather(
        items("router:read", "/internal/v1/statistics/tenants", since=str(span.since), until=str(span.until)),
        items("tenants:read", "/internal/v1/tenants", limit=_NAMES),
        items("alerts:read", "/bff/v1/alerts", status="open", limit=5),
        items("router:read", "/internal/v1/router/circuits"),
        items("router:read", "/internal/v1/router/status-map/unknown"),
    )
    known = Figures(
        counters=None, outcomes=None, steps=None, vendors=None, errors=None, spent=None, alerts=alerts, running=None, paused=None, circuits=circuits, webhooks=None,
        unknown_codes=unknown,
    )  # fmt: skip
    names = {one["id"]: one["name"] for one in named or ()}
    return PlatformFigures(tenants=tenants or (), names=names, figures=known)


def platform_page(visit: Visit, span: Span, found: PlatformFigures) -> Reply:
    """Who sends most, and what needs somebody."""
    words, reader = visit.words, visit.reader
    choices = [
        (words[f"overview.span.{name}"], f"/console?span={name}", name == span.name)
        for name in PLATFORM_SPANS
    ]
    now = el(
        "div",
        open_alerts(visit, found.figures.alerts),
        attention(visit, found.figures),
        class_="cards",
        id="now",
        data_live=_LIVE,
    )
    body = join(tabs(words["overview.span"], *choices), now, _tenants(visit, found))
    heading = words["greeting"].replace("{name}", reader.name)
    return page(words, heading, body, reader=reader, here="/console")


def _tenants(visit: Visit, found: PlatformFigures) -> Html:
    words = visit.words
    whole = sum(one["n"] for one in found.tenants) or 1

    def act_for(one: Row) -> Html:
        named = (hidden("tenant", one["tenant_id"]), button(words["acting_for_choose"], "quiet"))
        return post_form(visit.reader, "/console/acting-for", named)

    def share(one: Row) -> Html:
        return meter(words["overview.share"], one["n"] / whole, percent(words, one["n"] / whole))

    listed = table(
        words["overview.tenants"],
        [
            Column[Row](
                words["tenant"], lambda one: el("bdi", found.names.get(one["tenant_id"], one["tenant_id"]))
            ),
            Column[Row](words["overview.messages"], lambda one: number(words, one["n"]), "num"),
            Column[Row](words["overview.share"], share, "grow"),
            Column[Row](
                words["overview.failed"],
                lambda one: percent(words, one["failed"] / one["n"]) if one["n"] else "–",
                "num",
            ),
            Column[Row]("", act_for),
        ],
        list(found.tenants),
        empty=empty(words["overview.no_tenants"], words["overview.no_tenants_hint"]),
    )
    return section(words["overview.tenants"], listed, id_="tenants-part")
