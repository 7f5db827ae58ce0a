"""What operators do with their own passkeys: add one, see them, remove one; each end of it is audited."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from tidings.backoffice.attestations.attest import seat_of
from tidings.backoffice.ids import PASSKEY, OperatorId, PasskeyId
from tidings.backoffice.operators import store as operator_store
from tidings.backoffice.operators.errors import UnknownOperatorError
from tidings.backoffice.operators.ledger import OperatorLedger
from tidings.backoffice.operators.model import OperatorRecord
from tidings.backoffice.operators.people import OperatorPeople
from tidings.backoffice.passkeys import store
from tidings.backoffice.passkeys.answers import BrowserAnswer, encoded, read_answer
from tidings.backoffice.passkeys.challenge import PasskeyChallenger
from tidings.backoffice.passkeys.model import MOST_PASSKEYS, Passkey, PasskeyKind
from tidings.backoffice.passkeys.options import RelyingParty
from tidings.backoffice.passkeys.verify import PasskeyVerifier
from tidings.backoffice.sessions.model import LASTS
from tidings.backoffice.sign_in.errors import PasskeyNotFoundError, PasskeyRefusedError, TooManyPasskeysError
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.http.callers import Caller

#: How long after a sign-in somebody without any second factor adds their first passkey without a proof of one.
FIRST_WITHIN: Final = timedelta(minutes=15)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class OwnPasskeys:
    """The caller's own; an attestation is the caller's of these methods to ask for, where `needs_proof` says so."""

    db: Database
    people: OperatorPeople
    ledger: OperatorLedger
    challenger: PasskeyChallenger
    verifier: PasskeyVerifier
    party: RelyingParty
    clock: Clock

    async def read(self, caller: Caller) -> Sequence[Passkey]:
        """The newest first."""
        async with self.db.scoped(caller.home) as tx:
            return await store.list_passkeys(tx, seat_of(caller).operator_id)

    async def needs_proof(self, caller: Caller) -> bool:
        """Whether one is added with a second factor of now alone; not the first one of somebody who has just come by a link."""
        async with self.db.scoped(caller.home) as tx:
            operator = await operator_store.find_operator(tx, operator_id=seat_of(caller).operator_id)
        if operator is None or operator.has_second_factor or caller.until is None:
            return True
        return self.clock.now() > caller.until - LASTS + FIRST_WITHIN

    async def ask(self, caller: Caller) -> dict[str, Any]:
        """What a browser makes a passkey by."""
        operator_id = seat_of(caller).operator_id
        async with self.db.scoped(caller.home) as tx:
            operator = await operator_store.find_operator(tx, operator_id=operator_id)
            people = {} if operator is None else await self.people.open(tx, [operator])
        person = people.get(operator_id)
        if person is None:
            raise UnknownOperatorError
        return await self.challenger.to_register(
            caller.home, operator_id, name=person.name, mail=person.email
        )

    async def add(self, caller: Caller, credential: str) -> Passkey:
        """Keep what the browser made; a `PasskeyRefusedError` where we did not ask for it."""
        operator_id = seat_of(caller).operator_id
        answer = read_answer(credential)
        if answer is None:
            raise PasskeyRefusedError
        now = self.clock.now()
        async with self.db.scoped(caller.home) as tx:
            taken = await store.take_challenge(
                tx, answer.challenge_hash, "register", operator_id=operator_id, now=now
            )
        made = self._made(caller, operator_id, answer) if taken else None
        if made is None:
            raise PasskeyRefusedError
        proven = replace(made, proof_hash=await self.verifier.proof(made))
        async with self.db.scoped(caller.home) as tx:
            operator = await self._lock(tx, operator_id)
            if operator.passkeys >= MOST_PASSKEYS:
                raise TooManyPasskeysError
            if not await store.insert_passkey(tx, proven):
                raise PasskeyRefusedError
            after = replace(operator, passkeys=operator.passkeys + 1)
            await self.ledger.save(
                tx, operator, after, action="passkey.added", actor=caller.actor, passkey_id=proven.id
            )
        return proven

    async def remove(self, caller: Caller, passkey_id: PasskeyId) -> None:
        """It proves nothing any more."""
        operator_id = seat_of(caller).operator_id
        async with self.db.scoped(caller.home) as tx:
            operator = await self._lock(tx, operator_id)
            if not await store.delete_passkey(tx, operator_id, passkey_id):
                raise PasskeyNotFoundError
            after = replace(operator, passkeys=operator.passkeys - 1)
            await self.ledger.save(
                tx, operator, after, action="passkey.removed", actor=caller.actor, passkey_id=passkey_id
            )

    def _made(self, caller: Caller, operator_id: OperatorId, answer: BrowserAnswer) -> Passkey | None:
        from webauthn import verify_registration_response
        from webauthn.helpers.exceptions import WebAuthnException
        from webauthn.helpers.structs import CredentialDeviceType

        try:
            checked = verify_registration_response(
                credential=answer.credential,
                expected_challenge=answer.challenge,
                expected_rp_id=self.party.id,
                expected_origin=self.party.origin,
            )
        except (WebAuthnException, ValueError, TypeError, KeyError):
            return None
        now = self.clock.now()
        return Passkey(
            id=PASSKEY.new(now),
            tenant_id=caller.home,
            operator_id=operator_id,
            credential_id=encoded(checked.credential_id),
            public_key=checked.credential_public_key,
            sign_count=checked.sign_count,
            kind=_kind(answer),
            is_synced=checked.credential_device_type is CredentialDeviceType.MULTI_DEVICE,
            created_at=now,
        )

    async def _lock(self, tx: TenantTx | PlatformTx, operator_id: OperatorId) -> OperatorRecord:
        operator = await self.ledger.lock(tx, operator_id)
        if operator is None:
            raise UnknownOperatorError
        return operator


def _kind(answer: BrowserAnswer) -> PasskeyKind:
    attached = answer.credential.get("authenticatorAttachment")
    return "this_device" if attached == "platform" else "security_key"
