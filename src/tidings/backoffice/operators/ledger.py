"""Saves an operator with the proof of their grant, and audits it, in the transaction of the change."""

from dataclasses import dataclass, replace
from typing import Any

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.errors import OperatorGrantBrokenError
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.passkeys import store as passkey_store
from tidings.kernel.audit.log import AuditLog, Entry
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.logs import get_logger

_log = get_logger("backoffice")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OperatorLedger:
    """Every change of an operator passes here."""

    pepper: OperatorPepper
    audit: AuditLog
    clock: Clock

    async def sealed(self, operator: OperatorRecord) -> OperatorRecord:
        """The same, with the proof of what they may."""
        return replace(operator, grant_hash=await self.pepper.hash("grant", *operator.grant()))

    async def holds(self, operator: OperatorRecord) -> bool:
        """Whether the application wrote what they may; a row of another program is logged."""
        if operator.grant_hash == await self.pepper.hash("grant", *operator.grant()):
            return True
        _log.error("operator_grant_broken", operator_id=operator.id, tenant_id=operator.tenant_id)
        return False

    async def lock(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> OperatorRecord | None:
        """The operator, locked until the end of the transaction; refused where another program wrote what they may, as `save` would sign it."""
        operator = await store.lock_operator(tx, operator_id=operator_id)
        if operator is not None and not await self.holds(operator):
            raise OperatorGrantBrokenError
        return operator

    async def save(
        self,
        tx: TenantTx | PlatformTx,
        before: OperatorRecord,
        after: OperatorRecord,
        *,
        action: str | None,
        actor: str,
        **more: Any,
    ) -> OperatorRecord:
        """Keep a change; `action` None: one that is no admin's, and is told elsewhere."""
        version = before.version + (action is not None)
        saved = await self.sealed(replace(after, version=version))
        await store.save_operator(tx, saved, now=self.clock.now())
        if before.passkeys and not saved.passkeys:
            await passkey_store.delete_passkeys(tx, saved.id)
        if action is not None:
            await self.note(tx, saved, action, actor=actor, before=before, **more)
        return saved

    async def note(
        self,
        tx: TenantTx | PlatformTx,
        operator: OperatorRecord,
        action: str,
        *,
        actor: str,
        before: OperatorRecord | None = None,
        **more: Any,
    ) -> None:
        """Audit what happened to an operator."""
        entry = Entry(
            entity_type="operator",
            entity_id=operator.id,
            action=action,
            actor=actor,
            before=_facts(before) if before else None,
            after={**_facts(operator), **more},
        )
        await self.audit.append(tx, [entry])


def _facts(operator: OperatorRecord) -> dict[str, Any]:
    return {
        "role": operator.role,
        "properties": list(operator.properties),
        "status": operator.status,
        "locked_until": operator.locked_until,
        "has_second_factor": operator.has_second_factor,
        "passkeys": operator.passkeys,
        "link_kind": operator.link_kind,
    }
