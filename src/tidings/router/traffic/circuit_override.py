"""The use case "a person knows better": holds a circuit open or closed, and lets it go again."""

from collections.abc import Callable

from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.errors import BadValueError
from tidings.router.accounts.errors import PlatformAccountError, UnknownAccountError
from tidings.router.traffic import store
from tidings.router.traffic.change import TrafficChanger
from tidings.router.traffic.circuit import NONE, Circuit, Override, hold, lift
from tidings.router.traffic.errors import ContestedError
from tidings.router.traffic.evaluation import CircuitChange
from tidings.router.traffic.traffic_state import AccountCircuit

_TRIES = 5


class CircuitHolder:
    """Overrides what is counted."""

    def __init__(self, changer: TrafficChanger, *, clock: Clock) -> None:
        self._changer = changer
        self._clock = clock

    async def hold(
        self, tx: TenantTx | PlatformTx, account_id: str, override: Override, *, actor: str
    ) -> AccountCircuit:
        """Until `override.until`, or until a person lets it go."""
        now = self._clock.now()
        if override.until is not None and override.until <= now:
            raise BadValueError("until", "must be in the future; leave it out to hold it until it is let go")
        return await self._change(
            tx, account_id, lambda known: hold(known, override, now=now), actor=actor, reason=override.reason
        )

    async def let_go(
        self, tx: TenantTx | PlatformTx, account_id: str, *, actor: str, reason: str | None = None
    ) -> AccountCircuit:
        """It follows the counts again; nothing happens where it was not held."""
        now = self._clock.now()
        return await self._change(
            tx,
            account_id,
            lambda known: lift(known, now=now) if known.override is not None else None,
            actor=actor,
            reason=reason,
        )

    async def _change(
        self,
        tx: TenantTx | PlatformTx,
        account_id: str,
        change: Callable[[Circuit], Circuit | None],
        *,
        actor: str,
        reason: str | None = None,
    ) -> AccountCircuit:
        for _ in range(_TRIES):
            found = await store.find_circuits(tx, account_id=account_id)
            if not found:
                raise UnknownAccountError(f"there is no vendor account with the id {account_id}")
            before = found[0]
            if isinstance(tx, TenantTx) and before.tenant_id is None:
                raise PlatformAccountError
            after = change(before.circuit)
            if after is None:
                return before
            wanted = CircuitChange(before=before, after=after, counts=NONE)
            if await self._changer.circuit_within(tx, wanted, actor=actor, reason=reason):
                return AccountCircuit(
                    account_id=account_id, tenant_id=before.tenant_id, vendor=before.vendor, circuit=after
                )
        raise ContestedError
