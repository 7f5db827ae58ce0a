"""Refuses requests about a tenant that is frozen, suspended or on its way out.

The status comes from the projection of tenant events through a short memory: a change counts everywhere
within a second, and a busy tenant costs one look-up in that time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol

from tidings.kernel.announced_changes import AnnouncedChanges, announced_sets
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import (
    NotAllowedError,
    RefusalError,
    TenantDeletingError,
    TenantFrozenError,
    TenantSuspendedError,
)
from tidings.kernel.set_cache import SetCache

#: Below a second, so that a change counts within one even when the look-up takes a while.
REMEMBERED_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantState:
    """What the gate needs to know of a tenant."""

    status: Literal["active", "suspended", "deleting"]
    #: Independent of the status: a frozen tenant drains and takes no new writes.
    frozen: bool


def refusal_of(state: TenantState, *, writes: bool) -> RefusalError | None:
    """What is in the way of a tenant that stands so; None where it may pass."""
    if state.status == "deleting":
        return TenantDeletingError()
    if state.status == "suspended":
        return TenantSuspendedError()
    return TenantFrozenError() if state.frozen and writes else None


class TenantStates(Protocol):
    """Where the states of tenants are looked up."""

    async def states_of(self, tenant_ids: Sequence[TenantId]) -> Mapping[TenantId, TenantState | None]:
        """The state of each; None for a tenant that is not known here."""
        ...


class TenantGate:
    """Knows which tenants may pass."""

    def __init__(
        self, states: TenantStates, *, clock: Clock, changes: AnnouncedChanges | None = None
    ) -> None:
        self._memory: SetCache[TenantId, TenantState | None] = announced_sets(
            states.states_of,
            changes,
            "notification.tenants_local",
            clock=clock,
            ttl=timedelta(seconds=REMEMBERED_SECONDS),
        )

    async def check(self, tenant_id: TenantId, *, writes: bool, named_by_header: bool = False) -> None:
        """Return where the tenant may pass; otherwise raise what is in its way."""
        state = await self._memory.of(tenant_id)
        if state is None:
            if named_by_header:
                raise BadValueError("X-Tenant-Id", "names a tenant that is not known here")
            raise NotAllowedError("the tenant of this key or token is not known here")
        if (refusal := refusal_of(state, writes=writes)) is not None:
            raise refusal

    async def warm_up(self, tenant_ids: Sequence[TenantId]) -> None:
        """Have the states of these in memory."""
        await self._memory.of_all(tenant_ids)

    def forget(self, tenant_id: TenantId) -> None:
        """This process just changed it: look it up anew."""
        self._memory.forget(tenant_id)
