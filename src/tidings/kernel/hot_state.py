"""The port to state that is read and written all the time and kept for a short while.

Six small ports, each with its own promise. Where a tenant is given, a key is that tenant's own; None is for
keys of the platform, such as a vendor account's limit, and no tenant reaches those. Times come from the
clock that the implementation was given. None of it takes part in the caller's transaction: what was taken
stays taken when the caller rolls back, which errs on the safe side.

`kernel.local_hot_state` is the embedded implementation, `kernel.redis_hot_state` the one in Redis, and
`kernel.hot_state_takeover` goes from one to the other; each passes `tests/conformance/test_hot_state.py`.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from tidings.kernel.ids import TenantId
from tidings.kernel.limit_windows import Limit

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Take:
    """A wish to take some of a limit."""

    #: What is limited: `channel:email`, `recipient:rcp_…:email`.
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
    #: When all of them will have room if nobody else takes any; None when granted, and when they never will.
    retry_at: datetime | None = None


class Limits(Protocol):
    """Counts exactly, across processes."""

    async def take(self, tenant_id: TenantId | None, groups: Sequence[Sequence[Take]]) -> list[Taken]:
        """Decide group by group in the order given, as one step that others see whole.

        Within a group it is all or nothing: one key without room, and the others keep theirs. Groups do not
        depend on each other, except that a later one finds what an earlier one has left.
        """
        ...


class Presence(Protocol):
    """Knows who is here. After a crash of the store it may know nobody, until they say so again."""

    async def touch(
        self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]], ttl: timedelta
    ) -> None:
        """Each (key, member) is here for that long from now; to be repeated before it runs out."""
        ...

    async def leave(self, tenant_id: TenantId | None, members: Iterable[tuple[str, str]]) -> None:
        """Each (key, member) is gone."""
        ...

    async def present(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, set[str]]:
        """Who is here, for every key asked."""
        ...


class Dedupe(Protocol):
    """Lets every key through once, across processes and crashes."""

    async def first_time(self, tenant_id: TenantId | None, keys: Iterable[str], ttl: timedelta) -> set[str]:
        """Those never seen, or not within the time that was said then; each is now seen for `ttl`."""
        ...


class Cache(Protocol):
    """Remembers bytes for a while, and may forget them at any time. It need not be shared."""

    async def get(self, tenant_id: TenantId | None, keys: Iterable[str]) -> dict[str, bytes]:
        """Those that are known."""
        ...

    async def set(self, tenant_id: TenantId | None, values: Mapping[str, bytes], ttl: timedelta) -> None:
        """Remember them for at most that long."""
        ...

    async def delete(self, tenant_id: TenantId | None, keys: Iterable[str]) -> None:
        """Forget them."""
        ...


class SingleFlight(Protocol):
    """Has a thing made once when many ask for it at the same time, within a process."""

    async def do(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives; whoever asks while it runs gets the same result, or the same error."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to do something alone, until it runs out."""

    tenant_id: TenantId | None
    key: str
    holder: str
    #: Rises with every new holder, so that whoever is written to can refuse a late one.
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
        """The same lease for longer; None if it ran out, even when nobody took it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give it back; nothing happens where it is another's by now."""
        ...


class HotState(Protocol):
    """All of it."""

    @property
    def limits(self) -> Limits: ...
    @property
    def presence(self) -> Presence: ...
    @property
    def dedupe(self) -> Dedupe: ...
    @property
    def cache(self) -> Cache: ...
    @property
    def single_flight(self) -> SingleFlight: ...
    @property
    def leases(self) -> Leases: ...

    async def sweep(self, *, limit: int = 5000) -> dict[str, int]:
        """Remove about so many expired things of each sort; how many went, by sort."""
        ...
