"""Writes what a look has decided: the new state, its audit row and its event in one transaction, or nothing."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from tidings.contracts.channels import CHANNEL_DEGRADED, CHANNEL_RESTORED, ChannelDegraded, ChannelRestored
from tidings.contracts.events import ROUTER_SOURCE
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.events import Event, new_event
from tidings.kernel.mapping import by_name
from tidings.kernel.outbox import Outbox
from tidings.router.adapters.registry import kind_of
from tidings.router.traffic import store
from tidings.router.traffic.circuit import Circuit, Counts
from tidings.router.traffic.evaluation import CircuitChange, WeightsChange
from tidings.router.traffic.traffic_state import AccountCircuit

SYSTEM = "system"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrafficChanger:
    """The one way in which circuits and weights change."""

    db: Database
    _: KW_ONLY
    #: Of the schema `chan`.
    audit: AuditLog
    outbox: Outbox
    clock: Clock

    async def change_circuit(self, change: CircuitChange) -> bool:
        """In the transaction of the account's owner; False where another process was quicker."""
        tenant_id = change.before.tenant_id
        if tenant_id is None:
            async with self.db.platform() as platform:
                return await self.circuit_within(platform, change, actor=SYSTEM)
        async with self.db.tenant(tenant_id) as tx:
            return await self.circuit_within(tx, change, actor=SYSTEM)

    async def circuit_within(
        self, tx: TenantTx | PlatformTx, change: CircuitChange, *, actor: str, reason: str | None = None
    ) -> bool:
        """The same within a transaction that is under way; `reason` is a person's."""
        before, after = change.before, change.after
        written = await store.change_circuit(
            tx, before.account_id, after, known_version=before.circuit.version, now=self.clock.now()
        )
        if not written:
            return False
        await self.outbox.append(tx, self._events(before, after, change.counts))
        entry = Entry(
            entity_type="circuit_breaker",
            entity_id=before.account_id,
            action=_action(before.circuit, after),
            actor=actor,
            before=_told(before.circuit, before.vendor),
            after=_told(after, before.vendor),
            reason=reason or after.reason,
        )
        await self.audit.append(tx, [entry])
        return True

    async def change_weights(self, change: WeightsChange) -> bool:
        """In the transaction of the weights' owner; False where another process was quicker."""
        tenant_id = change.before.tenant_id
        if tenant_id is None:
            async with self.db.platform() as platform:
                return await self._weights_within(platform, change)
        async with self.db.tenant(tenant_id) as tx:
            return await self._weights_within(tx, change)

    async def _weights_within(self, tx: TenantTx | PlatformTx, change: WeightsChange) -> bool:
        before = change.before
        written = await store.change_weights(
            tx, change.after, known_version=before.version, now=self.clock.now()
        )
        if not written:
            return False
        entries = [
            Entry(
                entity_type="vendor_weight",
                entity_id=before.id,
                action="moved",
                actor=SYSTEM,
                before={"channel": before.channel, "prefix": prefix, "points": before.points_of(prefix)},
                after={"channel": before.channel, "prefix": prefix, "points": move.shift.points},
                reason=f"{move.many} points from {move.frm} to {move.to}: {move.reason}",
            )
            for prefix, move in change.moves.items()
            if move.frm is not None
        ]
        await self.audit.append(tx, entries)
        return True

    def _events(self, before: AccountCircuit, after: Circuit, counts: Counts) -> Sequence[Event]:
        was_well, is_well = before.circuit.state == "CLOSED", after.state == "CLOSED"
        if was_well == is_well:
            return []
        kind = kind_of(before.vendor)
        channels = tuple(sorted(kind.channels)) if kind is not None else ()
        reason, held = after.reason or "", after.override is not None
        said: ChannelDegraded | ChannelRestored
        if is_well:
            said = by_name(ChannelRestored, before, channels=channels, reason=reason, held=held)
        else:
            said = by_name(
                ChannelDegraded,
                counts,
                account_id=before.account_id,
                vendor=before.vendor,
                channels=channels,
                reason=reason,
                held=held,
                until=after.until,
            )
        return [
            new_event(
                CHANNEL_RESTORED if is_well else CHANNEL_DEGRADED,
                said,
                tenant_id=before.tenant_id,
                ordering_key=f"account:{before.account_id}",
                source=ROUTER_SOURCE,
                clock=self.clock,
            )
        ]


def _action(before: Circuit, after: Circuit) -> str:
    if after.override is not None:
        return "held"
    if before.override is not None:
        return "released"
    return {"OPEN": "opened", "CLOSED": "closed", "HALF_OPEN": "probed"}[after.state]


def _told(circuit: Circuit, vendor: str) -> dict[str, object]:
    return {
        "vendor": vendor,
        "state": circuit.state,
        "until": circuit.until,
        "held": circuit.override is not None,
        "held_until": circuit.override.until if circuit.override else None,
        "reason": circuit.reason,
    }
