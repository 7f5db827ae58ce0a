"""Asks several services at the same time, and notes which did not answer."""

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from tidings.backoffice.properties.access import PropertyAccess
from tidings.backoffice.upstreams.client import Upstreams, at
from tidings.backoffice.upstreams.errors import UpstreamAwayError
from tidings.backoffice.upstreams.names import UpstreamName
from tidings.backoffice.views.model import MissingUpstream

T = TypeVar("T")


DayQuery: TypeAlias = dict[str, str] | None


@dataclass(slots=True, kw_only=True, eq=False)
class Gathering:
    """The answers for one view of one property."""

    upstreams: Upstreams
    access: PropertyAccess
    #: The day that is asked for; None: today, where the property is.
    day: DayQuery = None
    #: Whether the state that rooms have now belongs to it.
    is_of_now: bool = True
    #: By service: one is named once, however much of it is missing.
    missing: dict[UpstreamName, MissingUpstream] = field(default_factory=dict)

    async def read(
        self, kind: type[T], name: UpstreamName, path: str, query: Mapping[str, str] | None = None
    ) -> T | None:
        """What a service says of the property at a path below it; None where that is missing, or the service was found away."""
        if name in self.missing:
            return None
        place = at("/v1/properties/{}", self.access.property_id) + path
        try:
            found = await self.upstreams.read(kind, name, place, tenant_id=self.access.tenant_id, query=query)
        except UpstreamAwayError as away:
            self.lacks(away)
            return None
        if found is None:
            self.missing[name] = MissingUpstream(upstream=name, reason="not_found", since=None)
        return found

    def lacks(self, away: UpstreamAwayError) -> None:
        """A service did not answer."""
        known = MissingUpstream(upstream=away.upstream, reason=away.reason, since=away.since)
        self.missing.setdefault(away.upstream, known)


async def nothing() -> None:
    """In the place of what is not asked for."""


async def together(**wanted: Awaitable[Any]) -> dict[str, Any]:
    """All of them at the same time, by their names."""
    return dict(zip(wanted, await asyncio.gather(*wanted.values()), strict=True))
