"""Makes attestations from codes, and uses them up."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, NamedTuple

from tidings.backoffice.attestations import store
from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.attestations.errors import CodeRefusedError, NoSecondFactorError, OperatorLockedError
from tidings.backoffice.ids import ATTESTATION, OperatorId
from tidings.backoffice.operators.errors import OperatorsOnlyError
from tidings.backoffice.operators.prove import ProofChecker
from tidings.backoffice.sessions.errors import AttestationRequiredError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.errors import BadValueError
from tidings.kernel.http.callers import Caller

LASTS: Final = timedelta(minutes=5)
HEADER: Final = "X-Attestation"


class Seat(NamedTuple):
    """Where an operator sits: who, in which session, on which device."""

    operator_id: OperatorId
    session_id: str
    device_id: str


def seat_of(caller: Caller) -> Seat:
    """Refuse callers who have no session: keys and tokens."""
    if caller.session_id is None or caller.device_id is None:
        raise OperatorsOnlyError
    return Seat(OperatorId(caller.id), caller.session_id, caller.device_id)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Attestor:
    """In the operator's own place, whichever tenant they act for; each step is a transaction of its own, and stays done."""

    db: Database
    proofs: ProofChecker
    clock: Clock

    async def attest(self, caller: Caller, action: AttestedAction, code: str) -> store.Attestation:
        """An attestation for one action; the code is used up by it."""
        seat = seat_of(caller)
        proof = await self.proofs.check(caller.home, seat.operator_id, code, by="session")
        if proof == "locked":
            raise OperatorLockedError
        if proof == "missing":
            raise NoSecondFactorError
        if proof == "wrong":
            raise CodeRefusedError
        now = self.clock.now()
        made = store.Attestation(
            id=ATTESTATION.new(now),
            tenant_id=caller.home,
            operator_id=seat.operator_id,
            session_id=seat.session_id,
            device_id=seat.device_id,
            action=action,
            issued_at=now,
            expires_at=now + LASTS,
        )
        async with self.db.scoped(caller.home) as tx:
            await store.insert_attestation(tx, made)
        return made

    async def take(self, caller: Caller, action: str, given: str | None) -> None:
        """Use up the attestation that a request brings; an `AttestationRequiredError` where it is none for this action."""
        seat = seat_of(caller)
        try:
            attestation_id = ATTESTATION.parse(given or "", field=HEADER)
        except BadValueError:
            raise AttestationRequiredError(action) from None
        async with self.db.scoped(caller.home) as tx:
            taken = await store.take_attestation(
                tx,
                attestation_id=attestation_id,
                operator_id=seat.operator_id,
                session_id=seat.session_id,
                device_id=seat.device_id,
                action=action,
                now=self.clock.now(),
            )
        if not taken:
            raise AttestationRequiredError(action)

    async def prove(self, caller: Caller, action: AttestedAction, code: str) -> None:
        """Both at once, for a page that asks for the code beside the action."""
        made = await self.attest(caller, action, code)
        await self.take(caller, action, made.id)
