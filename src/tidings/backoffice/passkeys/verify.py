"""Verifies what passkeys signed: the library checks the signature, the store that we asked for it and whose key it is."""

import hmac
from dataclasses import dataclass
from typing import Any

from tidings.backoffice.credentials.pepper import OperatorPepper
from tidings.backoffice.ids import OperatorId
from tidings.backoffice.passkeys import store
from tidings.backoffice.passkeys.answers import BrowserAnswer
from tidings.backoffice.passkeys.model import ChallengePurpose, Passkey
from tidings.backoffice.passkeys.options import RelyingParty
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database
from tidings.kernel.ids import TenantId
from tidings.kernel.logs import get_logger

_log = get_logger("backoffice")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PasskeyVerifier:
    """Each check is a transaction of its own: a challenge that was answered stays used."""

    db: Database
    pepper: OperatorPepper
    party: RelyingParty
    clock: Clock

    async def proves(
        self, tenant_id: TenantId | None, operator_id: OperatorId, answer: BrowserAnswer, *, signed_in: bool
    ) -> bool:
        """Whether it shows a passkey of this operator; `signed_in`: in the place of a code of theirs."""
        async with self.db.scoped(tenant_id) as tx:
            passkey = await store.find_passkey(tx, answer.credential_id)
        if passkey is None or passkey.operator_id != operator_id or not await self.holds(passkey):
            return False
        return await self._signed(passkey, answer, verified=False, signed_in=signed_in)

    async def whose(self, answer: BrowserAnswer) -> Passkey | None:
        """The passkey by which somebody signs in, whom their authenticator knows; None where it proves nothing."""
        async with self.db.platform() as tx:
            passkey = await store.find_passkey(tx, answer.credential_id)
        if passkey is None or not await self.holds(passkey):
            return None
        return passkey if await self._signed(passkey, answer, verified=True, signed_in=False) else None

    async def holds(self, passkey: Passkey) -> bool:
        """Whether the application wrote whose key this is; a row of another program is logged."""
        if hmac.compare_digest(passkey.proof_hash, await self.proof(passkey)):
            return True
        _log.error("passkey_proof_broken", passkey_id=passkey.id, operator_id=passkey.operator_id)
        return False

    async def proof(self, passkey: Passkey) -> str:
        """What `proof_hash` has to be."""
        return await self.pepper.hash("passkey", *passkey.proven())

    async def _signed(
        self, passkey: Passkey, answer: BrowserAnswer, *, verified: bool, signed_in: bool
    ) -> bool:
        purpose: ChallengePurpose = "prove" if signed_in else "sign_in"
        asked = passkey.operator_id if signed_in else None
        now = self.clock.now()
        # Before a sign-in, challenges are nobody's: of no tenant.
        async with self.db.scoped(passkey.tenant_id if signed_in else None) as tx:
            if not await store.take_challenge(tx, answer.challenge_hash, purpose, operator_id=asked, now=now):
                return False
        counted = _verified(passkey, answer, self.party, verified=verified)
        if counted is None:
            return False
        async with self.db.scoped(passkey.tenant_id) as tx:
            return await store.note_use(tx, passkey, sign_count=counted, now=now)


def _verified(passkey: Passkey, answer: BrowserAnswer, party: RelyingParty, *, verified: bool) -> int | None:
    """How often the authenticator has signed; None where the signature is none of this passkey."""
    from webauthn import base64url_to_bytes, verify_authentication_response
    from webauthn.helpers.exceptions import WebAuthnException

    said: dict[str, Any] = answer.credential
    try:
        # The count is the store's to compare: it is changed with the comparison in one statement.
        checked = verify_authentication_response(
            credential=said,
            expected_challenge=answer.challenge,
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=0,
            require_user_verification=verified,
        )
    except (WebAuthnException, ValueError, TypeError, KeyError):
        return None
    if checked.credential_id != base64url_to_bytes(passkey.credential_id):
        return None
    return checked.new_sign_count
