"""An operator chooses of which alerts they are told, and where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from tidings.backoffice.alert_notices import store
from tidings.backoffice.alert_notices.model import AlertSubscription
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.people import OperatorPeople
from tidings.contracts.backoffice import AlertSeverity
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx

#: What the box of a number is for.
PHONE: Final = "alert_phone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """Of what an operator is told, and where."""

    #: This severity and graver ones; None: nothing.
    severity: AlertSeverity | None
    phone: str | None = field(repr=False)
    language: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AlertSubscriber:
    """In the operator's own place, whichever tenant they act for."""

    people: OperatorPeople
    audit: AuditLog
    clock: Clock

    async def find(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> Telling:
        """What they have chosen."""
        known = await store.find_subscription(tx, operator_id)
        if known is None:
            return Telling(severity=None, phone=None, language=None)
        return Telling(severity=known.severity, phone=await self.phone(tx, known), language=known.language)

    async def choose(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, telling: Telling, *, actor: str
    ) -> None:
        """Keep what they choose; without a severity, nothing of it."""
        if telling.severity is None:
            await store.remove_subscription(tx, operator_id)
        else:
            boxes: Mapping[str, bytes] = {}
            if telling.phone is not None:
                boxes = await self.people.seal(tx, operator_id, **{PHONE: telling.phone})
            chosen = AlertSubscription(
                operator_id=operator_id,
                tenant_id=tx.tenant_id,
                severity=telling.severity,
                language=telling.language or "en",
                phone_ciphertext=boxes.get(PHONE),
            )
            await store.put_subscription(tx, chosen, now=self.clock.now())
        entry = Entry(
            entity_type="alert_subscription",
            entity_id=operator_id,
            action="changed",
            actor=actor,
            after={"severity": telling.severity, "has_phone": telling.phone is not None},
        )
        await self.audit.append(tx, [entry])

    async def phone(self, tx: TenantTx | PlatformTx, subscription: AlertSubscription) -> str | None:
        """Their number; None without one, and once they were erased."""
        if subscription.phone_ciphertext is None:
            return None
        operator = await operator_store.find_operator(tx, operator_id=subscription.operator_id)
        if operator is None:
            return None
        return await self.people.opened(tx, operator, PHONE, subscription.phone_ciphertext)
