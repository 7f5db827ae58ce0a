"""Refuses requests about a tenant that is frozen, suspended or on its way out.

The status comes from the projection of tenant events through a short memory: a change counts everywhere
within a second, and a busy tenant costs one look-up in that time.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol

from tidings.kernel.announced_changes import AnnouncedChanges, announced_cache
from tidings.kernel.clock import Clock
from tidings.kernel.errors import BadValueError
from tidings.kernel.ids import TenantId
from tidings.kernel.refusals import (
    NotAllowedError,
    TenantDeletingError,
    TenantFrozenError,
    TenantSuspendedError,
)
from tidings.kernel.ttl_cache import TtlCache

#: Below a second, so that a change counts within one even when the look-up takes a while.
REMEMBERED_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantState:
    """What the gate needs to know of a tenant."""

    status: Literal["active", "suspended", "deleting"]
    #: Independent of the status: a frozen tenant drains and takes no new writes.
    frozen: bool


class TenantStates(Protocol):
    """Where the state of a tenant is looked up."""

    async def state_of(self, tenant_id: TenantId) -> TenantState | None:
        """Its state; None for a tenant that is not known here."""
        ...


class TenantGate:
    """Knows which tenants may pass."""

    def __init__(
        self, states: TenantStates, *, clock: Clock, changes: AnnouncedChanges | None = None
    ) -> None:
        self._states = states
        self._memory: TtlCache[TenantId, TenantState | None] = announced_cache(
            changes, "notification.tenants_local", clock=clock, ttl=timedelta(seconds=REMEMBERED_SECONDS)
        )

    async def check(self, tenant_id: TenantId, *, writes: bool, named_by_header: bool = False) -> None:
        """Return where the tenant may pass; otherwise raise what is in its way."""
        state = await self._memory.get_or_fetch(tenant_id, self._states.state_of)
        if state is None:
            if named_by_header:
                raise BadValueError("X-Tenant-Id", "names a tenant that is not known here")
            raise NotAllowedError("the tenant of this key or token is not known here")
        if state.status == "deleting":
            raise TenantDeletingError
        if state.status == "suspended":
            raise TenantSuspendedError
        if state.frozen and writes:
            raise TenantFrozenError

    def forget(self, tenant_id: TenantId) -> None:
        """This process just changed it: look it up anew."""
        self._memory.forget(tenant_id)
