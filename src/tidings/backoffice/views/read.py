"""Dashboards and boards by way of the cache; every one is asked for with a right to its property."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from tidings.backoffice.metrics import BackofficeMetrics
from tidings.backoffice.properties.access import PropertyAccess
from tidings.backoffice.upstreams.client import Upstreams
from tidings.backoffice.upstreams.contract.assistant import UpstreamSuggestions
from tidings.backoffice.upstreams.contract.housekeeping import RoomSummary
from tidings.backoffice.upstreams.contract.locks import LockSummary
from tidings.backoffice.upstreams.contract.maintenance import TicketSummary
from tidings.backoffice.upstreams.contract.reservations import OccupancySummary, UpstreamProperty
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.backoffice.upstreams.names import UpstreamName
from tidings.backoffice.view_cache.cache import ViewCache
from tidings.backoffice.view_cache.entry import CachedView
from tidings.backoffice.view_cache.keys import board_key, dashboard_key
from tidings.backoffice.views.boards import MAKERS
from tidings.backoffice.views.gathering import Gathering, together
from tidings.backoffice.views.model import (
    BOARDS,
    DATED,
    BoardName,
    BoardView,
    DashboardView,
    PropertyView,
    SuggestionCounts,
)
from tidings.backoffice.views.properties import KnownProperties
from tidings.kernel.clock import Clock
from tidings.kernel.db import CallerRole
from tidings.kernel.errors import BadValueError

#: What each role looks after; the services follow from that.
_SECTIONS: Final[dict[str, UpstreamName]] = {
    "occupancy": "reservations",
    "rooms": "housekeeping",
    "tickets": "maintenance",
    "locks": "locks",
    "suggestions": "assistant",
}
_WORKS: Final = ("occupancy", "rooms", "tickets", "locks")
_OF_ROLE: Final[dict[CallerRole, tuple[str, ...]]] = {
    "tenant.viewer": ("occupancy", "rooms"),
    "tenant.support": _WORKS,
    "platform.support": _WORKS,
    "tenant.admin": (*_WORKS, "suggestions"),
    "platform.channel.admin": (*_WORKS, "suggestions"),
}
_FURTHEST_DAYS: Final = 730


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PropertyViews:
    """Each view is JSON, ready for the wire."""

    upstreams: Upstreams
    cache: ViewCache
    properties: KnownProperties
    clock: Clock
    metrics: BackofficeMetrics

    async def dashboard(self, access: PropertyAccess, role: CallerRole) -> bytes:
        """The property at a glance, for a role."""
        sections = _OF_ROLE[role]
        # The list of properties is asked for beside it: its name is missing where the service is away.
        sources = tuple(dict.fromkeys(("reservations", *(_SECTIONS[one] for one in sections))))
        key = dashboard_key(access, role, sources)
        made = await self.cache.get(key, lambda: self._dashboard(access, role, sections))
        return made.body

    async def board(self, access: PropertyAccess, view: BoardName, day: date | None) -> bytes:
        """One board; `day` where it is another than today, of arrivals and departures alone."""
        if day is not None and view not in DATED:
            raise BadValueError(
                "date", "goes with arrivals and departures; the other boards show what is now"
            )
        short, sources = BOARDS[view]
        shown = None
        gathering = Gathering(upstreams=self.upstreams, access=access)
        if view in DATED:
            today = _today(self.clock.now(), await self._property(gathering))
            shown = day or today
            if abs((shown - today).days) > _FURTHEST_DAYS:
                raise BadValueError("date", "must be within two years of today")
            gathering.day, gathering.is_of_now = {"date": shown.isoformat()}, shown == today
        key = board_key(access, view, short, shown, sources)
        return (await self.cache.get(key, lambda: self._board(gathering, view, shown))).body

    async def _board(self, gathering: Gathering, view: BoardName, day: date | None) -> CachedView:
        now = self.clock.now()
        known, parts = await asyncio.gather(self._property(gathering), MAKERS[view](gathering))
        missing = list(gathering.missing.values())
        board = BoardView(
            property=_shown(gathering.access, known),
            view=view,
            date=day or _today(now, known),
            made_at=now,
            partial=bool(missing),
            missing=missing,
            **parts,
        )
        return self._made(view, now, board)

    async def _dashboard(
        self, access: PropertyAccess, role: CallerRole, sections: Sequence[str]
    ) -> CachedView:
        now = self.clock.now()
        gathering = Gathering(upstreams=self.upstreams, access=access)
        asked: dict[str, Callable[[], Awaitable[Any]]] = {
            "occupancy": lambda: gathering.read(OccupancySummary, "reservations", "/summary"),
            "rooms": lambda: gathering.read(RoomSummary, "housekeeping", "/summary"),
            "tickets": lambda: gathering.read(TicketSummary, "maintenance", "/summary"),
            "locks": lambda: gathering.read(LockSummary, "locks", "/summary"),
            "suggestions": lambda: _suggestions(gathering),
        }
        known, found = await asyncio.gather(
            self._property(gathering), together(**{one: asked[one]() for one in sections})
        )
        missing = list(gathering.missing.values())
        view = DashboardView(
            property=_shown(access, known),
            role=role,
            sections=list(sections),
            made_at=now,
            partial=bool(missing),
            missing=missing,
            **found,
        )
        return self._made("dashboard", now, view)

    async def _property(self, gathering: Gathering) -> UpstreamProperty | None:
        """What is known of the property; a `PropertyNotFoundError` where its service knows none."""
        try:
            return await self.properties.find(gathering.access)
        except UpstreamAwayError as away:
            gathering.lacks(away)
            return None

    def _made(self, name: str, now: datetime, view: BoardView | DashboardView) -> CachedView:
        for one in view.missing:
            self.metrics.views_partial.labels(name, one.upstream).inc()
        return CachedView(made_at=now, body=msgspec.json.encode(view), is_whole=not view.partial)


async def _suggestions(gathering: Gathering) -> SuggestionCounts | None:
    found = await gathering.read(UpstreamSuggestions, "assistant", "/suggestions", {"status": "open"})
    if found is None:
        return None
    critical = sum(one.severity == "critical" for one in found.suggestions)
    return SuggestionCounts(open=len(found.suggestions), critical=critical)


def _shown(access: PropertyAccess, known: UpstreamProperty | None) -> PropertyView:
    return PropertyView(id=access.property_id) if known is None else PropertyView.of(known)


def _today(now: datetime, known: UpstreamProperty | None) -> date:
    try:
        zone: Any = UTC if known is None else ZoneInfo(known.timezone)
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    return now.astimezone(zone).date()
