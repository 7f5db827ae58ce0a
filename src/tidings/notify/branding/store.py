"""The only Python here that runs SQL on branding."""

from datetime import datetime

import msgspec

from tidings.kernel.db import TenantTx
from tidings.kernel.sql import Queries, json_text
from tidings.notify.branding.model import TenantBranding

QUERIES = Queries.beside(__file__)


# Rows were checked when they were written, and may have been written by newer code: read leniently.
class _Stored(TenantBranding, frozen=True, kw_only=True, forbid_unknown_fields=False):
    pass


read_branding = msgspec.json.Decoder(_Stored).decode


async def find_branding(tx: TenantTx, *, lock: bool = False) -> tuple[TenantBranding, int]:
    """What the tenant has said, and its version; nothing and 0 where it has said nothing."""
    query = QUERIES.lock_branding if lock else QUERIES.find_branding
    row = await tx.fetch_one(query)
    return (read_branding(row["branding"]), int(row["version"])) if row else (TenantBranding(), 0)


async def put_branding(tx: TenantTx, branding: TenantBranding, *, actor: str, now: datetime) -> int:
    """Write the whole of it; its version."""
    return int(await tx.fetch_value(QUERIES.put_branding, branding=json_text(branding), actor=actor, now=now))
