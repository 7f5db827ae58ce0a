"""The only Python here that runs SQL on attestations."""

from dataclasses import dataclass
from datetime import datetime

from tidings.backoffice.attestations.actions import AttestedAction
from tidings.backoffice.ids import AttestationId
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.ids import TenantId
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attestation:
    """A second factor that was shown, for one action."""

    id: AttestationId
    tenant_id: TenantId | None
    operator_id: str
    session_id: str
    device_id: str
    action: AttestedAction
    issued_at: datetime
    expires_at: datetime


async def insert_attestation(tx: TenantTx | PlatformTx, attestation: Attestation) -> None:
    """Keep a new one."""
    await tx.execute(QUERIES.insert_attestation, attestation)


async def take_attestation(
    tx: TenantTx | PlatformTx,
    *,
    attestation_id: AttestationId,
    operator_id: str,
    session_id: str,
    device_id: str,
    action: str,
    now: datetime,
) -> bool:
    """Use one up; False where it is not this operator's, session's, device's and action's, was used, or is over."""
    taken = await tx.execute(
        QUERIES.take_attestation,
        id=attestation_id,
        operator_id=operator_id,
        session_id=session_id,
        device_id=device_id,
        action=action,
        now=now,
    )
    return taken == 1


async def sweep_attestations(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those whose time was over before that."""
    return await tx.execute(QUERIES.sweep_attestations, before=before, limit=limit)
