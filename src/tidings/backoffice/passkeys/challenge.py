"""Makes what passkeys are to sign; each challenge is answered once, within five minutes."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from tidings.backoffice.ids import OperatorId
from tidings.backoffice.passkeys import store
from tidings.backoffice.passkeys.answers import hash_of
from tidings.backoffice.passkeys.model import ChallengePurpose
from tidings.backoffice.passkeys.options import RelyingParty, creation_options, request_options
from tidings.kernel.clock import Clock
from tidings.kernel.db import Database, PlatformTx, TenantTx
from tidings.kernel.ids import TenantId

LASTS: Final = timedelta(minutes=5)
_BYTES: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PasskeyChallenger:
    """Asks browsers for passkeys."""

    db: Database
    party: RelyingParty
    clock: Clock

    async def to_register(
        self, tenant_id: TenantId | None, operator_id: OperatorId, *, name: str, mail: str
    ) -> dict[str, Any]:
        """For a new passkey of somebody who is signed in."""
        async with self.db.scoped(tenant_id) as tx:
            known = await store.list_passkeys(tx, operator_id)
            challenge = await self._new(tx, "register", operator_id)
        return creation_options(self.party, challenge, operator_id, name=name, mail=mail, known=known)

    async def to_prove(self, tenant_id: TenantId | None, operator_id: OperatorId) -> dict[str, Any]:
        """In the place of a code, of somebody who is signed in."""
        async with self.db.scoped(tenant_id) as tx:
            known = await store.list_passkeys(tx, operator_id)
            challenge = await self._new(tx, "prove", operator_id)
        return request_options(self.party, challenge, known, verified=False)

    async def to_sign_in(self) -> dict[str, Any]:
        """Of somebody who has said nothing yet; which passkeys there are is told to nobody."""
        async with self.db.platform() as tx:
            challenge = await self._new(tx, "sign_in", None)
        return request_options(self.party, challenge, (), verified=True)

    async def _new(
        self, tx: TenantTx | PlatformTx, purpose: ChallengePurpose, operator_id: OperatorId | None
    ) -> bytes:
        challenge = secrets.token_bytes(_BYTES)
        until = self.clock.now() + LASTS
        await store.insert_challenge(
            tx, hash_of(challenge), purpose, operator_id=operator_id, expires_at=until
        )
        return challenge
