"""A passkey as it is kept; no I/O."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

from tidings.backoffice.ids import OperatorId, PasskeyId
from tidings.kernel.ids import TenantId

#: `this_device`: of a computer or telephone; `security_key`: a key of its own.
PasskeyKind = Literal["this_device", "security_key"]
#: `register`: to become a passkey; `prove`: in the place of a code; `sign_in`: of somebody who is not signed in yet.
ChallengePurpose = Literal["register", "prove", "sign_in"]
#: One person's; more are refused.
MOST_PASSKEYS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """One key of an operator."""

    id: PasskeyId
    #: None: of an operator of the platform.
    tenant_id: TenantId | None
    operator_id: OperatorId
    #: As the browser names it, base64url.
    credential_id: str = field(repr=False)
    public_key: bytes = field(repr=False)
    #: Proof that the application wrote whose key this is.
    proof_hash: str = field(default="", repr=False)
    sign_count: int
    kind: PasskeyKind
    #: Whether the authenticator copies it to the person's other devices.
    is_synced: bool
    created_at: datetime
    last_used_at: datetime | None = None

    def proven(self) -> tuple[str | None, ...]:
        """What `proof_hash` is the hash of."""
        return (self.id, self.tenant_id, self.operator_id, self.credential_id, self.public_key.hex())
