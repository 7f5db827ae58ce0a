"""Checks a code of an authenticator, a recovery code or a passkey's answer; each is taken once, and failures lock the operator."""

from dataclasses import dataclass, replace
from typing import Final, Literal

from tidings.backoffice.credentials import recovery_codes, totp
from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.operators.errors import OperatorGrantBrokenError
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import FailedProof, OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.passkeys.answers import MOST_CHARACTERS, is_answer, read_answer
from tidings.backoffice.passkeys.verify import PasskeyVerifier
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.ids import TenantId

#: `missing`: they have no authenticator and no passkey.
Proof = Literal["right", "wrong", "locked", "missing"]
#: `session`: somebody who is signed in; `own_browser`: one that they signed in from before. Only wrong codes lock those out.
Prover = Literal["stranger", "own_browser", "session"]
_CODE: Final = totp.DIGITS
#: What stands in the place of a code is no longer than a passkey's answer.
MOST_OF_A_CODE: Final = MOST_CHARACTERS


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ProofChecker:
    """Each check is a transaction of its own: what was used or failed stays so, whatever comes of the rest."""

    db: Database
    people: OperatorPeople
    pepper: OperatorPepper
    passkeys: PasskeyVerifier
    ledger: OperatorLedger
    clock: Clock

    async def check(
        self, tenant_id: TenantId | None, operator_id: OperatorId, code: str, *, by: Prover
    ) -> Proof:
        """Whether this proves the second factor."""
        shown = await self._shows_passkey(tenant_id, operator_id, code, by)
        typed = "".join(code.split())
        spare = recovery_codes.as_typed(code)
        spare_hash = None if spare is None else await self.hash_spare(operator_id, spare)
        async with self.db.scoped(tenant_id) as tx:
            operator = await self._lock(tx, operator_id)
            if operator is None or not operator.may_sign_in():
                return "wrong"
            now = self.clock.now()
            if operator.is_locked(now) if by == "stranger" else operator.is_locked_by_codes(now):
                return "locked"
            passed = operator.passed_code(now) if by == "session" else operator.passed()
            if not operator.has_second_factor:
                return "missing"
            if shown:
                await self.ledger.save(tx, operator, passed, action=None, actor=operator_id)
                return "right"
            step = await self._step(tx, operator, typed)
            if step is not None:
                after = replace(passed, totp_step=step)
                await self.ledger.save(tx, operator, after, action=None, actor=operator_id)
                return "right"
            if spare_hash is not None and spare_hash in operator.recovery_hashes:
                left = tuple(one for one in operator.recovery_hashes if one != spare_hash)
                after = replace(passed, recovery_hashes=left)
                await self.ledger.save(
                    tx, operator, after, action="recovery_code.used", actor=operator_id, codes_left=len(left)
                )
                return "right"
            return await self.fail(tx, operator, "code")

    async def fail(self, tx: TenantTx | PlatformTx, operator: OperatorRecord, what: FailedProof) -> Proof:
        """Count and audit a failure of a locked operator; too many lock them."""
        after = operator.failed(self.clock.now(), what)
        locks = after.status == "locked" and after.locked_until != operator.locked_until
        await self.ledger.save(
            tx,
            operator,
            after,
            action="locked" if locks else f"{what}.refused",
            actor=operator.id,
            failures=after.failures,
            code_failures=after.code_failures,
        )
        return "locked" if locks else "wrong"

    async def hash_spare(self, operator_id: OperatorId, spare: str) -> str:
        """What is kept of a recovery code."""
        return await self.pepper.hash("recovery", operator_id, spare)

    async def _shows_passkey(
        self, tenant_id: TenantId | None, operator_id: OperatorId, code: str, by: Prover
    ) -> bool:
        answer = read_answer(code) if is_answer(code) else None
        return answer is not None and await self.passkeys.proves(
            tenant_id, operator_id, answer, signed_in=by == "session"
        )

    async def _lock(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> OperatorRecord | None:
        try:
            return await self.ledger.lock(tx, operator_id)
        except OperatorGrantBrokenError:
            return None

    async def _step(self, tx: TenantTx | PlatformTx, operator: OperatorRecord, typed: str) -> int | None:
        if len(typed) != _CODE or not (typed.isascii() and typed.isdigit()):
            return None
        secret = await self.people.totp_secret(tx, operator)
        if secret is None:
            return None
        return totp.matching_step(secret, typed, now=self.clock.now(), after=operator.totp_step)
