"""The ports to state that is read and written all the time and kept for a short while: rate limits and leases.

Where a tenant is given, a key is that tenant's own; None is for keys of the platform, such as the limit of an account
that tenants share, and no tenant reaches those. Times come from the
clock that the implementation was given. None of it takes part in the caller's transaction: what was taken
stays taken when the caller rolls back, which errs on the safe side.

`kernel.local_hot_state` is the embedded implementation, `kernel.redis_hot_state` counts limits in Redis, and
`kernel.hot_state_takeover` fails over from Redis to Postgres; each passes `tests/conformance/test_hot_state.py`.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeAlias

from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A wish to take some of a limit."""

    #: What is limited: `account:7`, `person:42:mail`.
    key: str
    limit: Limit
    amount: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of one group of wishes."""

    #: All of it was taken, or nothing.
    granted: bool
    #: The keys that had no room.
    refused_by: tuple[str, ...] = ()
    #: When all of them will have room if no other call takes any; None when granted, and when they never will.
    retry_at: datetime | None = None


#: A group of wishes, and whose.
TenantTakes: TypeAlias = tuple[TenantId, Sequence[Take]]


def by_tenant(wishes: Sequence[TenantTakes]) -> dict[TenantId, list[int]]:
    """The places of each tenant's groups, in their order."""
    places: dict[TenantId, list[int]] = {}
    for place, (tenant_id, _) in enumerate(wishes):
        places.setdefault(tenant_id, []).append(place)
    return places


class Limits(Protocol):
    """Counts exactly, across processes."""

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole.

        Within a group it is all or nothing: one key without room, and the others keep theirs. Groups do not
        depend on each other, except that a later one finds what an earlier one has left.
        """
        ...

    async def take_of(self, wishes: Sequence[TenantTakes]) -> list[Taken]:
        """The same for groups of several tenants, in as few trips as one tenant's; each tenant's are a step of their own."""
        ...


async def take_side_by_side(limits: Limits, wishes: Sequence[TenantTakes]) -> list[Taken]:
    """A call for each tenant, all at the same time: where a script touches one tenant's keys alone, and calls share a trip."""
    places = by_tenant(wishes)
    taken = await asyncio.gather(
        *(limits.take(tenant_id, [wishes[place][1] for place in its]) for tenant_id, its in places.items())
    )
    answers = {
        place: one
        for its, some in zip(places.values(), taken, strict=True)
        for place, one in zip(its, some, strict=True)
    }
    return [answers[place] for place in range(len(wishes))]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to do something alone, until it runs out."""

    tenant_id: TenantId | None
    key: str
    holder: str
    #: Rises with every new holder, so that the store that is written to can refuse a late one.
    fence: int
    expires_at: datetime


class Leases(Protocol):
    """Gives each key to one holder at a time, across processes and crashes."""

    async def acquire(
        self, tenant_id: TenantId | None, key: str, holder: str, ttl: timedelta
    ) -> Lease | None:
        """The lease; None while another holds it. A holder who asks again gets it anew, with a new fence."""
        ...

    async def renew(self, lease: Lease, ttl: timedelta) -> Lease | None:
        """The same lease for longer; None if it ran out, even when no other holder took it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give it back; nothing happens where it is another's by now."""
        ...


class HotState(Protocol):
    """All of it."""

    @property
    def limits(self) -> Limits: ...
    @property
    def leases(self) -> Leases: ...

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired things of each sort; how many went, by sort."""
        ...
