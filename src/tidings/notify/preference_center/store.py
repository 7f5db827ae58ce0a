"""The only Python here that runs SQL on opt-out tokens."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.contracts.ids import RecipientId
from tidings.kernel.db import TenantTx, WorkerTx
from tidings.kernel.sql import Queries
from tidings.notify.ids import OPT_OUT_TOKEN, OptOutTokenId
from tidings.notify.preference_center.tokens import OptOutScope, OptOutToken, StoredToken

QUERIES = Queries.beside(__file__)
#: For so long a page says that its link has expired; after that, that it is not known.
_REMEMBERED: Final = timedelta(days=60)


async def insert_tokens(tx: TenantTx, tokens: Sequence[OptOutToken], *, now: datetime) -> int:
    """Store those that are not there yet; how many were new."""
    return await tx.execute(
        QUERIES.insert_tokens,
        tenant_id=tx.tenant_id,
        now=now,
        ids=[OPT_OUT_TOKEN.new(now) for _ in tokens],
        recipient_ids=[token.scope.recipient_id for token in tokens],
        channels=[token.scope.channel for token in tokens],
        categories=[token.scope.category for token in tokens],
        address_hashes=[token.scope.address_hash for token in tokens],
        purposes=[token.purpose for token in tokens],
        hashes=[token.token_hash for token in tokens],
        expires_ats=[token.expires_at for token in tokens],
    )


async def find_token(tx: TenantTx, token_hash: str) -> StoredToken | None:
    """The token with this hash."""
    row = await tx.fetch_one(QUERIES.find_token, tenant_id=tx.tenant_id, token_hash=token_hash)
    if row is None:
        return None
    return StoredToken(
        id=OptOutTokenId(row["id"]),
        scope=OptOutScope(
            recipient_id=RecipientId(row["recipient_id"]),
            channel=row["channel"],
            category=row["category"],
            address_hash=row["address_hash"],
        ),
        purpose=row["purpose"],
        expires_at=row["expires_at"],
        consumed_at=row["consumed_at"],
    )


async def mark_used(tx: TenantTx, token_id: OptOutTokenId, *, now: datetime) -> None:
    """Note the first use."""
    await tx.execute(QUERIES.mark_used, tenant_id=tx.tenant_id, id=token_id, now=now)


async def sweep_tokens(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that expired long ago."""
    return await tx.execute(QUERIES.sweep_tokens, before=now - _REMEMBERED, limit=limit)
