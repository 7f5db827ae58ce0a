"""What admins do to operators: invite, change, disable, enable, unlock, begin anew, erase. Each is audited."""

from dataclasses import dataclass, replace

from tidings.backoffice.ids import OPERATOR, OperatorId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.errors import (
    OperatorExistsError,
    OperatorStatusError,
    OwnOperatorError,
    UnknownOperatorError,
)
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.links import OperatorLinks
from tidings.backoffice.operators.model import MadeLink, OperatorRecord, Rights, check_reach, check_rights
from tidings.backoffice.operators.people import OperatorPeople, OperatorPerson
from tidings.kernel.clock import Clock
from tidings.kernel.db import PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller
from tidings.kernel.ids import time_of


@dataclass(frozen=True, slots=True, kw_only=True)
class By:
    """Who does it: an operator, or the installation itself, which may do all."""

    actor: str
    caller: Caller | None = None

    @classmethod
    def of(cls, caller: Caller) -> "By":
        """An operator."""
        return cls(actor=caller.actor, caller=caller)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OperatorChanger:
    """Changes operators, each in the caller's transaction."""

    people: OperatorPeople
    links: OperatorLinks
    ledger: OperatorLedger
    clock: Clock

    async def invite(
        self, tx: TenantTx | PlatformTx, person: OperatorPerson, rights: Rights, *, by: By
    ) -> tuple[OperatorRecord, MadeLink]:
        """A new operator, and the link by which they join."""
        check_rights(rights, tenant_id=tx.tenant_id, grantor=by.caller)
        email_hash = await self.people.hash_email(person.email)
        if await store.find_of_tenant_by_email(tx, email_hash) is not None:
            raise OperatorExistsError
        operator_id = OPERATOR.new(self.clock.now())
        boxes = await self.people.seal(tx, operator_id, name=person.name, email=person.email)
        made = OperatorRecord(
            id=operator_id,
            tenant_id=tx.tenant_id,
            role=rights.role,
            properties=rights.properties,
            name_ciphertext=boxes["name"],
            email_ciphertext=boxes["email"],
            email_hash=email_hash,
            created_by=by.actor,
            created_at=time_of(operator_id),
            updated_at=time_of(operator_id),
        )
        operator = await self.ledger.sealed(made)
        await store.insert_operator(tx, operator)
        return await self.links.make(tx, operator, operator, "join", action="invited", actor=by.actor)

    async def invite_again(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By
    ) -> tuple[OperatorRecord, MadeLink]:
        """A new link for somebody who has not joined; the one before works no more."""
        operator = await self.lock(tx, operator_id, by=by)
        operator.check_not_erased()
        if operator.status != "invited":
            raise OperatorStatusError(
                f"the operator is {operator.status}; who lost password or authenticator begins anew by reset-mfa"
            )
        return await self.links.make(tx, operator, operator, "join", action="invited", actor=by.actor)

    async def revoke_invitation(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By
    ) -> OperatorRecord:
        """Take the link back."""
        operator = await self.lock(tx, operator_id, by=by)
        if operator.link_hash is None:
            raise OperatorStatusError("the operator has no link that works")
        return await self._save(tx, operator, operator.with_link_revoked(), "invitation.revoked", by)

    async def change_rights(
        self, tx: TenantTx | PlatformTx, operator: OperatorRecord, rights: Rights, *, by: By
    ) -> OperatorRecord:
        """Give a locked operator other rights."""
        check_rights(rights, tenant_id=tx.tenant_id, grantor=by.caller)
        changed = replace(operator, role=rights.role, properties=rights.properties)
        return operator if changed == operator else await self._save(tx, operator, changed, "changed", by)

    async def disable(self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By) -> OperatorRecord:
        """Let them in no more; their sessions are the caller's to end."""
        operator = await self.lock(tx, operator_id, by=by)
        return await self._save(tx, operator, operator.disabled(), "disabled", by)

    async def enable(self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By) -> OperatorRecord:
        """Let them in again."""
        operator = await self.lock(tx, operator_id, by=by)
        return await self._save(tx, operator, operator.enabled(), "enabled", by)

    async def unlock(self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By) -> OperatorRecord:
        """End a lock before its time."""
        operator = await self.lock(tx, operator_id, by=by)
        return await self._save(tx, operator, operator.unlocked(), "unlocked", by)

    async def reset(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By
    ) -> tuple[OperatorRecord, MadeLink]:
        """Take password, authenticator and codes away, and give a link by which they begin anew."""
        operator = await self.lock(tx, operator_id, by=by)
        return await self.links.make(
            tx, operator, operator.reset(), "join", action="mfa.reset", actor=by.actor
        )

    async def find(self, tx: TenantTx | PlatformTx, email: str) -> OperatorRecord | None:
        """The operator of this tenant, or of the platform, with this mail."""
        return await store.find_of_tenant_by_email(tx, await self.people.hash_email(email))

    async def open_link(
        self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By, activate: bool = False
    ) -> tuple[OperatorRecord, MadeLink]:
        """A link that opens the console without a password, for who holds the installation's own keys; refused for operators who have a password.

        `activate`: also for somebody who has not joined; they can look around, and change no operator without an authenticator.
        """
        before = await self.lock(tx, operator_id, by=by)
        if before.password_hash is not None or before.has_second_factor:
            raise OperatorStatusError(
                "the operator has a password or an authenticator, and signs in with them"
            )
        operator = before.after_lock(self.clock.now())
        if activate and operator.status == "invited":
            operator = replace(operator, status="active")
        if operator.status != "active":
            raise OperatorStatusError(f"the operator is {operator.status}, and not active")
        return await self.links.make(tx, before, operator, "open", action="link.made", actor=by.actor)

    async def erase(self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By) -> OperatorRecord:
        """Remove name, mail, password and authenticator for good; the id stays for the ledgers."""
        operator = await store.lock_operator(tx, operator_id=operator_id)
        if operator is None:
            raise UnknownOperatorError
        # Also one whose rights another program wrote: nothing brings an erased operator back.
        self._check_reach(operator, by)
        erased = await self._save(tx, operator, operator.erased(self.clock.now()), "erased", by)
        await self.people.destroy(tx, operator_id)
        return erased

    async def lock(self, tx: TenantTx | PlatformTx, operator_id: OperatorId, *, by: By) -> OperatorRecord:
        """The operator, locked until the end of the transaction, where this one may change them."""
        operator = await self.ledger.lock(tx, operator_id)
        if operator is None:
            raise UnknownOperatorError
        self._check_reach(operator, by)
        return operator

    @staticmethod
    def _check_reach(operator: OperatorRecord, by: By) -> None:
        if by.caller is not None and by.caller.id == operator.id:
            raise OwnOperatorError
        check_reach(operator, by.caller)

    async def _save(
        self, tx: TenantTx | PlatformTx, before: OperatorRecord, after: OperatorRecord, action: str, by: By
    ) -> OperatorRecord:
        return await self.ledger.save(tx, before, after, action=action, actor=by.actor)
