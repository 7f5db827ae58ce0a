"""The only Python here that runs SQL on passkeys and their challenges."""

from datetime import datetime

from tidings.backoffice.ids import OperatorId, PasskeyId
from tidings.backoffice.passkeys.model import ChallengePurpose, Passkey
from tidings.kernel.db import PlatformTx, TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper
from tidings.kernel.sql import Queries

QUERIES = Queries.beside(__file__)


async def insert_passkey(tx: TenantTx | PlatformTx, passkey: Passkey) -> bool:
    """Keep a new one; False where somebody has this credential already."""
    return await tx.execute(QUERIES.insert_passkey, passkey) == 1


async def list_passkeys(tx: TenantTx | PlatformTx, operator_id: OperatorId) -> list[Passkey]:
    """Those of an operator, the newest first."""
    return [_from_row(row) for row in await tx.fetch(QUERIES.list_passkeys, operator_id=operator_id)]


async def find_passkey(tx: TenantTx | PlatformTx, credential_id: str) -> Passkey | None:
    """By the name that the browser gives it; in a platform transaction of any tenant."""
    row = await tx.fetch_one(QUERIES.find_passkey, credential_id=credential_id)
    return _from_row(row) if row else None


async def note_use(tx: TenantTx | PlatformTx, passkey: Passkey, *, sign_count: int, now: datetime) -> bool:
    """Note that it was used; False where it counts, and has not counted on."""
    noted = await tx.execute(QUERIES.note_passkey_use, id=passkey.id, sign_count=sign_count, now=now)
    return noted == 1


async def delete_passkey(tx: TenantTx | PlatformTx, operator_id: OperatorId, passkey_id: PasskeyId) -> bool:
    """Remove one; False where the operator has none such."""
    return await tx.execute(QUERIES.delete_passkey, id=passkey_id, operator_id=operator_id) == 1


async def delete_passkeys(tx: TenantTx | PlatformTx, operator_id: OperatorId) -> None:
    """Remove all of an operator."""
    await tx.execute(QUERIES.delete_passkeys, operator_id=operator_id)


async def insert_challenge(
    tx: TenantTx | PlatformTx,
    challenge_hash: str,
    purpose: ChallengePurpose,
    *,
    operator_id: OperatorId | None,
    expires_at: datetime,
) -> None:
    """Keep what is to be signed."""
    await tx.execute(
        QUERIES.insert_challenge,
        challenge_hash=challenge_hash,
        purpose=purpose,
        operator_id=operator_id,
        expires_at=expires_at,
    )


async def take_challenge(
    tx: TenantTx | PlatformTx,
    challenge_hash: str,
    purpose: ChallengePurpose,
    *,
    operator_id: OperatorId | None,
    now: datetime,
) -> bool:
    """Use one up; False where it was made for something else, was used, or is over."""
    taken = await tx.execute(
        QUERIES.take_challenge,
        challenge_hash=challenge_hash,
        purpose=purpose,
        operator_id=operator_id,
        now=now,
    )
    return taken == 1


async def sweep_challenges(tx: WorkerTx, *, before: datetime, limit: int) -> int:
    """Remove those whose time was over before that."""
    return await tx.execute(QUERIES.sweep_challenges, before=before, limit=limit)


_from_row = RowMapper(Passkey, [QUERIES.list_passkeys, QUERIES.find_passkey])
