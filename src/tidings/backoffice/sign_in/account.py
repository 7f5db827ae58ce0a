"""What operators change about their own sign-in: the password, the recovery codes; each needs a proof of now."""

from dataclasses import dataclass, replace

from tidings.backoffice.credentials import recovery_codes
from tidings.backoffice.credentials.passwords import Passwords, fault_of
from tidings.backoffice.ids import OperatorId, SessionId
from tidings.backoffice.operators import store
from tidings.backoffice.operators.errors import UnknownOperatorError
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.operators.prove import ProofChecker
from tidings.backoffice.sessions.end import SessionEnder
from tidings.backoffice.sign_in.errors import SignInRefusedError
from tidings.backoffice.sign_in.join import WeakPasswordError
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OwnSignInChanger:
    """Changes the caller's own sign-in."""

    db: Database
    people: OperatorPeople
    passwords: Passwords
    proofs: ProofChecker
    ledger: OperatorLedger
    ender: SessionEnder

    async def new_codes(self, caller: Caller, code: str) -> tuple[str, ...]:
        """Ten recovery codes in the place of those that are left."""
        await self._prove(caller, code)
        codes = recovery_codes.new_codes()
        async with self.db.scoped(caller.home) as tx:
            operator = await self._lock(tx, caller)
            hashes = [await self.proofs.hash_spare(operator.id, one) for one in codes]
            after = replace(operator, recovery_hashes=tuple(hashes))
            await self.ledger.save(tx, operator, after, action="recovery_codes.made", actor=caller.actor)
        return codes

    async def change_password(self, caller: Caller, *, old: str, new: str, code: str) -> None:
        """Another password; all other sessions of theirs end."""
        async with self.db.scoped(caller.home) as tx:
            operator = await store.find_operator(tx, operator_id=OperatorId(caller.id))
            people = {} if operator is None else await self.people.open(tx, [operator])
        if operator is None:
            raise UnknownOperatorError
        person = people.get(operator.id)
        fault = fault_of(new, (person.name, person.email) if person else ())
        if fault is not None:
            raise WeakPasswordError(fault)
        await self._prove(caller, code)
        if not await self.passwords.fits(operator.password_hash, old):
            async with self.db.scoped(caller.home) as tx:
                await self.proofs.fail(tx, await self._lock(tx, caller), "password")
            raise SignInRefusedError("wrong")
        hashed = await self.passwords.hash(new)
        async with self.db.scoped(caller.home) as tx:
            present = await self._lock(tx, caller)
            after = replace(present, password_hash=hashed)
            await self.ledger.save(tx, present, after, action="password.changed", actor=caller.actor)
            await self.ender.end(
                tx,
                reason="revoked",
                actor=caller.actor,
                operator_id=present.id,
                except_id=SessionId(caller.session_id or ""),
            )

    async def _prove(self, caller: Caller, code: str) -> None:
        proof = await self.proofs.check(caller.home, OperatorId(caller.id), code, by="session")
        if proof == "locked":
            raise SignInRefusedError("locked")
        if proof != "right":
            raise SignInRefusedError("no_factor" if proof == "missing" else "code")

    async def _lock(self, tx: TenantTx | PlatformTx, caller: Caller) -> OperatorRecord:
        operator = await self.ledger.lock(tx, OperatorId(caller.id))
        if operator is None:
            raise UnknownOperatorError
        return operator
