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
    spent: Items | None
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

    def amounts(self, vendor: str | None = None) -> Sequence[tuple[str, int]]:
        """What was spent in each currency, the most first; with one vendor, or all of them."""
        found: Counter[str] = Counter()
        for one in self.spent or ():
            if vendor is None or one["vendor"] == vendor:
                found[one["currency"]] += one["real_micros"]
        return found.most_common()

    def costs(self, span: Span) -> tuple[str, Sequence[float]] | None:
        """The cost of each day in the currency in which most was spent, with its name."""
        amounts = self.amounts()
        if not amounts:
            return None
        currency = amounts[0][0]
        by_day: Counter[str] = Counter()
        for one in self.spent or ():
            if one["currency"] == currency:
                by_day[one["day"]] += one["real_micros"]
        return currency, [by_day[str(day)] / 1_000_000 for day in span.days]


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
        spent,
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
        items("router:read", "/api/v1/statistics/costs", **days),
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
        spent=spent,
        alerts=alerts,
        running=running,
        paused=paused,
        circuits=circuits,
        webhooks=webhooks,
        unknown_codes=unknown_codes,
    )
