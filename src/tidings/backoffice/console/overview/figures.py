"""What the overview shows, asked of the API side by side; a part that somebody may not see, or that fails, is None."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tidings.backoffice.console.overview.spans import Span
from tidings.backoffice.console.own_api import ApiProblemError
from tidings.backoffice.console.visits import Visit

Found = Mapping[str, Any]
Items = Sequence[Mapping[str, Any]]
#: What becomes of a notification → the series of the chart that it is in.
SERIES: Final[Mapping[str, Sequence[str]]] = {
    "delivered": ("delivered",),
    "failed": ("failed", "bounced"),
    "suppressed": ("suppressed",),
    "expired": ("expired",),
    "withdrawn": ("cancelled", "superseded"),
}
_MOST_ALERTS: Final = 5
_MOST_BATCHES: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All of it."""

    counters: Found | None
    outcomes: Items | None
    steps: Items | None
    vendors: Items | None
    errors: Items | None
    spend_by_day: Found | None
    spend_by_vendor: Found | None
    alerts: Items | None
    running: Items | None
    paused: Items | None
    circuits: Items | None
    webhooks: Items | None
    unknown_codes: Items | None

    @property
    def totals(self) -> Mapping[str, int]:
        """Notifications of the span by what became of them."""
        return self.counters["totals"] if self.counters else {}

    def series_by_day(self, span: Span) -> Mapping[str, Sequence[int]]:
        """The volume of each day, by what became of it."""
        counted: Counter[tuple[str, str]] = Counter()
        for day in self.counters["days"] if self.counters else ():
            for one in day["counts"]:
                counted[day["day"], one["name"]] += one["n"]
        return {
            name: [sum(counted[str(day), status] for status in statuses) for day in span.days]
            for name, statuses in SERIES.items()
        }

    def channels(self, span: Span, *, most: int) -> Mapping[str, Sequence[int]]:
        """Executions that ended as delivered, by channel; the busiest ones, and the others together under an empty name."""
        slots = [one.isoformat() for one in span.hours] if span.by_hour else [str(day) for day in span.days]
        counted: Counter[tuple[str, str]] = Counter()
        totals: Counter[str] = Counter()
        for one in self.outcomes or ():
            slot = one["at"].replace("Z", "+00:00") if span.by_hour else one["at"][:10]
            if one["outcome"] == "DELIVERED" and slot in slots:
                counted[one["channel"], slot] += one["n"]
                totals[one["channel"]] += one["n"]
        named = [name for name, _ in totals.most_common(most)]
        found = {name: [counted[name, slot] for slot in slots] for name in named}
        others = [name for name in totals if name not in named]
        if others:
            found[""] = [sum(counted[name, slot] for name in others) for slot in slots]
        return found

    def costs(self, span: Span) -> tuple[str, Sequence[float]] | None:
        """The cost of each day in the currency in which most was spent, with its name."""
        if not self.spend_by_day or not self.spend_by_day["totals"]:
            return None
        currency = max(self.spend_by_day["totals"], key=lambda one: one["real_micros"])["currency"]
        by_day = {
            one["part"]: one["real_micros"] / 1_000_000
            for one in self.spend_by_day["items"]
            if one["currency"] == currency
        }
        return currency, [by_day.get(str(day), 0) for day in span.days]

    def cost_of(self, vendor: str) -> Sequence[Mapping[str, Any]]:
        """What a vendor took, in each currency."""
        return [one for one in (self.spend_by_vendor or {}).get("items", ()) if one["part"] == vendor]


async def figures(visit: Visit, span: Span) -> Figures:
    """Ask for all of them at once."""
    days = {"since": str(span.since), "until": str(span.until)}
    every = "hour" if span.by_hour else "day"

    async def ask(scope: str, path: str, **query: Any) -> Any:
        if not visit.may(scope):
            return None
        try:
            return await visit.api.get(path, **query)
        except ApiProblemError:
            return None

    async def items(scope: str, path: str, **query: Any) -> Items | None:
        found = await ask(scope, path, **query)
        return None if found is None else found["items"]

    (
        counters,
        spend_by_day,
        spend_by_vendor,
        outcomes,
        steps,
        vendors,
        errors,
        alerts,
        running,
        paused,
        circuits,
        webhooks,
        unknown_codes,
    ) = await asyncio.gather(
        ask(
            "notifications:read",
            "/api/v1/notifications/counters",
            **{"from": days["since"], "to": days["until"]},
        ),
        ask("router:read", "/api/v1/router/spend", by="day", **days),
        ask("router:read", "/api/v1/router/spend", by="vendor", **days),
        items("router:read", "/api/v1/statistics/outcomes", every=every, **days),
        items("router:read", "/api/v1/statistics/steps", **days),
        items("router:read", "/api/v1/statistics/vendors", **days),
        items("router:read", "/api/v1/statistics/errors", **days),
        items("alerts:read", "/bff/v1/alerts", status="open", limit=_MOST_ALERTS),
        items("batches:read", "/api/v1/batches", status="running", limit=_MOST_BATCHES),
        items("batches:read", "/api/v1/batches", status="paused", limit=_MOST_BATCHES),
        items("router:read", "/api/v1/router/circuits"),
        items("webhooks:read", "/api/v1/webhooks", limit=100),
        items("router:read", "/api/v1/router/status-map/unknown"),
    )
    return Figures(
        counters=counters,
        outcomes=outcomes,
        steps=steps,
        vendors=vendors,
        errors=errors,
        spend_by_day=spend_by_day,
        spend_by_vendor=spend_by_vendor,
        alerts=alerts,
        running=running,
        paused=paused,
        circuits=circuits,
        webhooks=webhooks,
        unknown_codes=unknown_codes,
    )
