"""What is done with keys to doors, and how it ended."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.ids import LockAuditId
from tidings.backoffice.upstreams.contract.locks import Credential, LockAction
from tidings.kernel.ids import TenantId

#: `refused`: by us, and never asked for; `failure`: by the lock service; `unknown`: its answer was not learned.
LockOutcome = Literal["success", "failure", "refused", "unknown"]

ATTESTED: Final[dict[LockAction, AttestedAction]] = {
    "issue": "lock.issue",
    "revoke": "lock.revoke",
    "rebind": "lock.rebind",
    "extend": "lock.extend",
}
#: An action whose process was killed is asked about this long after it began: its request has ended by then.
LOST_AFTER: Final = timedelta(seconds=90)
#: After an answer that was not learned, and then again and again, in these steps; the last one is repeated.
ASK_AGAIN: Final = tuple(timedelta(seconds=one) for one in (15, 30, 60, 300, 900))
#: After that nobody asks any more.
GIVE_UP_AFTER: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockOrder:
    """What somebody wants done."""

    action: LockAction
    property_id: str
    reservation_id: str
    credential: Credential | None = None
    #: For `rebind`.
    room: str | None = None
    #: For `issue` and `extend`.
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAction:
    """An action whose end is not known yet."""

    #: Of the row that the audit gets, and the Idempotency-Key at the lock service.
    id: LockAuditId
    tenant_id: TenantId
    property_id: str
    operator_id: str
    device_id: str
    reservation_id: str
    action: LockAction
    mfa_attestation_id: str
    asked_at: datetime
    #: The row of the audit that says unknown; None: the process ended before it wrote one.
    unknown_id: LockAuditId | None
    due_at: datetime
    attempts: int
    #: What the caller's own key is unique within, and that key.
    key_scope: str
    idempotency_key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedAction:
    """A row of the audit."""

    id: LockAuditId
    #: The time inside the id.
    occurred_at: datetime
    property_id: str
    operator_id: str
    device_id: str
    reservation_id: str
    action: LockAction
    #: Of the lock, as the lock service says; None: it was never learned.
    vendor: str | None
    outcome: LockOutcome
    error_code: str | None
    mfa_attestation_id: str | None
    upstream_request_id: str
    upstream_latency_ms: int
    #: The row of outcome unknown whose end this one tells.
    settles_id: LockAuditId | None = None


def ask_again_in(attempts: int) -> timedelta:
    """How long to wait after so many questions."""
    return ASK_AGAIN[min(attempts, len(ASK_AGAIN) - 1)]
