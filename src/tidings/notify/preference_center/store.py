"""The only Python here that runs SQL on opt-out tokens."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from tidings.kernel.db import TenantsTx, TenantTx, WorkerTx
from tidings.kernel.mapping import RowMapper, columns
from tidings.kernel.sql import Queries
from tidings.notify.ids import OPT_OUT_TOKEN, OptOutTokenId
from tidings.notify.preference_center.tokens import OptOutScope, OptOutToken, StoredToken

QUERIES = Queries.beside(__file__)
#: For so long a page says that its link has expired; after that, that it is not known.
_REMEMBERED: Final = timedelta(days=60)


async def insert_tokens(tx: TenantTx | TenantsTx, tokens: Sequence[OptOutToken], *, now: datetime) -> int:
    """Store those that are not there yet; how many were new."""
    return await tx.execute(
        QUERIES.insert_tokens,
        now=now,
        ids=[OPT_OUT_TOKEN.new(now) for _ in tokens],
        **columns(
            tokens,
            "tenant_id purpose expires_at",
            recipient_ids="scope.recipient_id",
            channels="scope.channel",
            categories="scope.category",
            address_hashes="scope.address_hash",
            hashes="token_hash",
        ),
    )


async def find_token(tx: TenantTx, token_hash: str) -> StoredToken | None:
    """The token with this hash."""
    row = await tx.fetch_one(QUERIES.find_token, token_hash=token_hash)
    return _token(row) if row else None


async def mark_used(tx: TenantTx, token_id: OptOutTokenId, *, now: datetime) -> None:
    """Note the first use."""
    await tx.execute(QUERIES.mark_used, id=token_id, now=now)


async def sweep_tokens(tx: WorkerTx, *, now: datetime, limit: int) -> int:
    """Remove about so many that expired long ago."""
    return await tx.execute(QUERIES.sweep_tokens, before=now - _REMEMBERED, limit=limit)


_token = RowMapper(StoredToken, [QUERIES.find_token], of_row={"scope": RowMapper(OptOutScope, [])})
